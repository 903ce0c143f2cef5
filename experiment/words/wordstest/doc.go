// Package wordstest checks messages, for tests.
package wordstest
