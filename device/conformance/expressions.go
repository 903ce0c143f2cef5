package conformance

import (
	"slices"
	"strings"

	"example.com/kestrel/kernelspace"
)

// forms are what every base kernel B of kernelspace is tested in, in three columns.
var forms = []string{"B", "B[;ard]", "B[2]", "B[3,1;ard]", "B[1,3]+SE", "LIN*B[;ard]"}

// nested go deeper and bring several base kernels together.
var nested = []string{
	"WN*SE+LIN", "SE[1]*SE[2]*SE[3]", "PER[2]*LIN[1]*RQ[3]", "(PER[1]+RQ[2,3;ard])*LIN[;ard]+POLY2[2]", "SE+SE+SE*SE*SE*SE",
	"((SE+LIN[1])*PER[1]+RQ)*(WN+CONST)", "(SE*(LIN+COS[3])+MATERN52)*(PER[;ard]+RQ[;ard])*POLY2", "PER[1,3]+COS[1,2]*LIN",
	"CP(SE,LIN)", "CP(SE[1],PER*LIN)[2]+WN", "(CP(RQ[;ard]+LIN,CP(CONST,MATERN32)[3])[1]+SE)*POLY2", "CP(RW[3]*COS,WN+SE)[3]",
}

// expressions are the kernels of the suite: base kernels in every form, deeper
// ones, and all of these once more where a period for all columns makes a
// difference.
func expressions() []string {
	var list []string
	for _, b := range kernelspace.BaseKernels() {
		for _, f := range forms {
			if b.Name == "CAT" { // a length for each level is of one column: see testKernelLevels
				f = strings.NewReplacer("[;ard]", "", ";ard", "").Replace(f)
			}
			list = append(list, strings.ReplaceAll(f, "B", b.Name))
		}
	}
	return slices.Concat(list, nested)
}

func (h *harness) expressions() []*kernelspace.Program {
	h.Helper()
	var programs, shared []*kernelspace.Program
	for i, e := range expressions() {
		opt := kernelspace.Options{Dim: 3, ARD: i%len(forms) == 4}
		p := h.compile(e, opt)
		programs = append(programs, p)
		opt.SharedPeriod = true
		if q := h.compile(e, opt); len(q.Params) < len(p.Params) {
			shared = append(shared, q)
		}
	}
	return slices.Concat(programs, shared)
}
