package inspect

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/kestrel/experiment/grid"
	"example.com/kestrel/experiment/words"
)

// mostOnScreen is how many rows are shown of predictions at most.
const mostOnScreen = 200

// WriteScreen writes a table of predictions, as Predictor.Write has made it as CSV, for
// reading: of its columns what the points are, the mean, the median where it is another
// one, and the outermost quantiles of observations, or where there are none their
// standard deviation; with as many digits as that standard deviation lets count.
func WriteScreen(w io.Writer, table []byte) error {
	all, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil || len(all) == 0 {
		return err
	}
	names, rows := all[0], all[1:]
	at := func(name string) int { return slices.Index(names, name) }
	mean, sd := at("mean"), at("sd_y")
	if mean < 0 || sd < 0 {
		return fmt.Errorf("no table of predictions: %s", strings.Join(names, ","))
	}
	columns, t := []int{}, &grid.Table{}
	for c := range names[:mean] { // their number, inputs, the target
		columns, t.Heads = append(columns, c), append(t.Heads, names[c])
	}
	columns, t.Heads = append(columns, mean), append(t.Heads, "mean")
	if median := at("median"); median >= 0 {
		columns, t.Heads = append(columns, median), append(t.Heads, "median")
	}
	low, high := outermost(names)
	if low != high {
		columns, t.Heads = append(columns, low, high), append(t.Heads, quantileHead(names[low]), quantileHead(names[high]))
	} else {
		columns, t.Heads = append(columns, sd), append(t.Heads, "sd of y")
	}
	decimals := decimalsOf(rows, sd)
	for _, row := range rows[:min(len(rows), mostOnScreen)] {
		var cells []string
		for _, c := range columns {
			cells = append(cells, screenCell(row[c], c >= mean, decimals))
		}
		t.Row(cells...)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	below := ""
	if n := len(rows) - mostOnScreen; n > 0 {
		below = fmt.Sprintf("… and %s. ", words.Count(n, "more row"))
	}
	if low != high {
		below += fmt.Sprintf("%.3g %% of observations are expected between the last two columns. ",
			100*(quantileOf(names[high])-quantileOf(names[low])))
	}
	return grid.Paragraph(w, fmt.Sprintf("%s-o FILE.csv, or --format csv, writes all %d columns with all digits.", below, len(names)))
}

// quantileOf is the probability of a column of quantiles of observations, NaN of others.
func quantileOf(name string) float64 {
	text, ok := strings.CutPrefix(name, "y_q")
	if p, err := strconv.ParseFloat(text, 64); ok && err == nil {
		return p
	}
	return math.NaN()
}

func quantileHead(name string) string { return words.Significant(100*quantileOf(name), 4) + " %" }

// outermost are the columns of the least and the greatest quantile of observations, -1
// where there is none.
func outermost(names []string) (low, high int) {
	low, high = -1, -1
	for c, name := range names {
		p := quantileOf(name)
		if math.IsNaN(p) {
			continue
		}
		if low < 0 || p < quantileOf(names[low]) {
			low = c
		}
		if high < 0 || p > quantileOf(names[high]) {
			high = c
		}
	}
	return low, high
}

// decimalsOf is how many decimals show two digits of the least standard deviation, -1
// where there is none.
func decimalsOf(rows [][]string, sd int) int {
	least := math.Inf(1)
	for _, row := range rows {
		if v, err := strconv.ParseFloat(row[sd], 64); err == nil && v > 0 {
			least = min(least, v)
		}
	}
	if math.IsInf(least, 1) || least < 1e-12 || least > 1e12 {
		return -1
	}
	return max(0, 1-int(math.Floor(math.Log10(least))))
}

// screenCell writes a value for reading; one that is predicted has so many decimals.
func screenCell(text string, predicted bool, decimals int) string {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsInf(v, 0):
		return words.PlainLine(text)
	case predicted && decimals >= 0:
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
	return words.Significant(v, 6)
}
