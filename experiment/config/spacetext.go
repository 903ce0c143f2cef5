package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/kestrel/kernelspace"
)

// SpaceSyntax says in short how a kernel space is written on one line.
const SpaceSyntax = "K12, K144; kernels with commas: SE, (PER + RQ)*LIN; or all up to a depth: SE, RQ, LIN, PER depth 2"

// SpaceError says where a kernel space written on one line is wrong.
type SpaceError struct {
	Text string
	Col  int    // 0-based offset in runes
	Msg  string // what is wrong there and what to do
}

// Error returns one line with the 1-based column and the reason.
func (e *SpaceError) Error() string { return fmt.Sprintf("kernels, column %d: %s", e.Col+1, e.Msg) }

// depthWord finds the word between base kernels and their depth.
var depthWord = regexp.MustCompile(`(?i)(^|[\s,)\]])depth\b`)

// ParseSpace reads a kernel space from one line and counts its kernels. It is
// the name of a set (K12), or kernels separated by commas, of which "depth n"
// at the end makes the base of all kernels with up to n of them. Errors in the
// text are *SpaceError.
func ParseSpace(text string) (KernelSpace, int, error) {
	var k KernelSpace
	fail := func(at int, format string, args ...any) error {
		return &SpaceError{Text: text, Col: utf8.RuneCountInString(text[:at]), Msg: fmt.Sprintf(format, args...)}
	}
	if strings.TrimSpace(text) == "" {
		return k, 0, fail(0, "nothing is written; name a space (%s) or kernels such as SE, PER*LIN", strings.Join(kernelspace.SetNames(), ", "))
	}
	list, at := text, len(text)
	if word := findDepth(text); word >= 0 {
		list, at = text[:word], word
		value := word + len("depth")
		value += len(text[value:]) - len(strings.TrimLeftFunc(text[value:], unicode.IsSpace))
		n, err := strconv.ParseInt(strings.TrimSpace(text[value:]), 10, 64)
		if err != nil {
			return k, 0, fail(value, "expected a whole number behind depth: the most base kernels in one kernel")
		}
		if err := (depth{&k.Depth}).set(n); err != nil {
			return k, 0, fail(value, "depth %v", err)
		}
		// "SE, depth 2" is as good as "SE depth 2".
		list = strings.TrimSuffix(strings.TrimRightFunc(list, unicode.IsSpace), ",")
	}
	var kernels []string
	start := 0
	for _, kernel := range SplitKernels(list) {
		start += strings.Index(list[start:], kernel)
		if kernel == "" {
			start += len(list[start:]) - len(strings.TrimLeftFunc(list[start:], unicode.IsSpace))
			return k, 0, fail(start, "expected a kernel such as SE or PER*LIN")
		}
		if set := setNamed(kernel); set != "" {
			if strings.TrimSpace(text) == kernel {
				kernels, k.Set = nil, set
				break
			}
			return k, 0, fail(start, "%s is a whole space; it stands alone", set)
		}
		if err := checkKernel(kernel, utf8.RuneCountInString(list[:start])); err != nil {
			return k, 0, &SpaceError{Text: text, Col: err.Col, Msg: err.Msg}
		}
		kernels = append(kernels, kernel)
		start += len(kernel)
		start += len(list[start:]) - len(strings.TrimPrefix(strings.TrimLeftFunc(list[start:], unicode.IsSpace), ","))
	}
	switch {
	case k.Depth > 0:
		k.Base = kernels
	default:
		k.Expressions = kernels
	}
	space, err := k.Candidates()
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // the key of a config is of no interest here
		}
		return k, 0, fail(min(at, len(text)), "%v", err)
	}
	return k, len(space), nil
}

// findDepth returns where the last word "depth" outside of brackets begins, or
// −1.
func findDepth(text string) int {
	all := depthWord.FindAllStringIndex(text, -1)
	for _, m := range slices.Backward(all) {
		word := m[1] - len("depth")
		before := text[:word]
		if strings.Count(before, "[") == strings.Count(before, "]") {
			return word
		}
	}
	return -1
}

// setNamed returns the name of a kernel space as it is spelled, "" if there is
// none.
func setNamed(name string) string {
	for _, s := range setNames() {
		if strings.EqualFold(s, name) {
			return s
		}
	}
	return ""
}

// setNames are what kernels.set may be.
func setNames() []string { return append([]string{autoText}, kernelspace.SetNames()...) }

// checkKernel returns what is wrong with one kernel that stands behind so many
// others' characters.
func checkKernel(text string, before int) *kernelspace.SyntaxError {
	text = strings.Repeat(" ", before) + text // so that all columns are those of the line
	_, err := kernelspace.Parse(text)
	var syntax *kernelspace.SyntaxError
	if !errors.As(err, &syntax) {
		return nil
	}
	runes := []rune(text)
	if i := syntax.Col; i > before && i < len(runes) && unicode.IsLetter(runes[i]) && unicode.IsSpace(runes[i-1]) {
		syntax.Msg += ", or a comma between two kernels"
	}
	return syntax
}

// Text writes the space on one line, as ParseSpace reads it. Prior weights are
// left out.
func (k KernelSpace) Text() string {
	switch {
	case k.Set != "":
		return k.Set
	case len(k.Expressions) > 0:
		return strings.Join(k.Expressions, ", ")
	}
	return fmt.Sprintf("%s depth %d", strings.Join(k.Base, ", "), k.Depth)
}

// Overrides returns what turns the space of any config into this one.
func (k KernelSpace) Overrides() []Override {
	switch {
	case k.Set != "":
		return []Override{TextOverride("kernels.set", k.Set)}
	case len(k.Expressions) > 0:
		return []Override{ListOverride("kernels.expressions", k.Expressions)}
	}
	return []Override{
		ListOverride("kernels.base", k.Base),
		newOverride("kernels.depth", strconv.Itoa(k.Depth)),
	}
}

// newOverride makes an override as --set does.
func newOverride(key, value string) Override {
	return Override{Key: key, Value: value, Flag: "--set " + key + "=" + value}
}

// TextOverride sets a key to a text, or to a number if the key is for one. It
// is quoted where it would be read as something else than it is.
func TextOverride(key, text string) Override {
	o := newOverride(key, text)
	if s, ok := o.entry().value.(string); ok && s == text && strings.TrimSpace(text) == text || digits.MatchString(text) {
		return o
	}
	return newOverride(key, quoteTOML(text))
}

// digits matches whole numbers that are written as they are printed.
var digits = regexp.MustCompile(`^(0|[1-9][0-9]{0,17})$`)

// ListOverride sets a key to a list of texts.
func ListOverride(key string, list []string) Override {
	if strings.HasPrefix(key, "kernels.") {
		joined := strings.Join(list, ", ")
		if slices.Equal(list, SplitKernels(joined)) {
			return newOverride(key, joined)
		}
	}
	return newOverride(key, texts{&list}.toml())
}

// TypesOverride sets data.types, by columns.
func TypesOverride(types map[string]string) Override {
	text := columnTypes{&types}.toml()
	if text == "" {
		text = "{}"
	}
	return newOverride("data.types", text)
}
