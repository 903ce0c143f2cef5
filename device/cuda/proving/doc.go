//go:build cuda

// Package proving finds out whether a card computes what it should, before anybody rests on
// it: a short check ahead of a card's first use, and a long one that a user asks for.
// What came of it is kept in the user's cache by card, driver, compiler and sources, so
// that it is asked again where one of them has changed. All of it is behind the build
// tag cuda.
package proving
