package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/experiment/serve"
	"example.com/kestrel/internal/goroutines"
	"example.com/kestrel/internal/must"
)

// modelOf runs a table and returns the path of its model file. Stamps of the table are
// German, and have a zone; the calendar makes an input of them.
func modelOf(t *testing.T) string {
	t.Helper()
	table := "at,load\n"
	for i := range 72 {
		at := time.Date(2024, 3, 29, i, 0, 0, 0, time.UTC)
		table += fmt.Sprintf("%s,%v\n", at.Format("02.01.2006 15:04+00:00"), 100+10*math.Sin(float64(i)/24*2*math.Pi)+float64(i%5))
	}
	path := filepath.Join(t.TempDir(), "loads.csv")
	must.OK(t, os.WriteFile(path, []byte(table), 0o644))
	var model []byte
	t.Run("model", func(t *testing.T) { // which leaves nothing running
		_, _, dir := runtest.Finished(t, configtest.Plane(t, path, "kernels.expressions=SE[at]+LIN[hour],PER[at]*SE[at]+LIN[at],SE[hour]",
			"data.calendar=hour", "data.zone=Europe/Zurich", "data.transform=log"))
		var err error
		model, err = os.ReadFile(filepath.Join(dir, record.ModelFile))
		must.OK(t, err)
	})
	path = filepath.Join(t.TempDir(), "m.kestrel")
	must.OK(t, os.WriteFile(path, model, 0o644))
	return path
}

// started is a server of a model, whose limits change is told.
func started(t *testing.T, model string, change func(*serve.Server)) *httptest.Server {
	t.Helper()
	m, err := modelfile.Open(model)
	must.OK(t, err)
	s, err := serve.New(m)
	must.OK(t, err)
	if change != nil {
		change(s)
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() { h.Close(); must.OK(t, s.Close()) })
	return h
}

// ask asks and returns the status and the text of the answer, one line of JSON.
func ask(t *testing.T, h *httptest.Server, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(body))
	must.OK(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	a, err := h.Client().Do(r)
	must.OK(t, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	must.OK(t, err)
	if kind := a.Header.Get("Content-Type"); kind != "application/json" || !json.Valid(text) || bytes.Count(text, []byte("\n")) != 1 {
		t.Errorf("%s %s: %s, %q", method, path, kind, text)
	}
	return a.StatusCode, string(text)
}

// answer is what an answer holds.
type answer struct {
	Evaluation                int
	Kernels                   []string
	Weights                   []float64
	Rows, Samples, Covariance []map[string]any
	Dropped                   int
	Notices                   []string
	Error                     string
}

func predict(t *testing.T, h *httptest.Server, body string) answer {
	t.Helper()
	status, text := ask(t, h, http.MethodPost, "/predict", body)
	var a answer
	must.OK(t, json.Unmarshal([]byte(text), &a))
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", body, status, a.Error)
	}
	return a
}

