package ui

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kestrel/experiment/rundir"
)

// export writes all traces as CSV, and the charts that are looked at as SVG, PNG,
// text and, with their numbers, as CSV.
func (b *bench) export() tea.Cmd {
	dir := filepath.Join(b.path, rundir.ExportDir)
	charts, none := b.figures() // before they are drawn for the text, at another size
	screen, path := b.screenText(), b.path
	return b.order(nil, func() (string, error) {
		if err := rundir.Export(path, dir); err != nil {
			return "", err
		}
		if len(charts) == 0 {
			return fmt.Sprintf("exported posterior.csv, metrics.csv, kernels.csv to %s, and no chart: %s", dir, none), nil
		}
		var names []string
		for _, f := range charts {
			if err := f.Save(dir, screen); err != nil {
				return "", fmt.Errorf("exported the CSV files to %s, but the chart was not drawn: %w", dir, err)
			}
			if err := f.SaveTable(dir, rundir.TableFiles()...); err != nil {
				return "", fmt.Errorf("exported to %s, but not the numbers of the chart: %w", dir, err)
			}
			names = append(names, f.Name)
			screen = "" // of all charts, beside the first
		}
		return fmt.Sprintf("exported posterior.csv, metrics.csv, kernels.csv and %s as .svg, .png, .csv, .txt to %s",
			strings.Join(names, ", "), dir), nil
	})
}
