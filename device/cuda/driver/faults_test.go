//go:build cuda

package driver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
)

// A launch that the driver refuses at once comes out of Sync, once; what was
// asked for behind it is not done.
func TestRefusedLaunch(t *testing.T) {
	c := card(t, use(t, fake.Options{}), 0)
	f := function(t, c, "reversed")
	p := alloc(t, c, 8*64)
	c.Memset(p, 0, 8*64)
	if err := c.Sync(); err != nil {
		t.Fatal(err)
	}
	c.Launch(f, [3]int{1, 1, 1}, [3]int{2048, 1, 1}, 0, uint64(p), uint64(p))
	c.Memset(p, 1, 8*64)
	err := c.Sync()
	var e *driver.Error
	if !errors.As(err, &e) || e.Code != 1 || !strings.Contains(err.Error(), "reversed") || !strings.Contains(err.Error(), "fake card 0") {
		t.Fatalf("error %v", err)
	}
	if errors.Is(err, driver.ErrLost) {
		t.Error("the card is not lost")
	}
	got := make([]float64, 64)
	if err := driver.CopyOut(c, got, p); err != nil || got[0] != 0 {
		t.Errorf("afterwards: %g, %v", got[0], err)
	}
	// More shared memory than usual must be asked for.
	c.Launch(f, [3]int{1, 1, 1}, [3]int{64, 1, 1}, 100<<10, uint64(p), uint64(p))
	if err := c.Sync(); err == nil {
		t.Error("100 KiB of shared memory were granted")
	}
	if err := f.SetSharedLimit(100 << 10); err != nil {
		t.Fatal(err)
	}
	c.Launch(f, [3]int{1, 1, 1}, [3]int{64, 1, 1}, 100<<10, uint64(p), uint64(p))
	if err := c.Sync(); err != nil {
		t.Error(err)
	}
	if err := f.SetSharedLimit(1 << 20); err == nil {
		t.Error("1 MiB of shared memory was granted")
	}
	c.Free(p)
}

func TestLostCard(t *testing.T) {
	d := use(t, fake.Options{Cards: 2, FailAt: 3, FailCard: 2})
	sound := card(t, d, 0)
	c, err := d.Card(1)
	if err != nil {
		t.Fatal(err)
	}
	run := func(c *driver.Card) error {
		f := function(t, c, "reversed")
		p := alloc(t, c, 8*64)
		c.Memset(p, 0, 8*64)
		for range 5 {
			c.Launch(f, [3]int{1, 1, 1}, [3]int{64, 1, 1}, 0, uint64(p), uint64(p))
		}
		return c.Sync()
	}
	if err := run(c); !errors.Is(err, driver.ErrLost) || errors.Is(err, driver.ErrOutOfMemory) {
		t.Fatalf("error %v", err)
	}
	// It stays lost, whatever is asked.
	if err := c.Sync(); !errors.Is(err, driver.ErrLost) {
		t.Errorf("second Sync: %v", err)
	}
	if err := driver.CopyOut(c, make([]float64, 1), 8); !errors.Is(err, driver.ErrLost) {
		t.Errorf("CopyOut: %v", err)
	}
	if _, err := c.Alloc(8); !errors.Is(err, driver.ErrLost) {
		t.Errorf("Alloc: %v", err)
	}
	if err := run(sound); err != nil {
		t.Errorf("the other card: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	// Closing reset it.
	again := card(t, use(t, fake.Options{Cards: 2}), 1)
	if err := run(again); err != nil {
		t.Errorf("after a reset: %v", err)
	}
}

func TestOutOfMemory(t *testing.T) {
	c := card(t, use(t, fake.Options{Memory: 1 << 20}), 0)
	p := alloc(t, c, 600<<10)
	_, err := c.Alloc(600 << 10)
	if !errors.Is(err, driver.ErrOutOfMemory) || errors.Is(err, driver.ErrLost) || !strings.Contains(err.Error(), "1048576") {
		t.Fatalf("error %v", err)
	}
	free, total, err := c.MemInfo()
	if err != nil || total != 1<<20 || free != 424<<10 {
		t.Errorf("%d of %d bytes free, %v", free, total, err)
	}
	// What is given back can be taken again, and nothing else was harmed.
	c.Free(p)
	p = alloc(t, c, 600<<10)
	if err := c.Sync(); err != nil {
		t.Error(err)
	}
	if c.InUse() != 600<<10 {
		t.Errorf("%d bytes in use", c.InUse())
	}
	c.Free(p)
}

// What is freed while a failure is kept is free afterwards.
func TestFreeAfterFailure(t *testing.T) {
	c := card(t, use(t, fake.Options{Memory: 1 << 20}), 0)
	f := function(t, c, "reversed")
	p := alloc(t, c, 600<<10)
	c.Launch(f, [3]int{1, 1, 1}, [3]int{2048, 1, 1}, 0, uint64(p), uint64(p))
	if c.Err() == nil {
		t.Fatal("no failure is kept")
	}
	c.Free(p)
	if err := c.Sync(); err == nil {
		t.Error("the failure is not told")
	}
	if free, _, err := c.MemInfo(); err != nil || free != 1<<20 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	c.Free(alloc(t, c, 600<<10))
	if err := c.Sync(); err != nil {
		t.Error(err)
	}
}

// Sync waits also where it has a failure to tell, and does not forget the loss of
// the card behind it.
func TestSyncWaitsAfterFailure(t *testing.T) {
	d := use(t, fake.Options{FailAt: 2})
	c, err := d.Card(0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f := function(t, c, "reversed")
	p := alloc(t, c, 8*64)
	for range 2 {
		c.Launch(f, [3]int{1, 1, 1}, [3]int{64, 1, 1}, 0, uint64(p), uint64(p))
	}
	c.Launch(f, [3]int{1, 1, 1}, [3]int{2048, 1, 1}, 0, uint64(p), uint64(p)) // refused at once
	if err := c.Sync(); !errors.Is(err, driver.ErrLost) || !strings.Contains(err.Error(), "invalid argument") {
		t.Errorf("Sync returns %v", err)
	}
	if err := c.Sync(); !errors.Is(err, driver.ErrLost) {
		t.Errorf("the second Sync returns %v", err)
	}
}

// Copies work, or say why not, where the memory that they go through cannot be
// had at first.
func TestCopiesWithoutEvents(t *testing.T) {
	for _, event := range []int{1, 3} {
		t.Run(fmt.Sprint(event), func(t *testing.T) {
			c := card(t, use(t, fake.Options{Events: event}), 0)
			p := alloc(t, c, 8)
			driver.CopyIn(c, p, []float64{1})
			if err := c.Sync(); !errors.Is(err, driver.ErrOutOfMemory) {
				t.Error(err)
			}
			driver.CopyIn(c, p, []float64{2})
			got := make([]float64, 1)
			if err := driver.CopyOut(c, got, p); err != nil || got[0] != 2 {
				t.Errorf("afterwards: %v, %v", got, err)
			}
			c.Free(p)
		})
	}
}

// The errors are those of package device, too.
func TestSentinels(t *testing.T) {
	if !errors.Is(driver.ErrOutOfMemory, device.ErrOutOfMemory) || !errors.Is(driver.ErrLost, device.ErrLost) {
		t.Error("the sentinels do not wrap those of package device")
	}
	for code, want := range map[int]error{2: device.ErrOutOfMemory, 719: device.ErrLost} {
		if err := error(&driver.Error{Code: code}); !errors.Is(err, want) || errors.Is(err, device.ErrLost) != (code == 719) {
			t.Errorf("error %d is not %v", code, want)
		}
	}
}
