//go:build cuda

package driver_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
)

func TestCompileErrors(t *testing.T) {
	c := card(t, use(t, fake.Options{}), 0)
	_, err := c.Compile("wrong.cu", "extern \"C\" __global__ void k() {\n  unknown_name = 3;\n}\n")
	if err == nil || !strings.Contains(err.Error(), "wrong.cu:2") || !strings.Contains(err.Error(), "unknown_name") {
		t.Fatalf("error %v", err)
	}
	m, err := c.Compile("axpy.cu", axpy)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Function("axpi"); err == nil || !strings.Contains(err.Error(), "axpi") {
		t.Errorf("error %v", err)
	}
	if _, err := c.Load([]byte("nonsense")); err == nil {
		t.Error("nonsense was loaded")
	}
	if err := m.Unload(); err != nil {
		t.Error(err)
	}
}

func TestCache(t *testing.T) {
	c := card(t, use(t, fake.Options{Cache: t.TempDir()}), 0)
	modules := t.TempDir()
	t.Setenv("KESTREL_FAKE_DIR", modules)
	compile := func(source string) error {
		m, err := c.Compile("k.cu", source)
		if err == nil {
			_, err = m.Function("k")
		}
		return err
	}
	source := "extern \"C\" __global__ void k() {}\n"
	if err := compile(source); err != nil {
		t.Fatal(err)
	}
	cxx := func(name string) { t.Setenv("KESTREL_FAKE_CXX", name) }
	cxx("/nowhere/g++")
	if err := compile(source + "\n"); err == nil {
		t.Fatal("another source was found in the cache")
	}
	if err := compile(source); err != nil {
		t.Fatalf("not found in the cache: %v", err)
	}
	files, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "kestrel", "cuda", "*"))
	if len(files) != 1 {
		t.Fatalf("the cache holds %q", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	// A damaged file is compiled anew, as is one whose image the card refuses.
	for _, bad := range [][]byte{text[:len(text)-3], append(slices.Clone(text[:len(text)-3]), "..."...), nil} {
		if err := os.WriteFile(files[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		cxx("/nowhere/g++")
		if err := compile(source); err == nil {
			t.Error("a damaged file was taken")
		}
		cxx("g++")
		if err := compile(source); err != nil {
			t.Error(err)
		}
	}
	objects, _ := filepath.Glob(filepath.Join(modules, "module-*.so"))
	for _, o := range objects {
		os.Remove(o)
	}
	if err := compile(source); err != nil {
		t.Errorf("after its image went: %v", err)
	}
}

// The real compiler, where there is one; no card is needed.
func TestRealCompiler(t *testing.T) {
	if strings.Contains(child(t, "TestChildRealCompiler"), "--- SKIP") {
		t.Skip("no libnvrtc")
	}
}

func TestChildRealCompiler(t *testing.T) {
	inChild(t)
	c, err := driver.OpenCompiler(0)
	if errors.Is(err, driver.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	target := c.Target(90)
	image, err := c.Compile("axpy.cu", axpy, target, "-Xptxas=-v")
	if err != nil {
		t.Fatal(err)
	}
	if target != "sm_90" || string(image.Code[:4]) != "\x7fELF" {
		t.Errorf("the code for %s begins with %q", target, image.Code[:4])
	}
	if !strings.Contains(image.Log, "0 bytes spill stores") {
		t.Errorf("log %q", image.Log)
	}
	image, err = c.Compile("axpy.cu", axpy, "compute_80")
	if err != nil || !strings.Contains(string(image.Code), ".target sm_80") || strings.ContainsRune(string(image.Code), 0) {
		t.Errorf("PTX %.200s, %v", image.Code, err)
	}
	if _, err := c.Compile("wrong.cu", "__global__ void k() { unknown_name = 3; }", target); err == nil ||
		!strings.Contains(err.Error(), "unknown_name") {
		t.Errorf("error %v", err)
	}
	// A card that is newer than the compiler runs PTX of the newest it knows.
	if got := c.Target(99999); !strings.HasPrefix(got, "compute_") || got == "compute_99999" {
		t.Errorf("target of a future card: %s", got)
	}
}
