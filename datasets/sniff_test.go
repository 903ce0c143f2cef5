package datasets

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// inUTF16 writes a text in UTF-16 with a byte order mark.
func inUTF16(text string, order binary.AppendByteOrder) string {
	out := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

// TestFormsOfExports reads one table in forms that programs export, and says what
// was done to it.
func TestFormsOfExports(t *testing.T) {
	latin := "the names of the columns are not UTF-8; read as Latin-1 (Windows-1252)"
	for _, c := range []struct {
		about, text string
		notices     []string
	}{
		{"UTF-8", "température,€,y\n1,2,3\n4,5,7\n", nil},
		{"Latin-1", "temp\xe9rature,\x80,y\n1,2,3\n4,5,7\n", []string{latin}},
		{"UTF-16", inUTF16("température,€,y\r\n1,2,3\r\n4,5,7\r\n", binary.LittleEndian), nil},
		{"UTF-16, big end first", inUTF16("température\t€\ty\n1\t2\t3\n4\t5\t7", binary.BigEndian), nil},
		{"carriage returns", "température,€,y\r1,2,3\r4,5,7\r", []string{"the lines end in carriage returns alone, as on old Macintoshes"}},
		{"a comma behind all", "température,€,y,\n1,2,3,\n4,5,7,\n",
			[]string{`what stands behind column 3 ("y"), 1 column without a name or a value, is left out`}},
		{"two", "température;€;y;;\n1;2;3;;\n4;5;7;; \n",
			[]string{`what stands behind column 3 ("y"), 2 columns without a name or a value, is left out`}},
		{"a comma behind the values", "température,€,y\n1,2,3,\n4,5,7,\n",
			[]string{`what stands behind column 3 ("y"), 1 column without a name or a value, is left out`}},
		{"comments", "# exported, by a program\n\n#\n\ntempérature,€,y\n1,2,3\n4,5,7\n",
			[]string{"comments (#) at the top are left out: 3 lines"}},
		{"names behind a #", "# température,€,y\n1,2,3\n4,5,7\n", nil},
		{"units", "température,€,y\n[°C],-,[MW]\n1,2,3\n4,5,7\n",
			[]string{`the line below the names ("[°C]", "-", "[MW]") holds no numbers, is taken for units and left out`}},
	} {
		for _, how := range []string{"", "gz"} {
			d := readBothWays(t, string(compressed(t, how, c.text)), Spec{})
			if !equalFloats(d.X, []float64{1, 2, 4, 5}) || !equalFloats(d.Y, []float64{3, 7}) || !slices.Equal(d.Notices, c.notices) {
				t.Errorf("%s %s: %v %v %q", c.about, how, d.X, d.Y, d.Notices)
			} else if d.Inputs[0].Name != "température" || d.Inputs[1].Name != "€" || d.Target.Name != "y" {
				t.Errorf("%s: %+v", c.about, d.Inputs)
			}
		}
	}
}

// A number that counts from the right counts what the table has.
func TestColumnsFromTheRight(t *testing.T) {
	for target, want := range map[string]float64{"-2": 3, "-3": 2, "3": 3, "last": 3} {
		if d := readBothWays(t, "x,y,z,\n1,2,3,\n4,5,6,\n", Spec{Target: target, Inputs: []string{"1"}}); len(d.Y) == 0 || d.Y[0] != want {
			t.Errorf("target %s: %v", target, d.Y)
		}
	}
}

func TestReadableNames(t *testing.T) { // unicode.org, CP1252.TXT
	if got, converted := readable("a\x7f\x80\x81\x8a\x92\x9f\xa0\xfc\xff"); got != "a\x7f€\ufffdŠ’Ÿ\u00a0üÿ" || !converted {
		t.Errorf("%q", got)
	}
	var upper []byte
	for c := 0x80; c < 0xa0; c++ {
		upper = append(upper, byte(c))
	}
	if got, _ := readable(string(upper)); got != "€�‚ƒ„…†‡ˆ‰Š‹Œ�Ž��‘’“”•–—˜™š›œ�žŸ" {
		t.Errorf("%q", got)
	}
	if got, converted := readable("ü\ufffd"); got != "ü\ufffd" || converted {
		t.Errorf("%q", got)
	}
}

// A line of names that begins with # is no comment, and numbers where names are
// sought are told.
func TestNamesOrNot(t *testing.T) {
	d := readBothWays(t, "# made today\n#x,y\n1,3\n4,7\n", Spec{})
	if !equalFloats(d.X, []float64{1, 4}) || d.Inputs[0].Name != "x" ||
		!slices.Equal(d.Notices, []string{"comments (#) at the top are left out: 1 line"}) {
		t.Errorf("%v %+v %q", d.X, d.Inputs, d.Notices)
	}
	d = readBothWays(t, "2023,2024\n1,3\n4,7\n", Spec{})
	if want := []string{`line 1 ("2023", "2024") is read as values; if it holds the names of the columns, set header = "yes"`}; d.Rows != 3 ||
		!slices.Equal(d.Notices, want) {
		t.Errorf("%d rows, %q", d.Rows, d.Notices)
	}
	for header, rows := range map[string]int{"yes": 2, "no": 3} {
		if d = readBothWays(t, "2023,2024\n1,3\n4,7\n", Spec{Header: header}); d.Rows != rows || d.Notices != nil {
			t.Errorf("%s: %d rows, %q", header, d.Rows, d.Notices)
		}
	}
}

// What may look like units or an empty column, but is not.
func TestValuesAreNotLeftOut(t *testing.T) {
	d := loadText(t, "x,y,\n1,2,\n3,5,6\n4,7,8\n", Spec{})
	if d.Target.Number != 3 || d.Dropped.Target != 1 {
		t.Errorf("%+v", d.Target)
	}
	d = readBothWays(t, "x,y,last\n1,2,\n3,5,\n4,7,\n", Spec{Target: "y"})
	if d.Dim != 1 || len(d.Notices) != 1 || !strings.Contains(d.Notices[0], `("last") has no values`) {
		t.Errorf("%q", d.Notices)
	}
	d = readBothWays(t, "x,y\nNA,\n1,2\n4,7\n", Spec{})
	if d.Rows != 3 || d.Notices != nil {
		t.Errorf("%d rows, %q", d.Rows, d.Notices)
	}
}

// TestUTF16InPieces reads a text with characters beyond the first plane byte by
// byte; halves of such ones and an odd byte are replaced.
func TestUTF16InPieces(t *testing.T) {
	want := "a𝛉é\ufeff𐀀z"
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		text := inUTF16(want, order)
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)),
			iotest.DataErrReader(strings.NewReader(text))} {
			got, err := io.ReadAll(newUTF16Text(in, []byte(text)))
			if err != nil || string(got) != want {
				t.Errorf("%v: %q, %v", order, got, err)
			}
		}
	}
	for text, want := range map[string]string{
		"\xff\xfea\x00b": "a�", "\xff\xfe\x00\xd8a\x00": "�a", "\xff\xfe\x00\xdca\x00": "�a",
		"\xff\xfe\x00\xdc\x00\xdca\x00": "�a", "\xff\xfe\x00\xd8\x00\xd8a\x00": "��a",
		"\xff\xfe\x00\xd8": "�", "\xff\xfe": "",
	} {
		got, err := io.ReadAll(newUTF16Text(iotest.OneByteReader(strings.NewReader(text)), []byte(text)))
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// Columns of one name are found by their order in the table that was learned from.
func TestPointsOfColumnsOfOneName(t *testing.T) {
	d := loadText(t, "date,temp,temp,load\n2020-01-01,1,10,5\n2020-01-02,2,20,6\n2020-01-03,3,35,8\n", Spec{Inputs: []string{"3", "2"}})
	last := loadText(t, "temp,temp\n1,10\n2,20\n3,35\n", Spec{})
	for _, c := range []struct {
		like *Dataset
		text string
		x, y []float64
		err  string
	}{
		{d, "date,temp,temp,load\n2020-01-01,7,8,9\n", []float64{8, 7}, []float64{9}, ""},
		{d, "temp,temp\n7,8\n", []float64{8, 7}, nil, ""},
		{d, "temp,x\n7,8\n", nil, nil, `new.csv: 1 column named "temp", but 2 in the training data`},
		{d, "temp,temp,temp\n7,8,9\n", nil, nil, `new.csv: 3 columns named "temp", but 2 in the training data`},
		{d, "date,load\n7,8\n", nil, nil, `new.csv: there is no column "temp"; the columns are "date", "load"`},
		{last, "temp,temp\n7,8\n", []float64{7}, []float64{8}, ""},
		{last, "x,temp\n7,8\n", []float64{8}, nil, ""},
		{loadText(t, "a,b\n1,2\n3,4\n", Spec{}), "a,a\n7,8\n", nil, nil, `new.csv: columns 1 and 2 are both named "a"; choose by number`},
	} {
		p, _, err := readPoints(t, 5, Spec{Path: writeFile(t, "new.csv", c.text)}, c.like)
		if err != nil || c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: %v, want %s", c.text, err, c.err)
			}
			continue
		}
		if !equalFloats(p.X, c.x) || !equalFloats(p.Y, c.y) || (p.Y == nil) != (c.y == nil) {
			t.Errorf("%q: %+v", c.text, p)
		}
	}
}
