package trial

import (
	"errors"
	"fmt"

	"example.com/kestrel/device"
)

const (
	memoryShare = 0.9 // of what a device says is free, that it must hold
	memoryCell  = 1 << 17
	mostPieces  = 64
	mostCells   = 1 << 14 // of a piece, 16 GiB
)

// Memory fills most of the memory that a lane says it has, in a few arrays, reads some of
// each back, and asks for more than there is, which must be refused, before and after
// which the lane must work. It returns the bytes that were filled; 0 where the device says
// no limit. The error wraps ErrWrong where memory does not hold what is written.
func Memory(dev device.Device) (filled uint64, err error) {
	bytes := dev.Info().Memory
	if bytes == 0 {
		return 0, nil
	}
	cells := int(float64(bytes) * memoryShare / (8 * memoryCell))
	each := min(mostCells, max(1, cells/mostPieces))
	lane := dev.Lane(0)
	var pieces []device.Array
	defer func() {
		for _, a := range pieces {
			lane.Free(a)
		}
	}()
	all := make([]int, each)
	for k := range all {
		all[k] = k
	}
	for range max(1, cells/each) {
		a, err := lane.NewArray(each, 1, memoryCell)
		if err != nil {
			return filled, fmt.Errorf("%d of %d bytes that are said to be free: %w", filled, bytes, err)
		}
		pieces = append(pieces, a)
		lane.Fill(all, a, float64(len(pieces)))
		filled += uint64(8 * memoryCell * each)
	}
	if err := lane.Sync(); err != nil {
		return filled, err
	}
	more := int(min(bytes/(8*memoryCell)+1, 1<<16-1))
	if a, err := lane.NewArray(more, 1, memoryCell); err == nil {
		lane.Free(a)
		if uint64(more)*8*memoryCell+filled > bytes {
			return filled, fmt.Errorf("%w: %d bytes more than the %d that are free are not refused", ErrWrong, more*8*memoryCell, bytes)
		}
	} else if !errors.Is(err, device.ErrOutOfMemory) {
		return filled, err
	}
	got := make([]float64, memoryCell)
	for i, a := range pieces {
		for _, k := range []int{0, each - 1} {
			if err := lane.Read(a, k, got); err != nil {
				return filled, err
			}
			for _, v := range got {
				if v != float64(i+1) {
					return filled, fmt.Errorf("%w: memory that was filled with %d holds %g", ErrWrong, i+1, v)
				}
			}
		}
	}
	return filled, nil
}
