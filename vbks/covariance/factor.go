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
	u, err := factor(dev, lane, x, p, raw, noise)
	if err != nil {
		return nil, fmt.Errorf("covariance of %d rows: %w", len(x)/p.Dim, err)
	}
	return u, nil
}

func factor(dev device.Device, lane device.Lane, x []float64, p *kernelspace.Program, raw []float64, noise float64) (*mat.TriDense, error) {
	data, err := dev.NewData(x, nil, p.Dim)
	if err != nil {
		return nil, err
	}
	ks, err := lane.NewKernels([]*kernelspace.Program{p})
	if err != nil {
		return nil, err
	}
	defer lane.Free(ks)
	n, sub := data.Rows(), []int{0}
	var k, theta, info device.Array
	for _, a := range []struct {
		array      *device.Array
		rows, cols int
	}{{&k, n, n}, {&theta, 1, ks.Params()}, {&info, 1, 1}} {
		if *a.array, err = lane.NewArray(1, a.rows, a.cols); err != nil {
			return nil, err
		}
		defer lane.Free(*a.array)
	}
	values := make([]float64, ks.Params())
	copy(values, raw)
	values[len(values)-1] = noise
	lane.Write(theta, 0, values)
	all := device.All(data)
	lane.Kernel(sub, ks, theta, all, all, k)
	lane.AddDiagonal(sub, k, noise)
	lane.Cholesky(sub, k, info)
	failed, lower, upper := make([]float64, 1), make([]float64, n*n), make([]float64, n*n)
	if err := lane.Read(info, 0, failed); err != nil || failed[0] != 0 {
		return nil, err
	}
	if err := lane.Read(k, 0, lower); err != nil {
		return nil, err
	}
	for i := range n {
		for j, v := range lower[i*n : i*n+i+1] {
			upper[j*n+i] = v
		}
	}
	return mat.NewTriDense(n, mat.Upper, upper), nil
}
