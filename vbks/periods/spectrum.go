package periods

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// spectrum holds the moments of a series that a least-squares periodogram
// needs, at the frequencies f_k = k·df. With t the input scaled to [−1, 1],
// ω_k = 2π f_k and phases counted from the least x:
//
//	mask[j][k] = Σ_i t_iʲ exp(−iω_k x_i),      k = 0, …, 2K,  j = 0, 1, 2, 3 (3: to K)
//	data[j][k] = Σ_i t_iʲ y_i exp(−iω_k x_i),  k = 0, …, K,   j = 0, 1
//
// From these follow, at every frequency, the normal equations of the model
//
//	a₀ + a₁t + a₂t² + (a₃ + a₅t) cos ωx + (a₄ + a₆t) sin ωx:
//
// the generalised Lomb–Scargle periodogram (Zechmeister and Kürster, A&A 496,
// 2009) with a quadratic trend, which removed beforehand would bias long
// periods, and an amplitude that may change linearly, as in the products
// LIN × PER.
type spectrum struct {
	df   float64
	span float64
	k    int // K
	low  int // the lowest index searched
	mask [4][]complex128
	data [2][]complex128
	t4   float64 // Σ t⁴
	t2y  float64 // Σ t² y
	yy   float64 // Σ y² of what is left
	all  float64 // Σ y² at the beginning
	n    float64
}

// oversampling is the number of frequencies per 1/span.
const oversampling = 4

// sampling describes the inputs of a series.
type sampling struct {
	lo, span float64
	distinct int
	step     float64 // of the regular grid that all x lie on; 0: there is none
	cells    int     // of this grid
	gap      float64 // typical distance between neighbours, the lower quartile
}

// sampleOf describes x, which must be finite; ok is false where it is constant.
func sampleOf(x []float64) (s sampling, ok bool) {
	sorted := slices.Clone(x)
	if !slices.IsSorted(sorted) {
		slices.Sort(sorted)
	}
	s.lo = sorted[0]
	s.span = sorted[len(sorted)-1] - s.lo
	if !(s.span > 0) || math.IsInf(s.span, 0) {
		return s, false
	}
	gaps := Gaps(sorted)
	s.distinct = len(gaps) + 1
	s.gap = GapQuantile(gaps, 0.25)
	s.step, s.cells = regularGrid(gaps, s.span)
	return s, true
}

// regularGrid looks for a step of which all gaps are multiples (missing rows
// leave gaps of several steps). Rounded time stamps are tolerated.
func regularGrid(gaps []float64, span float64) (step float64, cells int) {
	const most = 1 << 18 // so that the transforms take less than 100 MB
	step = slices.Min(gaps)
	// The least gap is the one most affected by rounding: count with it
	// first, then divide the range by the count.
	for range 2 {
		var count float64
		for _, g := range gaps {
			count += math.Round(g / step)
		}
		if count > most || count > 256*float64(len(gaps)+1) {
			return 0, 0
		}
		step = span / count
		cells = int(count) + 1
	}
	var x, cell float64
	for _, g := range gaps {
		x += g
		cell += math.Round(g / step)
		if math.Abs(g/step-math.Round(g/step)) > 0.1 || math.Abs(x/step-cell) > 0.25 {
			return 0, 0
		}
	}
	return step, cells
}

// frequencies are those that inputs resolve, f_k = k·df for low ≤ k ≤ K, with the
// transform of weights at the inputs, Σ_i w_i exp(−iω_k x_i) for k = 0, …, most ≤ 2K.
type frequencies struct {
	df        float64
	k, low    int
	transform func(w []float64, most int) []complex128
}

func newFrequencies(x []float64, s sampling) frequencies {
	var f frequencies
	if s.step > 0 {
		l := fftLength(oversampling * s.cells)
		f.df = 1 / (float64(l) * s.step)
		f.k = l/2 - 1 // at the Nyquist frequency itself the sine vanishes
		f.transform = gridTransform(x, s, l)
	} else {
		f.df = 1 / (oversampling * s.span)
		f.k = min(int(0.5/s.gap/f.df), 1<<17)
		// What is needed up to K only takes shorter transforms; many need no others.
		var short, long func(w []float64, most int) []complex128
		f.transform = func(w []float64, most int) []complex128 {
			of, top := &short, f.k
			if most > f.k {
				of, top = &long, 2*f.k
			}
			if *of == nil {
				*of = scatterTransform(x, s.lo, f.df, top)
			}
			return (*of)(w, most)
		}
	}
	// A period of which fewer than one and a half are seen cannot be told from a trend.
	f.low = int(math.Ceil(1.5 / (s.span * f.df)))
	return f
}

