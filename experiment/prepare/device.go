package prepare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/vbks"
)

// OpenDevice makes the device of a config. The environment variable
// simd.Variable forces an instruction set of the CPU. With "auto" it is the
// cards where this build of the program can use them and there are any, else
// the CPU.
func OpenDevice(c config.DeviceChoice) (device.Device, error) {
	dev, _, err := OpenToldDevice(context.Background(), c)
	return dev, err
}

// OpenToldDevice is OpenDevice with what the user should know of the choice, "" for nothing:
// that a card was checked, or why the CPU is taken in its place.
func OpenToldDevice(ctx context.Context, c config.DeviceChoice) (dev device.Device, told string, err error) {
	return openDevice(ctx, c, Load{})
}

// Load is how much a run has to do at a time, as far as it decides which device is faster. Of the
// zero value it is not known.
type Load struct {
	Kernels  int
	Inducing int  // 0: as many as it takes
	Bound    bool // of all rows is what it computes, not steps on some of them
}

// loadOf is the load of a run over so many kernels and training rows. That of a ladder of inducing inputs is its last
// rung's, which takes at least as long as any other.
func loadOf(c *config.Config, kernels, rows int) Load {
	s := c.Settings
	e, err := s.Effort(rows)
	if err != nil || !e.Exact() { // which is told where the trainer is made
		return Load{Kernels: kernels, Inducing: s.Inducing}
	}
	rungs := s.Rungs(rows, kernels)
	live := kernels
	for _, m := range rungs[1:] {
		live = s.RungKernels(rows, kernels, live, m)
	}
	return Load{live, rungs[len(rungs)-1], true}
}

// CheckDevice returns an error if the device of a config cannot be used.
func CheckDevice(c config.DeviceChoice) error {
	d, err := OpenDevice(c)
	if err != nil {
		return err
	}
	return d.Close()
}

// openDevice also tells what the user should know of the choice: why the CPU is taken where
// cards were meant or looked for, which cards are left out, that one was checked, or was
// measured to be slower than the CPU and is taken since it was asked for; ""
// where there is nothing to tell. A card that fails its check is not computed on.
func openDevice(ctx context.Context, c config.DeviceChoice, load Load) (device.Device, string, error) {
	switch cmp.Or(c.Only, c.Kind) {
	case "cpu":
		dev, err := openCPU(c)
		return dev, "", err
	case "cuda":
		if !builtWithCUDA {
			return nil, "", errors.New("device cuda is not in this build of the program; use device.kind = \"cpu\" or \"auto\"")
		}
		dev, notice, err := openCUDA(ctx, c, load)
		if errors.Is(err, errUnproven) {
			return insteadOfCards(c, err)
		}
		if err != nil {
			return nil, "", fmt.Errorf("device cuda: %w; device.kind = \"cpu\" and \"auto\" do without", err)
		}
		return dev, notice, nil
	case "auto", "":
		if !builtWithCUDA {
			dev, err := openCPU(c)
			return dev, "", err
		}
		dev, notice, reason := openCUDA(ctx, c, load)
		if reason == nil {
			return dev, notice, nil
		}
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		return insteadOfCards(c, reason)
	}
	return nil, "", fmt.Errorf("unknown device %q; devices are %s", c.Kind, strings.Join(config.DeviceKinds(), ", "))
}

var errUnproven = errors.New("no card has passed its check")

// insteadOfCards takes the CPU, and says why.
func insteadOfCards(c config.DeviceChoice, reason error) (device.Device, string, error) {
	dev, err := openCPU(c)
	return dev, fmt.Sprintf("computing on the CPU: %v", reason), err
}

// forWeights leaves a device that keeps no weights of rows where a config asks for such:
// with "auto" for the CPU, which the notice then says.
func forWeights(c *config.Config, dev device.Device, notice string) (device.Device, string, error) {
	asked := ""
	switch {
	case c.Data.NoiseColumn != "":
		asked = "data.noise_column"
	case c.Data.NoiseBy != "":
		asked = "data.noise_by"
	case c.Settings.Likelihood == vbks.StudentLikelihood:
		asked = fmt.Sprintf("kernels.likelihood = %q", vbks.StudentLikelihood)
	}
	if _, ok := dev.(device.Scaler); ok || asked == "" {
		return dev, notice, nil
	}
	kind := dev.Info().Kind
	if err := dev.Close(); err != nil {
		return nil, "", err
	}
	if c.Device.Kind == kind {
		return nil, "", fmt.Errorf("%s: %w, not on %s; device.kind = \"cpu\" or \"auto\" does", asked, device.ErrScales, kind)
	}
	dev, err := openCPU(c.Device)
	return dev, fmt.Sprintf("computing on the CPU: %s: %v", asked, device.ErrScales), err
}

func openCPU(c config.DeviceChoice) (device.Device, error) {
	level, err := simd.Choose(os.Getenv(simd.Variable))
	if err != nil {
		return nil, err
	}
	return cpu.New(cpu.Options{Lanes: cmp.Or(c.Lanes, c.Cores), Level: level}), nil
}

// DeviceStatus is a place to compute, or why there is none of its kind.
type DeviceStatus struct {
	Kind    string `json:"kind"`
	Name    string `json:"name,omitempty"`
	Lanes   int    `json:"lanes"`
	Memory  uint64 `json:"memory,omitempty"` // bytes; 0: not limited by the device
	Details string `json:"details,omitempty"`
	Missing string `json:"missing,omitempty"` // why there is none
}

// Devices lists where this build of the program can compute on this machine:
// the CPU and each card.
func Devices() ([]DeviceStatus, error) {
	dev, err := openCPU(config.DeviceChoice{})
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	info := dev.Info()
	list := []DeviceStatus{{Kind: info.Kind, Name: info.Name, Lanes: info.Lanes, Memory: info.Memory, Details: info.Details}}
	cards, err := cudaCards()
	if err != nil {
		cards = []DeviceStatus{{Kind: "cuda", Missing: err.Error()}}
	}
	return append(list, cards...), nil
}
