package device

import (
	"fmt"

	"example.com/kestrel/kernelspace"
)

// CheckCode returns an error where a program has an operation beside sums,
// products and change points that has denies: a base kernel that the device kind has no code for.
// Every NewKernels begins with it.
func CheckCode(kind string, p *kernelspace.Program, has func(kernelspace.Op) bool) error {
	for i := range p.Instrs {
		in := &p.Instrs[i]
		switch {
		case in.Op == kernelspace.OpAdd || in.Op == kernelspace.OpMul || in.Op == kernelspace.OpChange:
		case in.Op > kernelspace.OpAdd:
			return fmt.Errorf("kernel %s: the device %s does not know operation %d", p.ID, kind, in.Op)
		case !has(in.Op):
			return fmt.Errorf("kernel %s: the device %s has no code for base kernel %s", p.ID, kind, p.Params[in.Off].Base)
		}
	}
	return nil
}
