package formats

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// longestLine bounds a line of JSON, in bytes.
const longestLine = 16 << 20

// JSONLines reads a table with an object in each line. The first one's keys name the
// columns; null, and a key that a later one lacks, are missing values.
func JSONLines(from io.Reader) Rows {
	in := bufio.NewReaderSize(from, 1<<16)
	var names []string
	var kept []string // the first row, behind the names
	line := 0
	return func() ([]string, error) {
		if kept != nil {
			row := kept
			kept = nil
			return row, nil
		}
		text, err := readLine(in)
		if err != nil {
			return nil, wrap(err, line)
		}
		line++
		if len(bytes.TrimSpace(text)) == 0 {
			return nil, nil
		}
		keys, values, err := object(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if names == nil {
			names, kept = keys, values
			return slices.Clone(keys), nil
		}
		row := make([]string, len(names))
		for i, key := range keys {
			at := i
			if at >= len(names) || names[at] != key {
				if at = slices.Index(names, key); at < 0 {
					return nil, fmt.Errorf("line %d: key %.100q is not in the first line", line, key)
				}
			}
			row[at] = values[i]
		}
		return row, nil
	}
}

func wrap(err error, line int) error {
	if err == io.EOF {
		return err
	}
	return fmt.Errorf("after line %d: %w", line, err)
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		long = append(long, part...)
		switch {
		case len(long) > longestLine:
			return nil, fmt.Errorf("a line of more than %d MB", longestLine>>20)
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(long) > 0:
			return long, nil
		default:
			return long, err
		}
	}
}

// object reads an object of plain values, keys in their order.
func object(text []byte) (keys, values []string, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	begin, err := d.Token()
	if err != nil || begin != json.Delim('{') {
		return nil, nil, fmt.Errorf("%.40q is no JSON object", bytes.TrimSpace(text))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, fmt.Errorf("is no JSON object: %w", err)
		}
		value, err := d.Token()
		if err != nil {
			return nil, nil, fmt.Errorf("is no JSON object: %w", err)
		}
		cell := ""
		switch v := value.(type) {
		case nil:
		case json.Delim:
			return nil, nil, fmt.Errorf("key %.100q holds a list or an object, not a value", key)
		default:
			cell = fmt.Sprint(v)
		}
		if slices.Contains(keys, key.(string)) {
			return nil, nil, fmt.Errorf("key %.100q is there twice", key)
		}
		keys, values = append(keys, key.(string)), append(values, cell)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, fmt.Errorf("is no JSON object: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, fmt.Errorf("has something behind its object")
	}
	return keys, values, nil
}
