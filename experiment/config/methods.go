package config

import "slices"

// Methods of selecting a kernel that are compared besides those of a run.
const (
	MethodPrune  = "vbks-prune" // VBKS with automatic pruning, averaged
	MethodRandom = "random"     // a kernel drawn at random
	MethodBO     = "bo"         // Bayesian optimisation over the kernel space
	MethodCKS    = "cks"        // greedy compositional search
)

// Method describes a method of comparison.
type Method struct {
	Name  string // in configs and files
	Label string // in figures
	Doc   string // one line

	Searches bool // it trains kernels one after the other, under the budget
}

// ComparedMethods lists the methods that can be compared, in the order in which
// tables and figures have them.
func ComparedMethods() []Method {
	return []Method{
		{Name: MethodAverage, Label: "VBKS", Doc: "variational Bayesian kernel selection: the average over the top kernels (predict.top)"},
		{Name: MethodSingle, Label: "VBKS-s", Doc: "the kernel of highest posterior alone, of the same run"},
		{Name: MethodPrune, Label: "VBKS, pruning", Doc: "VBKS with automatic pruning (compare.prune)"},
		{Name: MethodRandom, Label: "random", Doc: "a kernel of the space drawn at random, trained alone"},
		{Name: MethodBO, Label: "BO", Searches: true, Doc: "Bayesian optimisation over the space with the expected Hellinger distance " +
			"between kernels (Malkomes, Schaff and Garnett 2016)"},
		{Name: MethodCKS, Label: "CKS", Searches: true, Doc: "greedy compositional search by BIC (Duvenaud et al. 2013)"},
	}
}

// MethodNames lists the names of the methods that can be compared.
func MethodNames() []string {
	var names []string
	for _, m := range ComparedMethods() {
		names = append(names, m.Name)
	}
	return names
}

// MethodLabel is what a method is called in a figure of several.
func MethodLabel(name string) string {
	all := ComparedMethods()
	if i := slices.IndexFunc(all, func(m Method) bool { return m.Name == name }); i >= 0 {
		return all[i].Label
	}
	return name
}

// Methods of prediction that a run scores.
const (
	MethodAverage = "vbks"   // Bayesian model averaging
	MethodSingle  = "vbks-s" // the best kernel alone
)

// MethodName is what a method is called in charts.
func MethodName(method string) string {
	switch method {
	case MethodAverage:
		return "averaged"
	case MethodSingle:
		return "best kernel"
	}
	return method
}