// newSpectrum transforms a series whose targets have been detrended.
func newSpectrum(x, y []float64, s sampling) *spectrum {
	sp := &spectrum{span: s.span, n: float64(len(x))}
	for _, v := range y {
		sp.yy += v * v
	}
	sp.all = sp.yy
	t := make([]float64, len(x))
	for i, v := range x {
		t[i] = 2*(v-s.lo)/s.span - 1
	}
	f := newFrequencies(x, s)
	sp.df, sp.k, sp.low = f.df, f.k, f.low
	transform := f.transform
	w := make([]float64, len(x))
	for j := range sp.mask {
		for i := range w {
			w[i] = power(t[i], j)
		}
		top := 2 * sp.k
		if j == 3 {
			top = sp.k
		}
		sp.mask[j] = transform(w, top)
	}
	for i, v := range t {
		sp.t4 += power(v, 4)
		sp.t2y += v * v * y[i]
	}
	for j := range sp.data {
		for i := range w {
			w[i] = power(t[i], j) * y[i]
		}
		sp.data[j] = transform(w, sp.k)
	}
	return sp
}

func power(t float64, j int) float64 {
	p := 1.0
	for range j {
		p *= t
	}
	return p
}

// fftLength returns the least number ≥ n of the form 2^a, 3·2^a, 5·2^a, 9·2^a
// or 15·2^a: the FFT is fastest by factors of 4.
func fftLength(n int) int {
	best := 0
	for _, odd := range [...]int{1, 3, 5, 9, 15} {
		l := 2 * odd
		for l < n {
			l *= 2
		}
		if best == 0 || l < best {
			best = l
		}
	}
	return best
}

// gridTransform returns a function that computes Σ_i w_i exp(−iω_k x_i) for
// k = 0, …, most < l by an FFT of length l over the cells of the grid.
func gridTransform(x []float64, s sampling, l int) func(w []float64, most int) []complex128 {
	fft := fourier.NewFFT(l)
	cell := make([]int32, len(x))
	for i, v := range x {
		cell[i] = int32(math.Round((v - s.lo) / s.step))
	}
	seq := make([]float64, l)
	return func(w []float64, most int) []complex128 {
		clear(seq)
		for i, c := range cell {
			seq[c] += w[i]
		}
		half := fft.Coefficients(nil, seq)
		if most < len(half) {
			return half[:most+1]
		}
		out := make([]complex128, most+1)
		copy(out, half)
		for k := len(half); k <= most; k++ {
			out[k] = complex(real(half[l-k]), -imag(half[l-k]))
		}
		return out
	}
}

// scatterTransform is gridTransform for arbitrary x and k = 0, …, top: every
// point is spread by a Gaussian over the cells of a grid that is twice finer
// than necessary, and the transform is divided by that of the Gaussian
// (Greengard and Lee, SIAM Review 46, 2004; their method of type 1). The
// relative error is about 1e-6.
func scatterTransform(x []float64, lo, df float64, top int) func(w []float64, most int) []complex128 {
	const reach = 6 // cells to either side
	// The width at which the error from cutting the Gaussian off, reach²/2s²,
	// equals that from aliasing at twice the necessary resolution, π²s².
	const s2 = reach / (math.Pi * math.Sqrt2)
	var weights [reach + 1]float64
	for j := range weights {
		weights[j] = math.Exp(-float64(j*j) / (2 * s2))
	}
	l := fftLength(4*top + 4*reach)
	fft := fourier.NewFFT(l)
	// exp(−(j−d)²/2s²) = exp(−d²/2s²) exp(d/s²)ʲ exp(−j²/2s²), d = u − c.
	type spread struct {
		cell  int
		g, up float64
	}
	at := make([]spread, len(x))
	for i, v := range x {
		u := (v - lo) * df * float64(l)
		c := int(math.Round(u))
		d := u - float64(c)
		at[i] = spread{c, math.Exp(-d * d / (2 * s2)), math.Exp(d / s2)}
	}
	gauss := make([]float64, top+1) // its transform
	for k := range gauss {
		nu := float64(k) / float64(l)
		gauss[k] = math.Sqrt(2*math.Pi*s2) * math.Exp(-2*math.Pi*math.Pi*s2*nu*nu)
	}
	seq, half := make([]float64, l), make([]complex128, l/2+1)
	return func(w []float64, most int) []complex128 {
		clear(seq)
		for i, p := range at {
			c, down := p.cell, 1/p.up
			seq[c] += w[i] * p.g
			right, left := w[i]*p.g, w[i]*p.g
			for j := 1; j <= reach; j++ {
				right *= p.up
				left *= down
				e := weights[j]
				seq[(c+j)%l] += right * e
				seq[(c-j+l)%l] += left * e
			}
		}
		fft.Coefficients(half, seq)
		out := make([]complex128, most+1)
		for k := range out {
			out[k] = complex(real(half[k])/gauss[k], imag(half[k])/gauss[k])
		}
		return out
	}
}

