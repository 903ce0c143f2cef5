// Package runtest makes whole runs, for tests of what reads them.
package runtest
