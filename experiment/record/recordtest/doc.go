// Package recordtest makes and keeps events, for tests.
package recordtest
