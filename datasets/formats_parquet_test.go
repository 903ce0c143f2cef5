//go:build parquet

package datasets

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"example.com/kestrel/internal/must"
)

func otherKinds() []formatKind { return []formatKind{{"parquet", writeParquet, ""}} }

// otherSeeds are small files of Parquet.
func otherSeeds(f *testing.F) (out [][]byte) {
	type row struct {
		X    float64
		Y    *int32 `parquet:",optional"`
		Name string `parquet:",dict"`
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[row](&b, parquet.Compression(codec))
		_, err := w.Write([]row{{1, nil, "a"}, {2, new(int32), "b"}})
		must.OK(f, err)
		must.OK(f, w.Close())
		out = append(out, b.Bytes())
	}
	return out
}

// writeParquet writes numbers, instants, texts and nulls, by the type of a column's
// values.
func writeParquet(t *testing.T, path string, recs [][]string) bool {
	group := parquet.Group{}
	kinds := make([]string, len(recs[0]))
	for i, name := range recs[0] {
		kinds[i] = "number"
		missing := false // a zero of what may be missing would be written as such
		for _, rec := range recs[1:] {
			missing = missing || rec[i] == ""
			if _, ok := asNumber(rec[i]); ok || rec[i] == "" {
				continue
			}
			kinds[i] = "text"
			if _, err := time.Parse("2006-01-02T15:04:05", rec[i]); err == nil {
				kinds[i] = "time"
			}
		}
		node := map[string]parquet.Node{
			"number": parquet.Leaf(parquet.DoubleType), "text": parquet.String(), "time": parquet.Timestamp(parquet.Microsecond),
		}[kinds[i]]
		if group[name] = parquet.Compressed(node, &parquet.Snappy); missing {
			group[name] = parquet.Optional(group[name])
		}
	}
	schema := parquet.NewSchema("t", group) // columns by name
	f, err := os.Create(path)
	must.OK(t, err)
	defer f.Close()
	w := parquet.NewGenericWriter[any](f, schema, parquet.MaxRowsPerRowGroup(1000))
	for _, rec := range recs[1:] {
		row := map[string]any{}
		for i, cell := range rec {
			v, ok := asNumber(cell)
			switch {
			case ok:
				row[recs[0][i]] = v
			case cell == "":
				row[recs[0][i]] = nil
			case kinds[i] == "time":
				at, err := time.Parse("2006-01-02T15:04:05", cell)
				must.OK(t, err)
				row[recs[0][i]] = at.UnixMicro()
			default:
				row[recs[0][i]] = cell
			}
		}
		_, err := w.Write([]any{row})
		must.OK(t, err)
	}
	must.OK(t, w.Close())
	return true
}
