package experiment_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
)

// The quickstart without its screen: its directory then is what kestrel run leaves, and
// others read it.
func ExampleBegin() {
	dir, err := os.MkdirTemp("", "kestrel")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	c, err := config.Load("quickstart", nil)
	if err != nil {
		panic(err)
	}
	ctx, run := context.Background(), filepath.Join(dir, "run")
	s, err := experiment.Begin(ctx, c, run)
	if err != nil {
		panic(err)
	}
	end, err := s.Run.Drive(ctx, record.Course{}) // to its end; nothing follows
	if err != nil {
		panic(err)
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
	fmt.Println(end.State)

	i, err := inspect.Open(ctx, run)
	if err != nil {
		panic(err)
	}
	defer i.Close()
	r, err := i.Residuals(ctx, "", 0)
	if err != nil {
		panic(err)
	}
	fmt.Println("evaluation", r.Evaluation, "on", r.Of, "test rows:", r.Test)
	// Output:
	// finished
	// evaluation 6 on 50 test rows: true
}
