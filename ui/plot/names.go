package plot

import (
	"strings"
	"unicode/utf8"
)

// FitNames writes names of kernels in w columns each, those that differ so that they look
// different, where there is any room for that. A name that is too long loses the spaces
// about its signs, then all but the beginning of the columns in its brackets, as much as
// tells them apart, then its middle; and where others are then written alike, what is cut
// is what they have in common.
func FitNames(names []string, w int) []string {
	out := make([]string, len(names))
	var cut []int
	for i, name := range names {
		if out[i] = FitName(name, w); strings.Contains(out[i], "…") {
			cut = append(cut, i)
		}
	}
	if len(cut) == 0 || w < 4 {
		return out
	}
	short := shortColumns(names)
	full := make(map[int]string, len(cut))
	for _, i := range cut {
		full[i] = inBrackets(strings.ReplaceAll(names[i], " + ", "+"), func(column string) string { return short[column] })
		out[i] = TruncateMiddle(full[i], w)
	}
	const passes = 3 // of many names some first differ behind where others do
	for range passes {
		alike := map[string][]int{}
		for _, i := range cut {
			alike[out[i]] = append(alike[out[i]], i)
		}
		for _, group := range alike {
			texts := make([]string, len(group))
			for k, i := range group {
				texts[k] = full[i]
			}
			if from := common(texts); from >= 0 {
				for k, i := range group {
					out[i] = window(texts[k], from, w)
				}
			}
		}
	}
	return out
}

// common is where texts first differ, in bytes; −1 where they are all the same.
func common(texts []string) int {
	first := texts[0]
	at := -1
	for _, t := range texts[1:] {
		n := 0
		for n < len(first) && n < len(t) && first[n] == t[n] {
			n++
		}
		for n > 0 && n < len(first) && !utf8.RuneStart(first[n]) {
			n--
		}
		if (n < len(first) || n < len(t)) && (at < 0 || n < at) {
			at = n
		}
	}
	return at
}

// leadIn is how many characters of what texts have in common stand before what differs.
const leadIn = 3

// window is w columns of a text from shortly before a place on.
func window(text string, from, w int) string {
	from = min(from, len(text))
	for range leadIn {
		if from == 0 {
			break
		}
		_, n := utf8.DecodeLastRuneInString(text[:from])
		from -= n
	}
	if from == 0 {
		return Truncate(text, w)
	}
	rest := text[from:]
	for TextWidth(rest) < w-1 && from > 0 { // all of the end, and as much before it
		_, n := utf8.DecodeLastRuneInString(text[:from])
		if TextWidth(text[from-n:]) > w-1 {
			break
		}
		from -= n
		rest = text[from:]
	}
	if from == 0 {
		return Truncate(rest, w)
	}
	return "…" + Truncate(rest, w-1)
}

// shortColumns are the beginnings of the columns in brackets that tell them apart.
func shortColumns(names []string) map[string]string {
	short := map[string]string{}
	for _, name := range names {
		inBrackets(name, func(column string) string {
			short[column] = column
			return column
		})
	}
	for column := range short {
		for _, n := range runeEnds(column) {
			alone := true
			for other := range short {
				alone = alone && (other == column || !strings.HasPrefix(other, column[:n]))
			}
			if alone {
				short[column] = column[:n]
				break
			}
		}
	}
	return short
}

// runeEnds are where the characters of a text end, in bytes.
func runeEnds(text string) (ends []int) {
	for i, r := range text {
		ends = append(ends, i+utf8.RuneLen(r))
	}
	return ends
}

// inBrackets replaces what stands in [brackets], columns that are parted by commas.
func inBrackets(text string, of func(column string) string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "[")
		inside, after, closed := strings.Cut(rest, "]")
		if !ok || !closed {
			b.WriteString(text)
			return b.String()
		}
		inside, option, _ := strings.Cut(inside, ";") // as of [a,b;ard]
		if option != "" {
			option = ";" + option
		}
		columns := strings.Split(inside, ",")
		for i, column := range columns {
			columns[i] = of(strings.TrimSpace(column))
		}
		b.WriteString(before + "[" + strings.Join(columns, ",") + option + "]")
		text = after
	}
}
