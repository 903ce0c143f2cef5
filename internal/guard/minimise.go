package guard

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/optimize"
)

// Minimise is optimize.Minimize by L-BFGS for a program that must not end by a
// mistake in an objective. gonum evaluates the problem on one goroutine of its
// own and steps on another, where nobody recovers; the status it asks for on the
// caller's, which a panic would leave with those two waiting for ever. Here a
// panic on any of them ends the optimisation with a PanicError. p.Func and p.Grad
// must be there.
//
// The only others that gonum starts for this program are those of a large product
// of matrices (blas/gonum, dgemmParallel). They run nothing of ours, on blocks
// whose bounds Dgemm has checked on the caller's goroutine.
func Minimise(p optimize.Problem, start []float64, s *optimize.Settings, m *optimize.LBFGS) (*optimize.Result, error) {
	var c catcher
	f, grad, status := p.Func, p.Grad, p.Status
	p.Func = func(x []float64) float64 {
		value := math.NaN()
		c.do(func() error { value = f(x); return nil })
		return value
	}
	p.Grad = func(dst, x []float64) {
		c.do(func() error { grad(dst, x); return nil })
	}
	// It is asked after every evaluation.
	p.Status = func() (s optimize.Status, err error) {
		if status != nil {
			c.do(func() error { s, err = status(); return nil })
		}
		if caught := c.err(); caught != nil {
			return optimize.Failure, caught
		}
		return s, err
	}
	result, err := optimize.Minimize(p, start, s, &guardedMethod{m, &c})
	if caught := c.err(); caught != nil {
		return nil, caught
	}
	return result, err
}

// catcher keeps the first panic of several goroutines and does nothing more
// after it.
type catcher struct {
	mu    sync.Mutex
	first error
}

func (c *catcher) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first
}

// do reports whether f ended without a panic, in this call and all before.
func (c *catcher) do(f func() error) bool {
	if c.err() != nil {
		return false
	}
	err := Do(f)
	if err == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		c.first = err
	}
	return false
}

// guardedMethod is a method that ends as if it had converged where it panics.
type guardedMethod struct {
	*optimize.LBFGS
	caught *catcher
}

// Run implements optimize.Method. What panics is the choice of the next
// operation, so none is under way then: done is said, what comes is read up to
// its end, and no more operations follow, as localOptimizer.finishMethodDone in
// gonum has it.
func (m *guardedMethod) Run(operations chan<- optimize.Task, results <-chan optimize.Task, tasks []optimize.Task) {
	if m.caught.do(func() error { m.LBFGS.Run(operations, results, tasks); return nil }) {
		return
	}
	operations <- optimize.Task{Op: optimize.MethodDone, Location: tasks[0].Location}
	for range results {
	}
	close(operations)
}

// Status implements optimize.Statuser.
func (m *guardedMethod) Status() (optimize.Status, error) {
	if err := m.caught.err(); err != nil {
		return optimize.Failure, err
	}
	return m.LBFGS.Status()
}
