package vbks

import "example.com/kestrel/device"

// elboEstimate is a kernel's local ELBO, estimated from some of the rows seen.
type elboEstimate struct {
	// Rows holds E_q[log N(y_b; f_b, σ_n²)] of every row.
	Rows     []float64
	KL       float64 // of q(v), and of q(log θ) where there is one
	LogPrior float64 // log p(θ) less the soft bounds, for point estimates
	ELBO     float64 // n·mean(Rows) − KL + LogPrior
}

// estimate computes the local ELBOs of the members sub, for the n rows seen,
// from the rows x. The result is nil for members given up.
func (l *learner) estimate(sub []int, x device.Points, n int, stop stopped) ([]*elboEstimate, error) {
	out := make([]*elboEstimate, len(sub))
	at := positions(sub)
	err := l.attempt(sub, func(sub []int) error {
		for _, k := range sub {
			out[at[k]] = &elboEstimate{Rows: make([]float64, x.Len())}
		}
		l.rule.believe(l, sub)
		weight := 1 / float64(l.draws())
		part := make([]float64, l.svgp.rows)
		for i := range l.draws() {
			l.take(sub, i)
			err := l.pass(sub, x, stop, func(rows device.Points) error {
				l.r.Reshape(1, rows.Len())
				l.lane.RowLikelihood(sub, l.ks, l.theta, rows, l.mu, l.v, l.r)
				for _, k := range sub {
					p := part[:rows.Len()]
					if err := l.lane.Read(l.r, k, p); err != nil {
						return err
					}
					to := out[at[k]].Rows[rows.From-x.From:]
					for b, v := range p {
						to[b] += weight * v
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return l.total(sub, n, func(k int) *elboEstimate { return out[at[k]] })
	})
	if err != nil {
		return nil, err
	}
	for i, k := range sub {
		if l.members[k].err != nil {
			out[i] = nil
		}
	}
	return out, nil
}

// total adds what does not depend on the rows to the estimates.
func (l *learner) total(sub []int, n int, of func(k int) *elboEstimate) error {
	ln := l.lane
	ln.Fill(sub, l.value, 0)
	l.subtractKL(sub)
	for _, k := range sub {
		v, err := l.scalar(l.value, k)
		if err != nil {
			return err
		}
		of(k).KL = -v
	}
	if l.q == nil {
		ln.Fill(sub, l.value, 0)
		ln.LogPrior(sub, l.free, l.mean, l.prec, l.lo, l.hi, l.wall, l.value, nil)
	}
	for _, k := range sub {
		e := of(k)
		if l.q == nil {
			v, err := l.scalar(l.value, k)
			if err != nil {
				return err
			}
			e.LogPrior = v
		} else {
			mean, chol, err := l.believed(k)
			if err != nil {
				return err
			}
			e.KL += thetaKL(mean, chol, l.priors[k])
		}
		var sum float64
		for _, v := range e.Rows {
			sum += v
		}
		e.ELBO = float64(n)*sum/float64(len(e.Rows)) - e.KL + e.LogPrior
		if !finite([]float64{e.ELBO}) {
			l.lane.Write(l.failed, k, []float64{1})
		}
	}
	return nil
}

// predict computes the mean and the variance of f at the points x for the
// members sub, and the mean of σ_n², averaged over θ where it has a belief. The
// entries of members given up are nil.
func (l *learner) predict(sub []int, x device.Points, stop stopped) (mean, variance [][]float64, noise []float64, err error) {
	mean, variance = make([][]float64, len(sub)), make([][]float64, len(sub))
	noise = make([]float64, len(sub))
	at := positions(sub)
	err = l.attempt(sub, func(sub []int) error {
		for _, k := range sub {
			mean[at[k]], variance[at[k]] = make([]float64, x.Len()), make([]float64, x.Len())
			noise[at[k]] = 0
		}
		l.rule.believe(l, sub)
		weight := 1 / float64(l.draws())
		mu, v := make([]float64, l.svgp.rows), make([]float64, l.svgp.rows)
		theta := make([]float64, l.ks.Params())
		for i := range l.draws() {
			l.take(sub, i)
			for _, k := range sub {
				if err := l.lane.Read(l.theta, k, theta); err != nil {
					return err
				}
				noise[at[k]] += weight * theta[len(theta)-1]
			}
			err := l.pass(sub, x, stop, func(rows device.Points) error {
				for _, k := range sub {
					b := rows.Len()
					if err := l.lane.Read(l.mu, k, mu[:b]); err != nil {
						return err
					}
					if err := l.lane.Read(l.v, k, v[:b]); err != nil {
						return err
					}
					from := rows.From - x.From
					mix(mean[at[k]][from:from+b], variance[at[k]][from:from+b], mu, v, 1/float64(i+1))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	for i, k := range sub {
		if l.members[k].err != nil {
			mean[i], variance[i] = nil, nil
		}
	}
	return mean, variance, noise, nil
}

// mix adds a component to the mean and variance of a mixture, of which it is then
// the share w (West's recurrence, with each component's own variance).
func mix(mean, variance, mu, v []float64, w float64) {
	for b := range mean {
		d := mu[b] - mean[b]
		mean[b] += w * d
		variance[b] += w * (v[b] - variance[b] + (1-w)*d*d)
	}
}

// pass computes the marginals at the points x, a chunk at a time, for the θ
// that take has set. stop is asked before every chunk.
func (l *learner) pass(sub []int, x device.Points, stop stopped, visit func(rows device.Points) error) error {
	for rows := range l.chunks(x) {
		if err := stop.ask(); err != nil {
			return err
		}
		l.project(sub, rows)
		l.marginals(sub, rows)
		if err := visit(rows); err != nil {
			return err
		}
	}
	return nil
}

// positions maps members to their places in sub.
func positions(sub []int) map[int]int {
	at := make(map[int]int, len(sub))
	for i, k := range sub {
		at[k] = i
	}
	return at
}