// terms is the number of the model's coefficients, of which the first three
// are the trend's.
const terms = 7

// powers returns the shares of the initial sum of squares that a sinusoid
// (fixed) and one of linearly changing amplitude (changing) explain at index k
// of what is left, beyond the trend.
func (sp *spectrum) powers(k int) (fixed, changing float64) {
	_, z := sp.solve(k)
	fixed = z[3]*z[3] + z[4]*z[4]
	changing = fixed + z[5]*z[5] + z[6]*z[6]
	return fixed / sp.all, changing / sp.all
}

// solve forms the normal equations at index k for the basis 1, t, t², cos,
// sin, t cos, t sin and returns their Cholesky factor and z = L⁻¹b. Directions
// that the data do not determine get z = 0.
func (sp *spectrum) solve(k int) (l [terms][terms]float64, z [terms]float64) {
	at := func(j int) (c, s float64) { v := sp.mask[j][k]; return real(v), -imag(v) }
	total := func(j int) float64 { return real(sp.mask[j][0]) }
	// Σ tʲ cos², Σ tʲ cos sin and Σ tʲ sin² from twice the frequency.
	quad := func(j int) (cc, cs, ss float64) {
		v := sp.mask[j][2*k]
		return (total(j) + real(v)) / 2, -imag(v) / 2, (total(j) - real(v)) / 2
	}
	var g [terms][terms]float64 // lower triangle
	g[0][0] = total(0)
	g[1][0], g[1][1] = total(1), total(2)
	g[2][0], g[2][1], g[2][2] = total(2), total(3), sp.t4
	for j := range 3 {
		g[3][j], g[4][j] = at(j)
		g[5][j], g[6][j] = at(j + 1)
	}
	g[3][3], g[4][3], g[4][4] = quad(0)
	g[5][3], g[5][4], g[6][4] = quad(1)
	g[6][3] = g[5][4]
	g[5][5], g[6][5], g[6][6] = quad(2)
	y0, y1 := sp.data[0][k], sp.data[1][k]
	b := [terms]float64{
		real(sp.data[0][0]), real(sp.data[1][0]), sp.t2y,
		real(y0), -imag(y0), real(y1), -imag(y1),
	}
	for i := range terms {
		for j := 0; j <= i; j++ {
			sum := g[i][j]
			for q := range j {
				sum -= l[i][q] * l[j][q]
			}
			if i > j {
				if l[j][j] > 0 {
					l[i][j] = sum / l[j][j]
				}
				continue
			}
			// What is left below this may be the transform's error.
			if sum > 1e-4*g[i][i] {
				l[i][i] = math.Sqrt(sum)
			}
		}
		if l[i][i] == 0 {
			continue
		}
		sum := b[i]
		for q := range i {
			sum -= l[i][q] * z[q]
		}
		z[i] = sum / l[i][i]
	}
	return l, z
}

// coefficients returns the least-squares coefficients, a = L⁻ᵀz.
func coefficients(l [terms][terms]float64, z [terms]float64) (a [terms]float64) {
	for i := terms - 1; i >= 0; i-- {
		if l[i][i] == 0 {
			continue
		}
		sum := z[i]
		for q := i + 1; q < terms; q++ {
			sum -= l[q][i] * a[q]
		}
		a[i] = sum / l[i][i]
	}
	return a
}

