package conformance

import (
	"slices"
	"strings"

	"example.com/kestrel/kernelspace"
)

// testKernelWithoutCode checks that a lane refuses what it has no code for by name,
// before anything is computed with it. That it takes every base kernel is seen
// where they are computed.
func testKernelWithoutCode(h *harness) {
	sound := h.compile("PER*LIN", kernelspace.Options{Dim: 2})
	forge := func(at int, op kernelspace.Op) *kernelspace.Program {
		p := *h.compile("PER*LIN+SE", kernelspace.Options{Dim: 2})
		p.ID = "FORGED"
		p.Instrs, p.Params = slices.Clone(p.Instrs), slices.Clone(p.Params)
		p.Instrs[at].Op = op
		for i := range p.Params {
			if at < 2 && p.Params[i].Leaf == at {
				p.Params[i].Base = "NEW"
			}
		}
		return &p
	}
	cases := map[string]*kernelspace.Program{
		"base kernel NEW": forge(1, kernelspace.OpAdd-1),
		"operation":       forge(2, kernelspace.OpChange+1),
	}
	for want, p := range cases {
		ks, err := h.lane.NewKernels([]*kernelspace.Program{sound, p})
		if err == nil {
			h.lane.Free(ks)
			h.Errorf("a program with an unknown %s is taken", want)
			continue
		}
		for _, s := range []string{"FORGED", want, h.dev.Info().Kind} {
			if !strings.Contains(err.Error(), s) {
				h.Errorf("%q does not say %q", err, s)
			}
		}
	}
}
