package series

import (
	"math"
	"strconv"

	"example.com/kestrel/experiment/files"
)

// Text is a cell without what keeps it from starting a formula.
func Text(cell string) string {
	if len(cell) > 1 && cell[0] == '\'' && files.SafeCell(cell[1:]) == cell {
		return cell[1:]
	}
	return cell
}

// Cells reads the cells of a record up to its first error.
type Cells struct {
	Cells []string
	Err   error
}

func (p *Cells) note(err error) {
	if p.Err == nil {
		p.Err = err
	}
}

// Seed reads a seed.
func (p *Cells) Seed(i int) uint64 {
	v, err := strconv.ParseUint(p.Cells[i], 10, 64)
	p.note(err)
	return v
}

// Whole reads an empty cell as 0.
func (p *Cells) Whole(i int) int {
	if p.Cells[i] == "" {
		return 0
	}
	v, err := strconv.Atoi(p.Cells[i])
	p.note(err)
	return v
}

// Number reads an empty cell as NaN.
func (p *Cells) Number(i int) files.Number {
	v := p.Optional(i)
	if v == nil {
		return files.Number(math.NaN())
	}
	return files.Number(*v)
}

// Optional reads an empty cell as nil.
func (p *Cells) Optional(i int) *float64 {
	if p.Cells[i] == "" {
		return nil
	}
	v, err := strconv.ParseFloat(p.Cells[i], 64)
	p.note(err)
	return &v
}