// The numbers are those that kestrel predict writes for the same rows in a CSV file: of
// stamps as the table writes them, in ISO 8601 and in another zone, with a row without an
// input and with targets.
func TestAnswersAreThoseOfTheCSV(t *testing.T) {
	model := modelOf(t)
	h := started(t, model, nil)
	p, err := inspect.OpenModel(model)
	must.OK(t, err)
	defer p.Close()
	stamps := []string{"30.03.2024 07:30+00:00", "2024-03-31T00:30:00Z", "", "2024-04-01T05:00:00+02:00"}
	table, rows := "note,at,load\n", []string{}
	for i, s := range stamps {
		table += fmt.Sprintf("n%d,%s,%d.5\n", i, s, 100+i)
		cell := strconv.Quote(s)
		if s == "" {
			cell = "null"
		}
		rows = append(rows, fmt.Sprintf(`{"note":"n%d", "at":%s,`+"\n"+`"load":%d.5}`, i, cell, 100+i))
	}
	path := filepath.Join(t.TempDir(), "points.csv")
	must.OK(t, os.WriteFile(path, []byte(table), 0o644))
	for _, c := range []struct {
		asks string
		q    func(q *inspect.PredictQuery)
	}{
		{"", func(q *inspect.PredictQuery) {}},
		{`"intervals":[0.95],"quantiles":[0.5],"top":1,"weights":"bayes",`,
			func(q *inspect.PredictQuery) {
				q.Quantiles, q.Top, q.Weights = []float64{0.5, 0.025, 0.975}, 1, "bayes"
			}},
		{`"method":"vbks-s","quantiles":[],`, func(q *inspect.PredictQuery) { q.Method, q.Quantiles = "vbks-s", nil }},
	} {
		q := p.DefaultQuery()
		c.q(&q)
		points, err := p.OpenPoints(t.Context(), path)
		must.OK(t, err)
		var out bytes.Buffer
		done, err := p.Write(t.Context(), points, q, &out, nil)
		must.OK(t, err)
		must.OK(t, points.Close())
		want, err := csv.NewReader(&out).ReadAll()
		must.OK(t, err)
		got := predict(t, h, "{"+c.asks+`"rows":[`+strings.Join(rows, ",")+"]}")
		if len(got.Rows) != len(want)-1 || got.Dropped != 1 || got.Evaluation != done.Evaluation ||
			!slices.Equal(got.Kernels, done.IDs) || !slices.Equal(got.Weights, done.Weights) {
			t.Fatalf("%d rows, %d dropped, of %d rows; %v", len(got.Rows), got.Dropped, len(want)-1, got.Kernels)
		}
		for i, row := range got.Rows {
			if len(row) != len(want[0]) {
				t.Errorf("%d columns, not %d", len(row), len(want[0]))
			}
			for j, name := range want[0] {
				text := fmt.Sprint(row[name])
				if v, ok := row[name].(float64); ok {
					text = strconv.FormatFloat(v, 'g', -1, 64)
				}
				w, errW := strconv.ParseFloat(want[i+1][j], 64)
				g, errG := strconv.ParseFloat(text, 64)
				if errW == nil && (errG != nil || w != g) || errW != nil && text != want[i+1][j] {
					t.Errorf("%s row %d: %s is %s, in the CSV %s", c.asks, i, name, text, want[i+1][j])
				}
			}
		}
	}
}

// Rows keep their numbers where one before them has no input.
func TestRowsKeepTheirNumbers(t *testing.T) {
	h := started(t, modelOf(t), nil)
	a := predict(t, h, `{"rows":[{"at":"2024-03-30"},{"at":null},{},{"at":"2024-04-02 12:00"}]}`)
	if len(a.Rows) != 2 || a.Rows[0]["row"] != 1.0 || a.Rows[1]["row"] != 4.0 || a.Dropped != 2 {
		t.Errorf("%v, %d dropped", a.Rows, a.Dropped)
	}
}

// Draws have the moments that the rows have, and the covariance the variances.
func TestJointAnswers(t *testing.T) {
	h := started(t, modelOf(t), nil)
	a := predict(t, h, `{"rows":[{"at":"2024-03-30"},{"at":"2024-04-02 12:00"}],"samples":4000,"seed":3,"covariance":true}`)
	if len(a.Samples) != 2 || len(a.Samples[0]) != 4003 || len(a.Covariance) != 2 {
		t.Fatalf("%d rows of %d draws, %d of covariances", len(a.Samples), len(a.Samples[0]), len(a.Covariance))
	}
	for i, row := range a.Samples {
		sum, below := 0.0, 0
		for name, v := range row {
			if strings.HasPrefix(name, "draw_") {
				sum += v.(float64)
				if v.(float64) < a.Rows[i]["y_q0.5"].(float64) {
					below++
				}
			}
		}
		mean, sd := a.Rows[i]["mean"].(float64), a.Rows[i]["sd_y"].(float64)
		if math.Abs(sum/4000-mean) > 5*sd/math.Sqrt(4000) || math.Abs(float64(below)-2000) > 5*math.Sqrt(1000) {
			t.Errorf("row %d: the mean of draws is %v, not %v; %d of 4000 are below the median", i, sum/4000, mean, below)
		}
	}
	again := predict(t, h, `{"rows":[{"at":"2024-03-30"},{"at":"2024-04-02 12:00"}],"samples":4000,"seed":3}`)
	if len(again.Covariance) != 0 || again.Samples[1]["draw_7"] != a.Samples[1]["draw_7"] {
		t.Error("the same seed draws something else")
	}
}

