package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/record"
)

// JSONExport is a run as one JSON object: its Summary, with all its evaluations,
// revised ones included, and all its metrics in the place of the number and the
// last ones. Neither reading nor writing holds the log in memory.
type JSONExport struct {
	dir     string
	summary *Summary
	events  int // at the time of reading: the run may be going on
}

// ReadJSON reads the event log of a run directory up to its end. Errors are
// those of record.Each.
func ReadJSON(ctx context.Context, dir string) (*JSONExport, error) {
	x := &JSONExport{dir: dir, summary: &Summary{Dir: dir}}
	err := record.Each(ctx, dir, func(e *record.Event) {
		x.events++
		x.summary.take(e)
	})
	if err != nil {
		return nil, err
	}
	x.summary.ask(dir)
	x.summary.Finding = finding.As(&x.summary.Standing, x.summary.Fate, dir).Text()
	return x, nil
}

// Write writes the object, indented by two spaces. Of a run that goes on it holds
// what there was when it was read.
func (x *JSONExport) Write(ctx context.Context, to io.Writer) error {
	head, err := indented(struct {
		*Summary
		Evaluations []*record.Evaluation `json:"evaluations"`
		Metrics     []record.Metric      `json:"metrics"`
	}{Summary: x.summary}, "")
	if err != nil {
		return err
	}
	const tail = "\"evaluations\": null,\n  \"metrics\": null\n}"
	head, ok := bytes.CutSuffix(head, []byte(tail))
	if !ok {
		return fmt.Errorf("the summary of run %q does not end as it should", x.dir)
	}
	w := bufio.NewWriterSize(to, 1<<16)
	w.Write(head) // what goes wrong is said by Flush
	err = x.list(ctx, w, "evaluations", func(e *record.Event, add func(any)) {
		if e.Evaluation != nil {
			add(e.Evaluation)
		}
	})
	if err != nil {
		return err
	}
	w.WriteString(",\n  ")
	err = x.list(ctx, w, "metrics", func(e *record.Event, add func(any)) {
		for i := range e.Metrics {
			add(&e.Metrics[i])
		}
	})
	if err != nil {
		return err
	}
	w.WriteString("\n}\n")
	return w.Flush()
}

// indented is a value as JSON, with a prefix for all lines but the first.
func indented(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// list writes a key with what events hold of it, null where none holds anything.
func (x *JSONExport) list(ctx context.Context, w *bufio.Writer, key string, of func(e *record.Event, add func(any))) error {
	fmt.Fprintf(w, "%q: ", key)
	const indent = "    "
	seen, held := 0, 0
	var first error
	err := record.Each(ctx, x.dir, func(e *record.Event) {
		if seen++; seen > x.events {
			return
		}
		of(e, func(v any) {
			text, err := indented(v, indent)
			if err != nil && first == nil {
				first = err
			}
			before := ",\n"
			if held++; held == 1 {
				before = "[\n"
			}
			w.WriteString(before + indent)
			w.Write(text)
		})
	})
	switch {
	case err != nil:
		return err
	case held == 0:
		w.WriteString("null")
	default:
		w.WriteString("\n  ]")
	}
	return first
}
