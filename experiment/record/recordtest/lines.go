package recordtest

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

// LogLines are the lines of a log of n notices.
func LogLines(t *testing.T, n int) [][]byte {
	t.Helper()
	lines := make([][]byte, n)
	for i := range lines {
		b, err := json.Marshal(&record.Event{V: 1, Type: record.EventNotice, Seconds: files.Number(i), Notice: strings.Repeat("x", i%100)})
		must.OK(t, err)
		lines[i] = append(b, '\n')
	}
	return lines
}

// logOf is the event log of a short run, written by hand.
func logOf(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

func someEvents() []byte {
	return logOf(
		`{"v":1,"type":"run-started","time":"2026-01-02T15:04:05Z","seconds":0,"start":{"name":"a","config":"","data":{"name":"d","train":9,`+
			`"test":1,"columns":[{"name":"x"},{"name":"y"}]},"planned":2,"kernels":[{"id":"SE","name":"SE","params":[{"name":"SE.variance",`+
			`"scale":1},{"name":"noise_variance","scale":1}]},{"id":"LIN","name":"LIN","fixed":[{"name":"c","value":1}]}]}}`,
		`{"v":1,"type":"state","time":"2026-01-02T15:04:06Z","seconds":1,"state":{"from":"ready","to":"running","reason":"started"}}`,
		`{"v":1,"type":"evaluation","time":"2026-01-02T15:04:07Z","seconds":2,"evaluation":{"index":1,"planned":2,"proportion":0.5,`+
			`"rows_seen":5,"objective":"-Inf","kernels":[{"id":"SE","status":"live","fit":{"posterior":1,"bayes":"NaN","elbo":-3,"se":0,"rank":1,`+
			`"params":[1,2]}},{"id":"LIN","status":"failed","reason":"no"}]}}`,
		`{"v":1,"type":"notice","time":"2026-01-02T15:04:08Z","notice":"kernel LIN failed: \u001b[31m"}`,
		`{"v":1,"type":"metrics","time":"2026-01-02T15:04:09Z","seconds":3,"metrics":[{"evaluation":1,"method":"vbks","rmse":1,"test_rows":1}]}`,
		`{"v":1,"type":"pruned","time":"2026-01-02T15:04:10Z","seconds":4,"kernels":["SE"],"evaluation":{"index":1,"planned":2,`+
			`"kernels":[{"id":"SE","status":"pruned"}]}}`,
		`{"v":1,"type":"reoptimised","change":{"Steps":1}}`,
		`{"v":1,"type":"finished","state":{"from":"running","to":"finished","reason":"done"}}`,
	)
}

// StrangeLogs are event logs, one as it should be and others that no run writes.
func StrangeLogs() [][]byte {
	logs := [][]byte{someEvents()}
	for _, s := range []string{
		`{"v":1,"type":"run-started"}`, `{"v":1,"type":"evaluation","evaluation":{}}`, `{"v":1,"type":"metrics","metrics":[]}`,
		`{"v":9,"type":"x"}`, `{}`, `[]`, `null`, "\x00",
		`{"type":"evaluation","evaluation":{"kernels":[{"id":"a"},{"id":"a"}]}}`, `{"type":"state"}`, `{"type":"finished"}`,
		`{"type":"pruned"}`, `{"type":"reoptimised"}`, `{"type":"resumed"}`, `{"type":"data"}`,
		`{"type":"data","start":{"data":{"train":-3}},"before":{"train":-9}}`,
		strings.Repeat("[", 20_000),
	} {
		logs = append(logs, logOf(s, `{"v":1,"type":"notice","notice":"a"}`))
	}
	return logs
}