// Many ask at once and get what one gets; as many as there is no room for are told so.
func TestManyAtOnce(t *testing.T) {
	h := started(t, modelOf(t), nil)
	var bodies, want []string
	for i := range 8 {
		var rows []string
		for k := range 40 * (i + 1) {
			rows = append(rows, fmt.Sprintf(`{"at":"2024-04-%02d %02d:00"}`, 1+k/24, k%24))
		}
		bodies = append(bodies, `{"rows":[`+strings.Join(rows, ",")+"]}")
		_, text := ask(t, h, http.MethodPost, "/predict", bodies[i])
		want = append(want, text)
	}
	var group sync.WaitGroup
	for range 6 {
		for i := range bodies {
			group.Go(func() {
				status, text := ask(t, h, http.MethodPost, "/predict", bodies[i])
				if status != http.StatusServiceUnavailable && (status != http.StatusOK || text != want[i]) {
					t.Errorf("status %d, %d bytes and not %d", status, len(text), len(want[i]))
				}
			})
		}
	}
	group.Wait()
}

// What is asked wrongly is told in a line, with a status of its own.
func TestRefusals(t *testing.T) {
	model := modelOf(t)
	h := started(t, model, func(s *serve.Server) { s.Rows, s.Bytes = 3, 2000 })
	row := `{"at":"2024-03-30"}`
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/", "", 404, "POST /predict"},
		{"GET", "/predict", "", 404, "GET /predict"},
		{"POST", "/model", "{}", 404, "POST /model"},
		{"POST", "/predict", "", 415, "application/json"},
		{"POST", "/predict", "{", 400, "unexpected EOF"},
		{"POST", "/predict", "[]", 400, "cannot unmarshal array"},
		{"POST", "/predict", `{"rows":[` + row + `],"row":1}`, 400, `unknown field \"row\"`},
		{"POST", "/predict", `{"rows":[]}`, 400, "no rows"},
		{"POST", "/predict", `{"rows":[1]}`, 400, "no JSON object"},
		{"POST", "/predict", `{"rows":[{"when":"2024-03-30"}]}`, 400, `at`},
		{"POST", "/predict", `{"rows":[` + row + `,{"at":"tomorrow"}]}`, 400, `line 2, column 1 (\"at\"): \"tomorrow\" is not a time stamp`},
		{"POST", "/predict", `{"rows":[{"at":"tomorrow"},` + row + `]}`, 400, `line 1, column 1 (\"at\"): \"tomorrow\" is neither`},
		{"POST", "/predict", `{"rows":[{"at":17}]}`, 400, "numbers"},
		{"POST", "/predict", `{"rows":[{"at":null}]}`, 400, "no rows to predict at"},
		{"POST", "/predict", `{"rows":[{"at":[1]}]}`, 400, "a list or an object"},
		{"POST", "/predict", `{"rows":[` + row + `],"quantiles":[1]}`, 400, "quantile 1 "},
		{"POST", "/predict", `{"rows":[` + row + `],"intervals":[1.5]}`, 400, "quantile -0.25 "},
		{"POST", "/predict", `{"rows":[` + row + `],"weights":"none"}`, 400, "weights"},
		{"POST", "/predict", `{"rows":[` + row + `],"method":"best"}`, 400, "method"},
		{"POST", "/predict", `{"rows":[` + row + `],"top":-1}`, 400, "kernels to average"},
		{"POST", "/predict", `{"rows":[` + row + `],"samples":-1}`, 400, "samples"},
		{"POST", "/predict", `{"rows":[` + row + `],"samples":2000000}`, 400, "1000000 numbers"},
		{"POST", "/predict", `{"rows":[` + strings.Repeat(row+",", 3) + row + `]}`, 413, "4 rows are more than 3"},
		{"POST", "/predict", `{"rows":[{"at":"` + strings.Repeat("x", 2000) + `"}]}`, 413, "longer than 2000 bytes"},
	} {
		status, text := ask(t, h, c.method, c.path, c.body)
		if status != c.status || !strings.HasPrefix(text, `{"error":"`) || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %.60s: %d %s", c.method, c.path, c.body, status, text)
		}
	}
	short := started(t, model, func(s *serve.Server) { s.Time = time.Nanosecond })
	status, text := ask(t, short, "POST", "/predict", `{"rows":[`+row+`]}`)
	if status != 503 || !strings.Contains(text, "no answer within 1ns") {
		t.Errorf("no time: %d %s", status, text)
	}
	for _, host := range []string{"localhost:1", "127.0.0.1", "[::1]:80", "evil.example"} {
		local := started(t, model, func(s *serve.Server) { s.Local = true })
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, local.URL+"/model", nil)
		must.OK(t, err)
		r.Host = host
		a, err := local.Client().Do(r)
		must.OK(t, err)
		a.Body.Close()
		if got := a.StatusCode == http.StatusOK; got != (host != "evil.example") {
			t.Errorf("asked as %s: %d", host, a.StatusCode)
		}
	}
}

