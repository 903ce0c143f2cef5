// Package devicetest runs the suite that every device must pass as a test.
package devicetest

import (
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/conformance"
)

// tester is a test as the suite wants it.
type tester struct{ *testing.T }

func (t tester) Short() bool { return testing.Short() }

func (t tester) Run(name string, f func(conformance.T)) {
	t.T.Run(name, func(part *testing.T) { f(tester{part}) })
}

// Run runs the suite on the device that open returns. The device is opened
// once and closed at the end.
func Run(t *testing.T, open func() (device.Device, error)) {
	dev, err := open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	conformance.Run(tester{t}, dev, nil)
}
