// Package configtest has small configs and small or bad data, for tests.
package configtest
