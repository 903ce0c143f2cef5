// Package historytest follows logs, for tests.
package historytest
