package npz

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/vbks"
)

// Limits of what is read from a checkpoint: far beyond any that is written, and
// what keeps a damaged or foreign file from taking all memory. Ours are stored
// as they are; those that other programs deflate shrink little, for they are the
// bits of floating-point numbers.
const (
	maxCheckpoint = 8 << 30  // bytes of all arrays
	maxDeflate    = 1032     // no data are larger in clear than this times their deflated size
	maxUnpacked   = 16       // times the file's size are the arrays of a large checkpoint at most
	anyUnpacked   = 64 << 20 // bytes of arrays that may come of a file of any size
	maxDimensions = 8
	anyNumbers    = 1 << 22 // numbers of an array of any run: a text, or F x F of 2048 hyperparameters
	maxInputs     = 1 << 12 // input columns
	headNumbers   = 64      // numbers of the array that says how large the run is
)

// errTooLarge is the error of an array that is larger than any of its run.
var errTooLarge = errors.New("more numbers than a run of its size has")

// npzEntry is an array in a file.
type npzEntry struct {
	name string
	file *zip.File
}

type npzEntries []npzEntry

// openNPZ lists the arrays of a file of the given size, whose sizes in clear can
// all be true together.
func openNPZ(file io.ReaderAt, size int64) (npzEntries, error) {
	z, err := zip.NewReader(file, size)
	if err != nil {
		return nil, err
	}
	most := min(maxCheckpoint, maxDeflate*uint64(size), anyUnpacked+maxUnpacked*uint64(size))
	var entries npzEntries
	known := map[string]bool{}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("it holds %q, which is no array", f.Name)
		}
		if f.UncompressedSize64 > most {
			return nil, fmt.Errorf("array %s: %d bytes cannot be true in a file of %d", name, f.UncompressedSize64, size)
		}
		most -= f.UncompressedSize64
		if known[name] {
			return nil, fmt.Errorf("array %s is there twice", name)
		}
		known[name] = true
		entries = append(entries, npzEntry{name, f})
	}
	return entries, nil
}

// read reads an array of so many numbers at most.
func (e *npzEntry) read(most uint64) (t vbks.Tensor, err error) {
	r, err := e.file.Open()
	if err != nil {
		return t, err
	}
	t, err = readNPY(r, e.file.UncompressedSize64, most)
	if e := r.Close(); err == nil {
		err = e
	}
	return t, err
}

// checkpointLimits is what a checkpoint itself says of the size of its run: the
// numbers of training rows, inducing inputs and kernels.
type checkpointLimits struct{ rows, inducing, kernels uint64 }

// numbers is how many an array of such a run has at most: one for every row (the
// terms of a local ELBO), M x M or K x K of a Gaussian's factor, M x D inducing
// inputs, a text, or F x F.
func (l checkpointLimits) numbers() uint64 {
	return max(anyNumbers, l.rows, l.inducing*l.inducing, l.inducing*maxInputs, l.kernels*l.kernels)
}

// limits reads the arrays "run" and "kernels", see vbks.Trainer.Checkpoint. Where
// they are not there or make no sense the run is taken for a small one: who uses
// the arrays will say what is wrong.
func (es npzEntries) limits() (l checkpointLimits, err error) {
	find := func(name string, most uint64) ([]float64, error) {
		i := slices.IndexFunc(es, func(e npzEntry) bool { return e.name == name })
		if i < 0 {
			return nil, nil
		}
		t, err := es[i].read(most)
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		return t.Data, nil
	}
	run, err := find("run", headNumbers)
	if err != nil {
		return l, err
	}
	ids, err := find("kernels", anyNumbers)
	if err != nil {
		return l, err
	}
	const inducing, rows = 2, 4 // their places in it
	whole := func(v float64) bool { return v >= 1 && v <= math.MaxInt32 && v == math.Trunc(v) }
	if len(run) <= rows || !whole(run[inducing]) || !whole(run[rows]) || run[inducing] > run[rows] {
		return l, nil
	}
	l = checkpointLimits{rows: uint64(run[rows]), inducing: uint64(run[inducing])}
	if len(ids) > 0 {
		l.kernels = 1
	}
	for _, v := range ids {
		if v == '\n' {
			l.kernels++
		}
	}
	return l, nil
}
