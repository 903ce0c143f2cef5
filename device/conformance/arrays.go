package conformance

import (
	"math"

	"example.com/kestrel/device"
)

func testArrays(h *harness) {
	a := h.array(3, 4, 5)
	if n, r, c := a.Shape(); n != 3 || r != 4 || c != 5 {
		h.Fatalf("shape %d x (%d x %d)", n, r, c)
	}
	for k := range 3 {
		h.equal("a new array", h.read(a, k), make([]float64, 20))
	}
	// Within the capacity any shape will do, also one of more rows.
	for _, s := range [][2]int{{2, 3}, {10, 2}, {1, 20}, {0, 7}, {4, 5}} {
		a.Reshape(s[0], s[1])
		h.shape("Reshape", a, s[0], s[1])
		want := make([][]float64, 3)
		for k := range want {
			want[k] = make([]float64, s[0]*s[1])
			for i := range want[k] {
				want[k][i] = float64(100*k + i)
			}
			h.lane.Write(a, k, want[k])
		}
		for k := range want {
			h.equal("written and read", h.read(a, k), want[k])
		}
	}
	h.check(h.lane.Sync())
	func() {
		defer func() {
			if recover() == nil {
				h.Error("no panic beyond the capacity")
			}
		}()
		a.Reshape(3, 7)
	}()
	x := h.index(3, 1, 2)
	if x.Len() != 3 {
		h.Errorf("index of %d rows, want 3", x.Len())
	}
	d := h.data([]float64{1, 2, 3, 4, 5, 6}, nil, 2)
	if d.Rows() != 3 || d.Dim() != 2 {
		h.Errorf("data of %d rows x %d columns, want 3 x 2", d.Rows(), d.Dim())
	}
	if n := device.All(d).Len(); n != 3 {
		h.Errorf("all points: %d", n)
	}
}

func testElementwise(h *harness) {
	l := h.lane
	for _, n := range []int{1, 2, 15, 16, 17, 31, 64, 127} {
		h.verify(operation{
			name: "Copy", args: []arg{out(n, 3), in(n, 3)},
			run: func(sub []int, a []device.Array) { l.Copy(sub, a[0], a[1]) },
			ref: func(a [][]float64) { copy(a[0], a[1]) },
		})
		h.verify(operation{
			name: "Fill", args: []arg{in(n, 3)},
			run: func(sub []int, a []device.Array) { l.Fill(sub, a[0], -2.5) },
			ref: func(a [][]float64) {
				for i := range a[0] {
					a[0][i] = -2.5
				}
			},
		})
		h.verify(operation{
			name: "Transpose", args: []arg{out(n, 33), in(33, n)},
			run: func(sub []int, a []device.Array) { l.Transpose(sub, a[0], a[1]) },
			ref: func(a [][]float64) {
				for i := range n {
					for j := range 33 {
						a[0][i*33+j] = a[1][j*n+i]
					}
				}
			},
		})
		h.verify(operation{
			name: "AddScaled", args: []arg{in(n, 5), in(n, 5)},
			run: func(sub []int, a []device.Array) { l.AddScaled(sub, a[0], -0.25, a[1]) },
			ref: func(a [][]float64) {
				for i := range a[0] {
					a[0][i] -= 0.25 * a[1][i]
				}
			},
		})
		h.verify(operation{
			name: "AddDiagonal", args: []arg{in(n, n)},
			run: func(sub []int, a []device.Array) { l.AddDiagonal(sub, a[0], 3) },
			ref: func(a [][]float64) {
				for i := range n {
					a[0][i*n+i] += 3
				}
			},
		})
		h.verify(operation{
			name: "Triangle", args: []arg{in(n, n)},
			run: func(sub []int, a []device.Array) { l.Triangle(sub, a[0], 0.5) },
			ref: func(a [][]float64) {
				for i := range n {
					for j := range n {
						if i == j {
							a[0][i*n+j] *= 0.5
						} else if j > i {
							a[0][i*n+j] = 0
						}
					}
				}
			},
		})
		for _, squares := range []bool{false, true} {
			h.verify(operation{
				name: "Sum", args: []arg{in(n, 7), in(1, 1)}, tol: 1e-10,
				run: func(sub []int, a []device.Array) { l.Sum(sub, squares, a[0], a[1]) },
				ref: func(a [][]float64) {
					for _, v := range a[0] {
						if squares {
							v *= v
						}
						a[1][0] += v
					}
				},
			})
		}
		h.verify(operation{
			name: "Dot", args: []arg{in(n, 7), in(n, 7), in(1, 1)}, tol: 1e-10,
			run: func(sub []int, a []device.Array) { l.Dot(sub, a[0], a[1], a[2]) },
			ref: func(a [][]float64) {
				for i, v := range a[0] {
					a[2][0] += v * a[1][i]
				}
			},
		})
	}
	// Triangle removes what is not finite above the diagonal.
	a := h.upload([][]float64{{1, math.NaN(), 2, 3}}, 2, 2)
	l.Triangle([]int{0}, a, 1)
	h.equal("Triangle", h.read(a, 0), []float64{1, 0, 2, 3})
}
