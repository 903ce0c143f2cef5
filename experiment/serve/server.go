package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/internal/guard"
)

// Limits where nothing else is said.
const (
	MostRows  = 10_000
	MostBytes = 16 << 20
	MostTime  = time.Minute
)

// waiting is how many questions are in hand at once, for each core, which works on one.
const waiting = 8

// Server is an http.Handler that answers with a model. It is safe for concurrent use; its
// fields are set before it serves.
type Server struct {
	http.Handler
	Rows  int           // of a question, at most
	Bytes int64         // of its text
	Time  time.Duration // for its answer
	Local bool          // questions must come by a name of this machine: no page elsewhere whose name leads here asks

	asked      question                // where a question does not say
	predictors chan *inspect.Predictor // those that are free
	hand       chan struct{}           // a place for each question in hand
}

// New returns a server of a model, with a predictor for each core.
func New(m *modelfile.Model) (*Server, error) {
	cores, mux := runtime.GOMAXPROCS(0), http.NewServeMux()
	s := &Server{Handler: mux, Rows: MostRows, Bytes: MostBytes, Time: MostTime}
	s.predictors, s.hand = make(chan *inspect.Predictor, cores), make(chan struct{}, waiting*cores)
	predictors, err := inspect.NewModelPredictors(m, cores)
	if err != nil {
		return nil, err
	}
	for _, p := range predictors {
		d := p.DefaultQuery()
		s.asked = question{Quantiles: d.Quantiles, Method: d.Method, Weights: d.Weights, Top: d.Top, Seed: 1}
		s.predictors <- p
	}
	for path, answer := range map[string]func(w http.ResponseWriter, r *http.Request) (any, error){
		"GET /healthz":  func(http.ResponseWriter, *http.Request) (any, error) { return map[string]string{"status": "ok"}, nil },
		"GET /model":    func(http.ResponseWriter, *http.Request) (any, error) { return &m.About, nil },
		"POST /predict": s.predict,
		"/": func(_ http.ResponseWriter, r *http.Request) (any, error) {
			return nil, refuse(http.StatusNotFound, "there is no %s %s; ask POST /predict, GET /model or GET /healthz", r.Method, r.URL.Path)
		},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			s.write(w, func() (any, error) {
				if s.Local && !IsLoopback(r.Host) {
					return nil, refuse(http.StatusMisdirectedRequest, "%.100q is no name of this machine", r.Host)
				}
				return answer(w, r)
			})
		})
	}
	return s, nil
}

// Close gives the memory back, when no question is in hand any more.
func (s *Server) Close() (all error) {
	for range len(s.predictors) {
		all = errors.Join(all, (<-s.predictors).Close())
	}
	return all
}

// IsLoopback reports whether a host, perhaps with a port, is reached from this machine
// alone.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Serve answers at a listener until ctx ends, then finishes what is in hand, for a while.
func (s *Server) Serve(ctx context.Context, at net.Listener) error {
	const grace = 10 * time.Second
	h := &http.Server{Handler: s, ReadHeaderTimeout: grace, ReadTimeout: s.Time, WriteTimeout: 2*s.Time + grace, MaxHeaderBytes: 16 << 10}
	ended := make(chan error, 1)
	go func() { ended <- guard.Do(func() error { return h.Serve(at) }) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if h.Shutdown(stop) != nil {
		return h.Close()
	}
	return nil
}

// refusal is why there is no answer, with its status.
type refusal struct {
	status int
	error
}

func (r *refusal) Unwrap() error { return r.error }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Errorf(format, args...)}
}

// write writes an answer, or why there is none.
func (s *Server) write(w http.ResponseWriter, ask func() (any, error)) {
	status, text := http.StatusOK, []byte(nil)
	err := guard.Do(func() error {
		answer, err := ask()
		if err == nil {
			text, err = json.Marshal(answer)
		}
		return err
	})
	if err != nil {
		status = http.StatusInternalServerError
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			status, err = http.StatusRequestEntityTooLarge, fmt.Errorf("the question is longer than %d bytes; ask in parts", large.Limit)
		} else if errors.Is(err, context.DeadlineExceeded) {
			status, err = http.StatusServiceUnavailable, fmt.Errorf("no answer within %v; ask for fewer rows", s.Time)
		} else if refused := (*refusal)(nil); errors.As(err, &refused) {
			status = refused.status
		}
		text, _ = json.Marshal(map[string]string{"error": err.Error()}) // a text always can be
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n')) // whoever has gone does not need it
}
