package words

import "fmt"

// Are is the verb of so many things.
func Are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Count writes a number of things.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
