//go:build cuda

package driver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Environment variables that name a library, instead of the usual places.
const (
	CUDAVariable   = "KESTREL_CUDA_LIBRARY"
	NVRTCVariable  = "KESTREL_NVRTC_LIBRARY"
	CUBLASVariable = "KESTREL_CUBLAS_LIBRARY"
)

// newest is the newest generation of CUDA that is looked for.
const newest = 14

// cudaPlaces lists where libcuda may be: where the loader looks, then where
// containers and WSL put it.
func cudaPlaces() []string {
	if path := os.Getenv(CUDAVariable); path != "" {
		return []string{path}
	}
	return []string{"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}
}

// toolkitPlaces lists where a library of the toolkit may be, by falling
// preference for its names: the loader's own places, the toolkit's folder,
// and NVIDIA's wheels for Python, each of which has a folder of its own up to
// CUDA 12 and a common one from 13 on.
func toolkitPlaces(variable string, names ...string) []string {
	if path := os.Getenv(variable); path != "" {
		return []string{path}
	}
	var folders []string
	if home := os.Getenv("CUDA_HOME"); home != "" {
		folders = append(folders, filepath.Join(home, "lib64"), filepath.Join(home, "lib"))
	}
	folders = append(folders, "/usr/local/cuda/lib64", "/opt/cuda/lib64")
	if nvcc, err := exec.LookPath("nvcc"); err == nil {
		if nvcc, err = filepath.EvalSymlinks(nvcc); err == nil {
			folders = append(folders, filepath.Join(nvcc, "..", "..", "lib64"))
		}
	}
	for _, site := range sitePackages() {
		wheels, _ := filepath.Glob(filepath.Join(site, "nvidia", "*", "lib"))
		folders = append(folders, wheels...)
	}
	var places []string
	for _, name := range names {
		places = append(places, name)
		for _, folder := range folders {
			path := filepath.Join(folder, name)
			if _, err := os.Stat(path); err == nil {
				places = append(places, path)
			}
		}
	}
	return places
}

// generations lists the names of a library by falling preference: of the
// generation major and older ones, then newer ones; 0 takes the newest first.
func generations(name string, major int) []string {
	var suits, newer []string
	for g := newest; g >= 12; g-- {
		if full := fmt.Sprintf("%s.%d", name, g); major == 0 || g <= major {
			suits = append(suits, full)
		} else {
			newer = append(newer, full)
		}
	}
	return append(append(suits, newer...), name)
}

// sitePackages lists the folders of Python's packages that are easily found: the
// active environment's, that of the python3 which a shell would start, the
// user's, the system's.
func sitePackages() []string {
	var roots []string
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if root := os.Getenv(variable); root != "" {
			roots = append(roots, root)
		}
	}
	// An environment's python3 is a link to the system's, which says nothing of it.
	if python, err := exec.LookPath("python3"); err == nil {
		roots = append(roots, filepath.Join(python, "..", ".."))
	}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, ".local"))
	}
	roots = append(roots, "/usr/local", "/usr")
	var folders []string
	for _, root := range roots {
		for _, pattern := range []string{"lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages"} {
			found, _ := filepath.Glob(filepath.Join(root, pattern))
			folders = append(folders, found...)
		}
	}
	return append(folders, filepath.SplitList(os.Getenv("PYTHONPATH"))...)
}

// firstOf opens the first of places that open takes. Where there is none the
// error says in one list what is not there, and of the others why not.
func firstOf(places []string, open func(path string) error) (string, error) {
	var reasons, missing []string
	for _, path := range places {
		err := open(path)
		switch {
		case err == nil:
			return path, nil
		case strings.HasPrefix(err.Error(), path+": cannot open shared object file: No such file"): // the loader's words
			missing = append(missing, path)
		default:
			reasons = append(reasons, err.Error())
		}
	}
	if missing != nil {
		reasons = append(reasons, "there is no "+strings.Join(missing, ", "))
	}
	return "", errors.New(strings.Join(reasons, "; "))
}
