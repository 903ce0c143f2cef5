package library

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"example.com/kestrel/experiment/record"
)

// isSeries reports whether a folder is that of several runs: repeats, a study, a
// comparison or a backtest.
func isSeries(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, record.StateDir, record.OwnerFile))
	return err == nil
}

// headBytes hold the header of every table that kestrel writes.
const headBytes = 4096

// isOutput reports whether a table was written by kestrel: predictions, components and
// draws, the tables of a run, and those beside the figures that they are of.
func isOutput(path string) bool {
	base := strings.TrimSuffix(path, filepath.Ext(path))
	if _, err := os.Lstat(base + ".svg"); err == nil {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(f, head) // a short file is all there is
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	for _, begin := range []string{"evaluation,proportion,", "kernel_id,kernel,parameter,", "row,kernel_id,weight,", "method,label,rmse,"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return strings.HasPrefix(line, "row,") && strings.Contains(line, ",mean,sd_f,sd_y")
}