// remove subtracts from the series the best sinusoid of linearly changing
// amplitude at index k, together with its trend (CLEAN; Roberts, Lehár and
// Dreher, AJ 93, 1987), which takes the side lobes of the peak away. Since k
// is a whole number, a product with exp(iω_k x) only shifts a transform.
func (sp *spectrum) remove(k int) {
	l, z := sp.solve(k)
	a := coefficients(l, z)
	for _, v := range z {
		sp.yy -= v * v
	}
	sp.yy = max(0, sp.yy)
	re := func(j int) float64 { return real(sp.mask[j][k]) }
	im := func(j int) float64 { return imag(sp.mask[j][k]) }
	sp.t2y -= a[0]*real(sp.mask[2][0]) + a[1]*real(sp.mask[3][0]) + a[2]*sp.t4 +
		a[3]*re(2) - a[4]*im(2) + a[5]*re(3) - a[6]*im(3)
	// (a₃ + a₅t) cos + (a₄ + a₆t) sin = Re[(p + qt) exp(iωx)], p = a₃ − ia₄, q = a₅ − ia₆;
	// half of each:
	pr, pi, qr, qi := a[3]/2, -a[4]/2, a[5]/2, -a[6]/2
	for j := range sp.data {
		m0, m1, m2 := sp.mask[j], sp.mask[j+1], sp.mask[j+2]
		out := sp.data[j]
		for i := range out {
			re := a[0]*real(m0[i]) + a[1]*real(m1[i]) + a[2]*real(m2[i])
			im := a[0]*imag(m0[i]) + a[1]*imag(m1[i]) + a[2]*imag(m2[i])
			// The mask at i − k with the coefficients, at i + k with their conjugates.
			down, sign := i-k, 1.0
			if down < 0 {
				down, sign = -down, -1
			}
			lr0, li0 := real(m0[down]), sign*imag(m0[down])
			lr1, li1 := real(m1[down]), sign*imag(m1[down])
			ur0, ui0 := real(m0[i+k]), imag(m0[i+k])
			ur1, ui1 := real(m1[i+k]), imag(m1[i+k])
			re += pr*(lr0+ur0) - pi*(li0-ui0) + qr*(lr1+ur1) - qi*(li1-ui1)
			im += pr*(li0+ui0) + pi*(lr0-ur0) + qr*(li1+ui1) + qi*(lr1-ur1)
			out[i] -= complex(re, im)
		}
	}
}

// strongest returns the index of the greatest power of changing amplitude, and
// this power; k = 0 where none exceeds least.
func (sp *spectrum) strongest(least float64) (k int, share float64) {
	share = least
	// A cheap estimate decides where the normal equations are worth solving;
	// it would be exact for inputs spread evenly.
	scale := 2 / (sp.n * sp.all)
	for i := sp.low; i <= sp.k; i++ {
		y0, y1 := sp.data[0][i], sp.data[1][i]
		guess := scale * (real(y0)*real(y0) + imag(y0)*imag(y0) + 3*(real(y1)*real(y1)+imag(y1)*imag(y1)))
		if guess < share/2 {
			continue
		}
		if _, p := sp.powers(i); p > share {
			k, share = i, p
		}
	}
	return k, share
}

// refine returns the frequency near index k at which the power is greatest, by
// a parabola through the three greatest neighbours. A changing amplitude makes
// the peak broad (and, if the sign changes, is needed to see it in one piece);
// where a fixed amplitude does as well by the Bayesian information criterion,
// its sharper peak counts.
func (sp *spectrum) refine(k int) float64 {
	const reach = oversampling * 3 / 4
	lo, hi := max(1, k-reach), min(sp.k, k+reach)
	fixed := make([]float64, hi-lo+1)
	changing := make([]float64, hi-lo+1)
	best := 0
	for i := range fixed {
		fixed[i], changing[i] = sp.powers(lo + i)
		if fixed[i] > fixed[best] {
			best = i
		}
	}
	left := sp.yy / sp.all
	at, p := k-lo, changing
	if sp.n*math.Log(max(left-fixed[best], 1e-12)/max(left-changing[at], 1e-12)) < 2*math.Log(sp.n) {
		at, p = best, fixed
	}
	f := float64(lo + at)
	if at > 0 && at < len(p)-1 {
		curve := 2*p[at] - p[at-1] - p[at+1]
		if curve > 0 {
			f += min(0.5, max(-0.5, (p[at+1]-p[at-1])/(2*curve)))
		}
	}
	return f * sp.df
}
