package datasets_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/kestrel/datasets"
)

// A table of dates is read, divided and standardised; time stamps count in seconds from
// the first.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "kestrel")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sales.csv")
	table := "day,sales\n2024-01-01,10\n2024-01-02,12\n2024-01-03,NA\n2024-01-04,17\n2024-01-05,13\n"
	if err := os.WriteFile(path, []byte(table), 0o644); err != nil {
		panic(err)
	}
	spec := datasets.Spec{Path: path, Target: "sales", TestRows: 1, SplitBy: "rows"}
	d, err := datasets.Load(context.Background(), spec)
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Inputs[0].Name, d.Inputs[0].Unit, d.Inputs[0].Origin.Format("2006-01-02"))
	fmt.Println(d.X, d.Y)
	fmt.Println(len(d.Train), "rows to learn from,", len(d.Test), "held out,", d.Dropped.Target, "without a target")
	s, err := datasets.NewScaler(d, spec)
	if err != nil {
		panic(err)
	}
	fmt.Println("sales less", s.YShift)
	// Output:
	// day s 2024-01-01
	// [0 86400 259200 345600] [10 12 17 13]
	// 3 rows to learn from, 1 held out, 1 without a target
	// sales less 13
}

// Points to predict at are read as the training rows were, column by column, by name.
func ExampleOpenPoints() {
	dir, err := os.MkdirTemp("", "kestrel")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			panic(err)
		}
		return path
	}
	ctx := context.Background()
	like, err := datasets.Load(ctx, datasets.Spec{Path: write("train.csv", "width,height,price\n1,2,10\n2,3,20\n3,1,15\n"), TestRows: 1})
	if err != nil {
		panic(err)
	}
	r, err := datasets.OpenPoints(ctx, datasets.Spec{Path: write("new.csv", "note,height,width\nfirst,4,7\nsecond,5,8\n")}, like)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for {
		p, err := r.Next(ctx, 1000)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			panic(err)
		}
		fmt.Println(p.X, r.HasTarget())
	}
	// Output: [7 4 8 5] false
}
