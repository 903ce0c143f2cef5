//go:build cuda

package source

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"fmt"
	"io"
	"strings"
)

//go:embed image
var images embed.FS

// ImageArchs are the compute capabilities that the library is kept compiled
// for, ascending. A card runs what was compiled for its own or a lower one: 70
// serves all that are likely to be met, 90 has Hopper's FP64 tensor cores.
var ImageArchs = []int{70, 90}

// ImageName returns the name of an image's file.
func ImageName(arch int) string { return fmt.Sprintf("library-%d.ptx.gz", arch) }

// ImageMark returns the line that an image begins with, which says what source it
// was compiled from.
func ImageMark() string {
	return fmt.Sprintf("// %x\n", sha256.Sum256([]byte(strings.Join(Options, " ")+Library())))
}

// Image returns the library compiled beforehand, as PTX for a card of this
// compute capability. Errors: there is no image, or it is of another source.
func Image(arch int) ([]byte, error) {
	for i := len(ImageArchs) - 1; i >= 0; i-- {
		if ImageArchs[i] > arch {
			continue
		}
		packed, err := images.ReadFile("image/" + ImageName(ImageArchs[i]))
		if err != nil {
			return nil, fmt.Errorf("this program was built without compiled kernels: %w", err)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ImageName(ImageArchs[i]), err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ImageName(ImageArchs[i]), err)
		}
		if !bytes.HasPrefix(text, []byte(ImageMark())) {
			return nil, fmt.Errorf("%s is of another source", ImageName(ImageArchs[i]))
		}
		return text, nil
	}
	return nil, fmt.Errorf("compute capability %d.%d is too low", arch/10, arch%10)
}
