// Package filestest reads tables with another reader than the program's, for tests.
package filestest
