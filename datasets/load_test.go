package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func compressed(t testing.TB, how, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch how {
	case "gz":
		w := gzip.NewWriter(&b)
		_, err = w.Write([]byte(text))
		err = errors.Join(err, w.Close())
	case "xz":
		var w *xz.Writer
		if w, err = xz.NewWriter(&b); err == nil {
			_, err = w.Write([]byte(text))
			err = errors.Join(err, w.Close())
		}
	case "zst":
		var w *zstd.Encoder
		if w, err = zstd.NewWriter(&b); err == nil {
			_, err = w.Write([]byte(text))
			err = errors.Join(err, w.Close())
		}
	default:
		b.WriteString(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLoadForms reads one table in all the forms that it may have.
func TestLoadForms(t *testing.T) {
	base := "x,z,y\n1,10,5\n2,20.5,6\n3,-3e1,8\n"
	noHeader := strings.SplitN(base, "\n", 2)[1]
	for name, text := range map[string]string{
		"plain":         base,
		"bom and crlf":  "\xef\xbb\xbf" + strings.ReplaceAll(base, "\n", "\r\n") + "\r\n\r\n",
		"tabs":          strings.ReplaceAll(base, ",", "\t"),
		"semicolons":    strings.ReplaceAll(base, ",", ";"),
		"spaces inside": strings.ReplaceAll(base, ",", " , "),
		"quoted":        "\"x\",\"z\",\"y\"\n\"1\",10,5\n2,\"20.5\",6\n3,-3e1,8\n",
		"no last eol":   strings.TrimSuffix(base, "\n"),
		"no header":     noHeader,
	} {
		for _, how := range []string{"", "gz", "xz", "zst"} {
			stored := compressed(t, how, text)
			path := writeFile(t, "data.csv", string(stored)) // known by its content, not its name
			d := mustLoad(t, Spec{Path: path, Order: "time"})
			if d.Dim != 2 || !equalFloats(d.X, []float64{1, 10, 2, 20.5, 3, -30}) || !equalFloats(d.Y, []float64{5, 6, 8}) {
				t.Errorf("%s %s: %v %v", name, how, d.X, d.Y)
			}
			wantName := "z"
			if name == "no header" {
				wantName = "c2"
			}
			if d.Inputs[1].Name != wantName || d.Inputs[1].Number != 2 || d.Rows != 3 || d.Name != "data" {
				t.Errorf("%s: %+v, %d rows, %q", name, d.Inputs, d.Rows, d.Name)
			}
			sum := sha256.Sum256(stored)
			if d.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("%s %s: the hash is not that of the stored file", name, how)
			}
		}
	}
}

func TestColumnsByNameAndNumber(t *testing.T) {
	text := "a,b,c,4\n1,2,3,4\n5,6,8,9\n"
	for _, c := range []struct {
		inputs []string
		target string
		x, y   []float64
	}{
		{nil, "", []float64{1, 2, 3, 5, 6, 8}, []float64{4, 9}},
		{[]string{"c", "a"}, "b", []float64{3, 1, 8, 5}, []float64{2, 6}},
		{[]string{"1"}, "-2", []float64{1, 5}, []float64{3, 8}},
		{[]string{"-4", "4"}, "2", []float64{1, 4, 5, 9}, []float64{2, 6}},
		{nil, "a", []float64{2, 3, 4, 6, 8, 9}, []float64{1, 5}},
		{[]string{"last"}, "1", []float64{4, 9}, []float64{1, 5}},
	} {
		d := loadText(t, text, Spec{Inputs: c.inputs, Target: c.target, Header: "yes"})
		if !equalFloats(d.X, c.x) || !equalFloats(d.Y, c.y) {
			t.Errorf("inputs %q, target %q: %v %v", c.inputs, c.target, d.X, d.Y)
		}
	}
}

func TestMissingValues(t *testing.T) {
	d := loadText(t, "x,z,y\n1,1,1\n2,NA,2\n?,3,\n4,null,nan\n5,5,-\n6,6,6\n7,,7\n", Spec{Order: "time"})
	if !equalFloats(d.X, []float64{1, 1, 6, 6}) || !equalFloats(d.Y, []float64{1, 6}) {
		t.Errorf("%v %v", d.X, d.Y)
	}
	if (d.Dropped != Dropped{Target: 3, Inputs: 2}) || d.Rows != 7 {
		t.Errorf("%+v of %d", d.Dropped, d.Rows)
	}
	if d.Inputs[0].Missing != 1 || d.Inputs[1].Missing != 3 || d.Target.Missing != 3 {
		t.Errorf("%+v %+v", d.Inputs, d.Target)
	}
	// A code for missing values is compared as a number.
	d = loadText(t, "x,y\n1,1\n2,-999.0\n3,3\n", Spec{Missing: []string{"-999"}})
	if d.N() != 2 || d.Dropped.Target != 1 {
		t.Errorf("%d rows, %+v", d.N(), d.Dropped)
	}
}

func TestTextColumnsAreNoDefaultInputs(t *testing.T) {
	d := loadText(t, "city,x,note,y\nBern,1,,2\nChur,2,,3\n", Spec{})
	if d.Dim != 1 || d.Inputs[0].Name != "x" {
		t.Errorf("%+v", d.Inputs)
	}
	want := []string{`column 1 ("city") is text and stays out by itself; to see what it does take it in: ` +
		`inputs in the launcher, or --set 'data.types={city="levels"}'`,
		`column 3 ("note") has no values in the first rows and is no input`}
	if !slices.Equal(d.Notices, want) {
		t.Errorf("%q", d.Notices)
	}
}

// The option that a notice names takes the column in, whatever its name.
func TestAsLevels(t *testing.T) {
	for name, want := range map[string]string{"room_1": `{room_1="levels"}`, "the room": `{"the room"="levels"}`,
		"it's":  `{"it'\''s"="levels"}`,
		"Größe": `{"Größe"="levels"}`} {
		if got := asLevels(name); got != "--set 'data.types="+want+"'" {
			t.Errorf("%q: %s", name, got)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	long := strings.Repeat("ab", 40)
	for _, c := range []struct {
		text string
		spec Spec
		want string
	}{
		{"x,y\n1,2\n2,abc\n", Spec{}, `data.csv: line 3, column 2 ("y"): "abc" is not a number`},
		{"1,2\n2,abc\n", Spec{}, `data.csv: line 2, column 2: "abc" is not a number`},
		{"x,y\n1,2\n\n2,\x1b[31m\n", Spec{}, `data.csv: line 4, column 2 ("y"): "\x1b[31m" is not a number`},
		{"x,y\n1,2\n2," + long + "\n", Spec{}, `data.csv: line 3, column 2 ("y"): "` + long[:40] + `…" is not a number`},
		{"x;y\n1;2.5\n2;2,5\n", Spec{},
			`data.csv: line 3, column 2 ("y"): "2,5" is not a number; decimals are written with a point, or set decimal = ","`},
		{"x;y\n1;2.5\n2;2,5\n", Spec{Decimal: ","},
			`data.csv: line 2, column 2 ("y"): "2.5" is not a number; decimals are written with a comma here, or set decimal = "."`},
		{"x,y\n1,2\n2,\"2,5\"\n", Spec{},
			`data.csv: line 3, column 2 ("y"): "2,5" is not a number; decimals are written with a point, or set decimal = ","`},
		{"x;y\n1;987\n2;1,234\n", Spec{},
			`data.csv: line 3, column 2 ("y"): "1,234" is a number with decimals or with thousands; set decimal = "," or decimal = "."`},
		{"t;y\n01/02/2024;987\n02/02/2024;3\n", Spec{Inputs: []string{"t"}},
			`data.csv: line 2, column 1 ("t"): "01/02/2024" does not tell day from month, and no date in the first rows does; write 2024-01-31`},
		{"t;y\n01/02/2024;987\n02/02/2024;3\n13/02/2024;3\n02/13/2024;3\n", Spec{Inputs: []string{"t"}},
			`data.csv: line 2, column 1 ("t"): "01/02/2024" does not tell day from month, and no date in the first rows does; write 2024-01-31`},
		{"t,y\n07:30,1\n07:45,2\n", Spec{},
			`data.csv: no column is left to be an input: column 1 ("t") holds text and is no input: "07:30"; ` + stampForms},
		{"x,load,temp,note\n1,2,3,ok\n4,5,6,ok\n", Spec{}, `data.csv: the target is the last column, "note", if none is named, ` +
			`but that holds text ("ok"); name another with --target (data.target), of "x", "load", "temp"`},
		{"x,y\n1,2,\n2,3,4\n", Spec{}, `data.csv: line 2: 3 fields where the first line has 2`},
		{"x,y\n" + strings.Repeat("1,2,\n", 300) + "2,3,4\n", Spec{},
			`data.csv: line 302: a value in column 3, which has no name and was empty so far; name it`},
		{"x,y\n" + strings.Repeat("1,2,\n", 300) + "2,3\n", Spec{}, `data.csv: line 302: 2 fields where the first lines of values have 3`},
		{"# a\n# b\nx,y\n1,2\n2,abc\n", Spec{}, `data.csv: line 5, column 2 ("y"): "abc" is not a number`},
		{"x,y\n1,2\n2,0x10\n", Spec{}, `data.csv: line 3, column 2 ("y"): "0x10" is not a number`},
		{"x,y\n1,2\n2,-Inf\n", Spec{},
			`data.csv: line 3, column 2 ("y"): "-Inf" is not a finite number; list it under missing to drop such rows`},
		{"x,y\n1,2\nNaN,3\n", Spec{Missing: []string{"NA"}},
			`data.csv: line 3, column 1 ("x"): "NaN" is not a finite number; list it under missing to drop such rows`},
		{"x,y\n1,2\n2,1e999\n", Spec{}, `data.csv: line 3, column 2 ("y"): "1e999" is too large for a 64-bit number`},
		{"x,y\n1,2\n2,1e300\n", Spec{}, `data.csv: line 3, column 2 ("y"): "1e300" is too large: ` +
			`its square cannot be summed in 64-bit numbers; change the unit or list it under missing`},
		{"x,y\n1,2\n2,\x00\n", Spec{}, `data.csv: holds binary data, not a table of text`},
		{"x,y\n1,2\n2,3,4\n", Spec{}, `data.csv: line 3: 3 fields where the first line has 2`},
		{"x,y\n1,2\n2\n", Spec{}, `data.csv: line 3: 1 field where the first line has 2`},
		{"x,y\n1,2\n2,\"3\n4,5\n", Spec{}, `data.csv: line 3: unclosed quotation mark`},
		{"x,y\n1,2\n\"2\"2,3\n", Spec{}, `data.csv: line 3: text after a closing quotation mark; a mark inside quotes is written twice`},
		{"a\"b,y\n\"two\nlines\",2\n1,q\n", Spec{Inputs: []string{"1"}, Types: map[string]string{"1": "number"}},
			`data.csv: line 2, column 1 ("a\"b"): "two\nlines" is neither a number nor a time stamp`},
		{"id,2019,2020\n1,2,3\n4,5,6\n", Spec{Inputs: []string{"1"}},
			`data.csv: line 1, column 1: "id" is neither a number nor a time stamp; if line 1 holds the names of the columns, set header = "yes"`},
		{"x,y\nNA,1\n2,?\n", Spec{}, `data.csv: no rows are left: of 2, 1 were dropped for a missing target and 1 for a missing input`},
		{"x,y\n", Spec{}, `data.csv: has no rows below the names of its columns`},
		{"x,y\n", Spec{Inputs: []string{"x"}}, `data.csv: has no rows below the names of its columns`},
		{"a,b,y\ns,t,1\nu,v,2\n", Spec{}, `data.csv: no column is left to be an input: column 1 ("a") is text and stays out by itself; ` +
			`to see what it does take it in: inputs in the launcher, or --set 'data.types={a="levels"}'`},
		{"", Spec{}, `data.csv: has no rows`},
		{"\n \n", Spec{}, `data.csv: has no rows`},
		{"x,y\n1,5\n2,5\n3,NA\n", Spec{}, `data.csv: the target "y" is 5 in every row: there is nothing to learn`},
		{"x,y\n1,5\n2,5\n3,6\n", Spec{SplitBy: "rows", TestRows: 1},
			`data.csv: the target "y" is 5 in every training row: there is nothing to learn`},
		{"x,y\n1,5\n", Spec{}, `data.csv: 1 training row: at least 2 are needed`},
		{"x,y\n1,5\n2,6\n", Spec{TestRows: 1}, `data.csv: 1 training row: at least 2 are needed; 1 of 2 are held out (data.test)`},
		{"x,y\n1,5\n2,6\n", Spec{TestRows: 2}, `data.csv: no training rows are left: of 2 rows, 2 held out (data.test)`},
		{"time,temperature,load\n1,2,3\n4,5,6\n", Spec{Target: "temprature"},
			`data.csv: there is no column "temprature"; did you mean "temperature"? the columns are "time", "temperature", "load"`},
		{"a,b\n1,2\n4,5\n", Spec{Inputs: []string{"a,b"}}, `data.csv: there is no column "a,b"; several columns are written as a list, ` +
			`["a", "b"]; the columns are "a", "b"`},
		{"a,b\n1,2\n4,5\n", Spec{Inputs: []string{"zzz"}}, `data.csv: there is no column "zzz"; the columns are "a", "b"`},
		{"a,b\n1,2\n4,5\n", Spec{Inputs: []string{"7"}}, `data.csv: there is no column 7; the columns are 1 to 2: "a", "b"`},
		{"a,b\n1,2\n4,5\n", Spec{Inputs: []string{"0"}}, `data.csv: there is no column 0; the columns are 1 to 2: "a", "b"`},
		{"a,a,b\n1,2,3\n4,5,6\n", Spec{Inputs: []string{"a"}}, `data.csv: columns 1 and 2 are both named "a"; choose by number`},
		{"a,b\n1,2\n4,5\n", Spec{Inputs: []string{"b"}}, `data.csv: column "b" is both an input and the target`},
		{"a,b,c\n1,2,3\n4,5,6\n", Spec{Inputs: []string{"a", "1"}}, `data.csv: column "a" is named twice among the inputs`},
		{"a|b\n1|2\n", Spec{}, `data.csv: has a single column; an input and a target are needed, ` +
			`and a delimiter other than , ; tab or space must be given (delimiter = "|")`},
		{"x,t\n1,2020-01-01\n2,2020-01-02\n", Spec{}, `data.csv: the target, column 2 ("t"), holds time stamps, not numbers`},
		{"t,y\n2020-01-01,1\n2020-02-30,2\n", Spec{}, `data.csv: line 3, column 1 ("t"): "2020-02-30" is not a time stamp`},
		{"PK\x03\x04zip", Spec{}, `data.csv: is a damaged archive: zip: not a valid zip file`},
		{"\xff\xfex\x00", Spec{}, `data.csv: has no rows below the names of its columns`},
		{"x,y\n1,2\n", Spec{SplitBy: "row"}, `split_by = "row": allowed are "auto", "random", "rows", "x", "mask"; did you mean "rows"?`},
		{"x,y\n1,2\n", Spec{Delimiter: "ab"},
			`delimiter = "ab": allowed are "auto", ",", ";", "tab", "space" or another ASCII character that no number holds`},
		{"x,y\n1,2\n", Spec{TestFraction: 1}, `test = 1: a fraction must be in [0, 1)`},
	} {
		c.spec.Path = writeFile(t, "data.csv", c.text)
		_, err := Load(context.Background(), c.spec)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestErrorTypes(t *testing.T) {
	_, err := Load(context.Background(), Spec{Path: writeFile(t, "d.csv", "x,y\n1,2\n3,q\n")})
	var cell *CellError
	if !errors.As(err, &cell) || cell.Line != 3 || cell.Column != 2 || cell.Name != "y" || cell.Text != "q" {
		t.Errorf("%#v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, Spec{Path: writeFile(t, "d.csv", "x,y\n1,2\n3,4\n")}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := compressed(t, "gz", strings.Repeat("1,2\n", 1000))
	_, err = Load(context.Background(), Spec{Path: writeFile(t, "d.csv.gz", string(broken[:len(broken)-9]))})
	if err == nil || !strings.HasPrefix(err.Error(), "d.csv.gz: ") ||
		!strings.Contains(err.Error(), ": the compressed data are damaged or cut off: ") {
		t.Errorf("truncated: %v", err)
	}
}

func TestResolve(t *testing.T) {
	a, b, env := t.TempDir(), t.TempDir(), t.TempDir()
	for _, p := range []string{filepath.Join(b, "one.csv"), filepath.Join(env, "one.csv"), filepath.Join(env, "two.csv")} {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	work := t.TempDir()
	t.Chdir(work)
	t.Setenv(dataEnv, env)
	if p, err := Resolve("one.csv", []string{a, b}); err != nil || p != filepath.Join(b, "one.csv") {
		t.Errorf("%q, %v", p, err)
	}
	if p, err := Resolve("two.csv", []string{a, b}); err != nil || p != filepath.Join(env, "two.csv") {
		t.Errorf("%q, %v", p, err)
	}
	if err := os.WriteFile("two.csv", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := Resolve("two.csv", []string{a, b}); err != nil || p != "two.csv" {
		t.Errorf("%q, %v: the working directory goes before $%s", p, err, dataEnv)
	}
	_, err := Resolve("none.csv", []string{a, a})
	want := fmt.Sprintf(`data file "none.csv" not found; looked for %s, %s, %s`, filepath.Join(a, "none.csv"),
		filepath.Join(work, "none.csv"), filepath.Join(env, "none.csv"))
	if err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v\nwant %s", err, want)
	}
	t.Setenv(dataEnv, "")
	_, err = Resolve("none.csv", nil)
	want = fmt.Sprintf(`data file "none.csv" not found; looked for %s; $KESTREL_DATA may name the folder of the data`,
		filepath.Join(work, "none.csv"))
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if _, err := Resolve(a, nil); err == nil || !strings.HasSuffix(err.Error(), "is a folder") {
		t.Errorf("folder: %v", err)
	}
}

func TestTimeStampInputs(t *testing.T) {
	d := loadText(t, "when,y\n2020-01-02 00:00,1\n2020-01-01T12:00Z,2\n2020-01-02T02:00:00.25+01:00,3\nNA,4\n", Spec{})
	if !equalFloats(d.X, []float64{43200, 0, 46800.25}) {
		t.Errorf("%v", d.X)
	}
	c := d.Inputs[0]
	if !c.Time || c.Unit != "s" || c.Origin.Format("2006-01-02T15:04:05Z07:00") != "2020-01-01T12:00:00Z" || c.Missing != 1 {
		t.Errorf("%+v", c)
	}
	if got := c.Format(d.X[2]); got != "2020-01-02T01:00:00.25Z" {
		t.Errorf("back: %s", got)
	}
	// Centuries before 1970 and fractions of a second lose nothing.
	d = loadText(t, "when,y\n1850-01-01,1\n1850-01-01 00:00:00.000001,2\n", Spec{})
	if d.X[1] != 1e-6 {
		t.Errorf("a microsecond is %v", d.X[1])
	}
	if math.Signbit(d.X[0]) || d.Inputs[0].Origin.Year() != 1850 {
		t.Errorf("%v %v", d.X, d.Inputs[0].Origin)
	}
}
