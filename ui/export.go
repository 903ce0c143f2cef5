package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/ui/note"
)

// export writes all traces as CSV, and the charts that are looked at as SVG, PNG,
// text and, with their numbers, as CSV.
func (b *bench) export() tea.Cmd {
	dir := filepath.Join(b.path, rundir.ExportDir)
	charts, none := b.figures() // before they are drawn for the text, at another size
	screen, path := b.screenText(), b.path
	return tea.Batch(note.Say(note.Good, "exporting to %s …", dir), b.order(nil, func() (string, error) {
		drawn, undrawn := chartFiles(charts, screen)
		if err := rundir.Export(path, dir, drawn...); err != nil {
			return "", err
		}
		if undrawn != nil {
			return "", fmt.Errorf("exported the CSV files to %s, but the chart was not drawn: %w", dir, undrawn)
		}
		if len(charts) == 0 {
			return fmt.Sprintf("exported posterior.csv, metrics.csv, kernels.csv, baselines.csv to %s, and no chart: %s", dir, none), nil
		}
		var names []string
		for _, f := range charts {
			names = append(names, f.Name)
		}
		return fmt.Sprintf("exported posterior.csv, metrics.csv, kernels.csv, baselines.csv and %s as .svg, .png, .csv, .txt to %s",
			strings.Join(names, ", "), dir), nil
	}))
}

// chartFiles are the files of charts, with what the screen shows of all beside the
// first. posterior.csv, which has the numbers of all kernels, is the run's.
func chartFiles(charts []*chart.Figure, screen string) ([]files.File, error) {
	var all []files.File
	for _, f := range charts {
		drawn, err := f.Files(screen)
		if err != nil {
			return nil, err
		}
		table, err := f.Table()
		if err != nil {
			return nil, err
		}
		if all = append(all, drawn...); !slices.Contains(rundir.TableFiles(), table.Name) {
			all = append(all, table)
		}
		screen = ""
	}
	return all, nil
}
