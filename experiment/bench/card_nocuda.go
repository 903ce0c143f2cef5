//go:build !cuda

package bench

import (
	"context"
	"errors"
)

// CheckCards checks every card of this machine, telling each part that begins; this build of the
// program has none.
func CheckCards(context.Context, func(part string)) ([]*CardReport, error) {
	return nil, errors.New("cards are not in this build of the program; device/cuda/build.sh makes one with them")
}
