//go:build cuda

package driver

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The toolkit that nvcc belongs to and the environment that python3 belongs to
// are looked into, though nothing but PATH names them.
func TestToolkitOnPath(t *testing.T) {
	root := t.TempDir()
	file := func(mode os.FileMode, parts ...string) string {
		path := filepath.Join(append([]string{root}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const name = "libnvrtc.so.13"
	want := []string{
		file(0o644, "cuda-13.0", "lib64", name),
		file(0o644, "venv", "lib", "python3.12", "site-packages", "nvidia", "cu13", "lib", name),
	}
	nvcc := file(0o755, "cuda-13.0", "bin", "nvcc")
	python := file(0o755, "venv", "bin", "python3")
	links := filepath.Join(root, "bin")
	if err := os.Mkdir(links, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(nvcc, filepath.Join(links, "nvcc")); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{NVRTCVariable, "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"} {
		t.Setenv(v, "")
	}
	t.Setenv("PATH", links+string(filepath.ListSeparator)+filepath.Dir(python))
	places := toolkitPlaces(NVRTCVariable, name)
	for _, path := range want {
		if !slices.Contains(places, path) {
			t.Errorf("%s is not among %q", path, places)
		}
	}
}