// GET /model is what the file says of itself, and GET /healthz that there is somebody.
func TestModelAndHealth(t *testing.T) {
	path := modelOf(t)
	h := started(t, path, nil)
	m, err := modelfile.Open(path)
	must.OK(t, err)
	_, text := ask(t, h, http.MethodGet, "/model", "")
	var about modelfile.About
	must.OK(t, json.Unmarshal([]byte(text), &about))
	if about.Data.SHA256 != m.About.Data.SHA256 || len(about.Kernels) != 3 || about.Columns.Inputs[0].Name != "at" {
		t.Error(text)
	}
	if status, text := ask(t, h, http.MethodGet, "/healthz", ""); status != 200 || text != `{"status":"ok"}`+"\n" {
		t.Error(status, text)
	}
}

// A server that is told to stop answers what it has in hand, and nobody after that.
func TestStops(t *testing.T) {
	m, err := modelfile.Open(modelOf(t))
	must.OK(t, err)
	s, err := serve.New(m)
	must.OK(t, err)
	at, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, at) }()

	// A question in two parts: once the first is read it is in hand.
	body := `{"rows":[{"at":"2024-03-30"}]}`
	c, err := net.Dial("tcp", at.Addr().String())
	must.OK(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Expect: 100-continue\r\n\r\n", len(body))
	must.OK(t, err)
	answers := bufio.NewReader(c)
	first, err := http.ReadResponse(answers, nil)
	must.OK(t, err)
	if first.StatusCode != http.StatusContinue {
		t.Fatal(first.Status)
	}
	stop()
	for range 500 { // until it takes nobody any more
		other, err := net.Dial("tcp", at.Addr().String())
		if err != nil {
			break
		}
		other.Close()
		time.Sleep(time.Millisecond)
	}
	_, err = io.WriteString(c, body)
	must.OK(t, err)
	last, err := http.ReadResponse(answers, nil)
	must.OK(t, err)
	last.Body.Close()
	if last.StatusCode != http.StatusOK {
		t.Error(last.Status)
	}
	must.OK(t, <-ended)
	must.OK(t, s.Close())
	goroutines.End(t, "a server that has stopped")
}
