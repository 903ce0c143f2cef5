package datasets

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestUnit is how many characters a unit in brackets has at most: more are a remark.
const longestUnit = 10

// remarks may stand in brackets behind a name, and are no units; nor are time zones.
var remarks = []string{
	"log", "ln", "raw", "est", "adj", "sa", "nsa", "avg", "mean", "median", "sum", "total", "min", "max", "std", "sd", "var", "diff",
	"old", "new", "yes", "no", "true", "false", "test", "train", "input", "target", "index", "norm", "scaled", "estimate", "estimated",
	"z", "mez", "mesz", "edt", "cst", "cdt", "mst", "mdt", "pdt", "bst", "ist", "jst", "wet", "west", "eet", "eest", "msk", "aest",
}

// unitInName is the unit that stands in brackets at the end of a column's name, as in load [kW] or
// temperature (°C); "" if there is none. The name itself stays: configs and expressions use it.
func unitInName(name string) string {
	name = strings.TrimSpace(name)
	at := -1
	switch {
	case strings.HasSuffix(name, ")"):
		at = strings.LastIndexByte(name, '(')
	case strings.HasSuffix(name, "]"):
		at = strings.LastIndexByte(name, '[')
	}
	if at < 1 || strings.TrimSpace(name[:at]) == "" {
		return ""
	}
	unit := strings.TrimSpace(name[at+1 : len(name)-1])
	says := false
	for _, r := range unit {
		letter := unicode.IsLetter(r) || strings.ContainsRune("%°", r)
		if !letter && !unicode.IsDigit(r) && !strings.ContainsRune("/²³^", r) {
			return ""
		}
		says = says || letter
	}
	lower := strings.ToLower(unit)
	if !says || utf8.RuneCountInString(unit) > longestUnit || slices.Contains(remarks, lower) || slices.Contains(timeZones, lower) {
		return ""
	}
	return unit
}

// namesUTC reports whether a column of time stamps is in UTC by its name, as utc_timestamp and time (GMT) are; time (UTC+1)
// and utc_offset are not, nor is any other name with a sign.
func namesUTC(name string) bool {
	lower := strings.ToLower(name)
	words := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	said := func(word string) bool { return slices.Contains(words, word) }
	return (said("utc") || said("gmt")) && !strings.ContainsAny(lower, "+-−") && !said("offset") && !said("local")
}
