// Package terminal leaves the terminal as it should be after a program that was killed.
package terminal
