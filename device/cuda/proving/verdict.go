//go:build cuda

package proving

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/source"
	"example.com/kestrel/device/trial"
)

// Verdict is what a card has shown.
type Verdict struct {
	Card     string  `json:"card"`
	Driver   string  `json:"driver"`             // CUDA version that it is for
	Compiler string  `json:"compiler,omitempty"` // libnvrtc; none where empty
	Passed   bool    `json:"passed"`
	Reason   string  `json:"reason,omitempty"` // why it has not passed
	Whole    bool    `json:"whole,omitempty"`  // all parts were run, not only those before a first use
	Speeds   []Speed `json:"speeds,omitempty"`
}

// Speed is how long a step of Adam of so many kernels takes, or the collapsed bound of all rows with its
// gradient, in milliseconds.
type Speed struct {
	Work     string  `json:"work"` // "a" to "e" of bench
	Bound    bool    `json:"bound,omitempty"`
	Inducing int     `json:"inducing"`
	Kernels  int     `json:"kernels"`
	Card     float64 `json:"card_ms"`
	CPU      float64 `json:"cpu_ms"` // on all cores
}

// verdictHeader begins what a verdict's name is made of; another number where older
// checks are not enough.
const verdictHeader = "kestrel cuda verdict 1"

// describe begins a verdict on a card.
func describe(d *driver.Driver, card driver.CardInfo) Verdict {
	v := Verdict{Card: card.Name, Driver: d.Version()}
	if c, err := d.Compiler(); err == nil {
		v.Compiler = c.Version()
	}
	return v
}

// file is where a card's verdict is kept; "" where the user has no cache.
func file(d *driver.Driver, card driver.CardInfo) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", nil
	}
	programs, err := trial.Compile(3, trial.Forms...)
	if err != nil {
		return "", err
	}
	generated, err := source.Matrices(programs, true)
	if err != nil {
		return "", err
	}
	v := describe(d, card)
	key := strings.Join([]string{verdictHeader, card.String(), card.UUID, v.Driver, v.Compiler, source.ImageMark(), generated}, "\x00")
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(dir, "kestrel", "cards", hex.EncodeToString(sum[:])+".json"), nil
}

// Kept returns the verdict on a card with this driver and compiler, false where none is kept
// that can be read.
func Kept(d *driver.Driver, card driver.CardInfo) (Verdict, bool) {
	var v Verdict
	name, err := file(d, card)
	if err != nil || name == "" {
		return v, false
	}
	text, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(text, &v) != nil || v.Card != card.Name || v.Passed != (v.Reason == "") {
		return Verdict{}, false
	}
	return v, true
}

// Keep keeps a verdict in the place of an older one, whole or not at all.
func Keep(d *driver.Driver, card driver.CardInfo, v Verdict) error {
	name, err := file(d, card)
	if err != nil || name == "" {
		return err
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
