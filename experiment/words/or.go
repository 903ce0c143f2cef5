package words

import "strings"

// Or lists at least two names of which one is to be chosen: "a, b or c".
func Or(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
