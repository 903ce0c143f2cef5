package experiment_test

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// What is stated in data units stands so in every event and table of a run, after a
// pruning and with other inducing inputs too, and of one that is taken up again; names
// tell which is which.
func TestStatedValuesInEventsAndTables(t *testing.T) {
	laws := map[string][2]float64{ // in hours, metres and metres of the target
		"PER.period": {12.5, 12.5}, "SE.lengthscale hour": {3, 4}, "SE.lengthscale height": {900, 900}, "noise_variance": {1.44, 6.25},
	}
	holds := func(p *record.ParamInfo, v float64) bool {
		name := p.Name
		if name == "SE.lengthscale" {
			name += " " + p.Column
		}
		l, ok := laws[name]
		return !ok || v >= l[0]*(1-1e-9) && v <= l[1]*(1+1e-9)
	}
	c := configtest.Plane(t, configtest.PlaneFile(t), "kernels.mean=linear", "optimise.fix.PER.period=12.5",
		"optimise.bound.SE.lengthscale[hour]=[3,4]", "optimise.fix.SE.lengthscale[height]=900", "optimise.bound.noise=[1.2,2.5]",
		"optimise.prior.RQ.alpha={median=1,factor=2}")
	whole, shots := filmed(t, c, record.Course{Inducing: 14, ThenRefine: 1, PruneTop: 2}, nil)
	copies, err := os.ReadDir(shots)
	must.OK(t, err)
	dir := filepath.Join(shots, copies[len(copies)/2].Name()) // as a kill would leave it
	end, err := runtest.TakeUp(t, dir, experiment.ResumeOptions{})
	must.OK(t, err)
	if end.State != record.Finished {
		t.Fatal(end.Reason)
	}
	runtest.SameResults(t, "taken up", dir, whole, whole)

	var start *record.Start
	seen := 0
	must.OK(t, record.Each(t.Context(), dir, func(e *record.Event) {
		if e.Start != nil {
			start = e.Start
			stated := map[string]string{}
			for _, k := range start.Kernels {
				for _, p := range k.Params {
					stated[k.ID+" "+p.Name] = p.Stated
				}
			}
			for name, want := range map[string]string{
				"PER[hour]*SE[height] PER.period":     "fixed",
				"PER[hour]*SE[height] SE.lengthscale": "fixed",
				"LIN[height]+SE[hour] SE.lengthscale": "bounded",
				"RQ RQ.alpha":                         "prior",
				"RQ noise_variance":                   "bounded",
				"RQ RQ.lengthscale":                   "",
				"RQ mean CONST.variance":              "fixed",
			} {
				if got, ok := stated[name]; !ok || got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		}
		if e.Evaluation == nil || e.Type != record.EventEvaluation {
			return
		}
		for _, k := range e.Evaluation.Kernels {
			if k.Fit == nil {
				continue
			}
			at := slices.IndexFunc(start.Kernels, func(i record.KernelInfo) bool { return i.ID == k.ID })
			for i, v := range k.Fit.Params {
				seen++
				if p := &start.Kernels[at].Params[i]; !holds(p, float64(v)) {
					t.Errorf("evaluation %d: %s: %s is %v", e.Evaluation.Index, k.ID, p.Name, v)
				}
			}
		}
	}))
	if seen < 40 {
		t.Errorf("%d values seen", seen)
	}
	f, err := os.Open(filepath.Join(dir, record.KernelsFile))
	must.OK(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	must.OK(t, err)
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[4], 64)
		must.OK(t, err)
		if !holds(&record.ParamInfo{Name: r[2], Column: r[3]}, v) || math.IsNaN(v) {
			t.Errorf("%s: %v", record.KernelsFile, r)
		}
	}
}
