// Package covariance factorises covariance matrices of rows on a device.
package covariance

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// Factor returns U of
//
//	k(X,X) + σ_n²I = UᵀU
//
// for rows x at raw parameters, nil where that is not positive definite.
func Factor(dev device.Device, lane device.Lane, x []float64, p *kernelspace.Program, raw []float64, noise float64) (*mat.TriDense, error) {
	var upper []float64
	n := len(x) / p.Dim
	err := with(dev, lane, x, p, raw, noise, func(k device.Array) error {
		info, err := lane.NewArray(1, 1, 1)
		if err != nil {
			return err
		}
		defer lane.Free(info)
		lane.AddDiagonal([]int{0}, k, noise)
		lane.Cholesky([]int{0}, k, info)
		failed, lower := make([]float64, 1), make([]float64, n*n)
		if err := lane.Read(info, 0, failed); err != nil || failed[0] != 0 {
			return err
		}
		if err := lane.Read(k, 0, lower); err != nil {
			return err
		}
		upper = make([]float64, n*n)
		for i := range n {
			for j, v := range lower[i*n : i*n+i+1] {
				upper[j*n+i] = v
			}
		}
		return nil
	})
	if err != nil || upper == nil {
		return nil, err
	}
	return mat.NewTriDense(n, mat.Upper, upper), nil
}

// Values returns k(X,X) for rows x at raw parameters, row by row.
func Values(dev device.Device, lane device.Lane, x []float64, p *kernelspace.Program, raw []float64) ([]float64, error) {
	n := len(x) / p.Dim
	out := make([]float64, n*n)
	return out, with(dev, lane, x, p, raw, 0, func(k device.Array) error { return lane.Read(k, 0, out) })
}

// with has what takes k(X,X) do so.
func with(dev device.Device, lane device.Lane, x []float64, p *kernelspace.Program, raw []float64, noise float64,
	take func(k device.Array) error,
) error {
	if err := computed(dev, lane, x, p, raw, noise, take); err != nil {
		return fmt.Errorf("covariance of %d rows: %w", len(x)/p.Dim, err)
	}
	return nil
}

func computed(dev device.Device, lane device.Lane, x []float64, p *kernelspace.Program, raw []float64, noise float64,
	take func(k device.Array) error,
) error {
	data, err := dev.NewData(x, nil, p.Dim)
	if err != nil {
		return err
	}
	ks, err := lane.NewKernels([]*kernelspace.Program{p})
	if err != nil {
		return err
	}
	defer lane.Free(ks)
	n := data.Rows()
	var k, theta device.Array
	for _, a := range []struct {
		array      *device.Array
		rows, cols int
	}{{&k, n, n}, {&theta, 1, ks.Params()}} {
		if *a.array, err = lane.NewArray(1, a.rows, a.cols); err != nil {
			return err
		}
		defer lane.Free(*a.array)
	}
	values := make([]float64, ks.Params())
	copy(values, raw)
	values[len(values)-1] = noise
	lane.Write(theta, 0, values)
	all := device.All(data)
	lane.Kernel([]int{0}, ks, theta, all, all, k)
	return take(k)
}
