package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

func newKernels() *cobra.Command {
	var lists []string
	var depth int
	var count, asJSON bool
	cmd := &cobra.Command{
		Use:   "kernels [EXPR...]",
		Short: "Read kernel expressions, list kernel spaces",
		Long: "Read kernel expressions and show their canonical form; list a space by name (K12, K144) or all kernels with up to depth " +
			"base kernels. With nothing, list the base kernels. Sums, products and brackets join them; CP(A,B), or CP(A,B)[column], is A before " +
			"a place and B behind it.",
		Example: "kestrel kernels 'LIN*(PER+SE)'\n\n" +
			"# the paper's space of 144\nkestrel kernels --base SE,RQ,LIN,PER --depth 3 --count\n\n" +
			"kestrel kernels K12 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			var base []string
			for _, list := range lists { // CP(A,B) has a comma of its own
				base = append(base, config.SplitKernels(list)...)
			}
			if len(args) == 0 && base == nil {
				if cmd.Flags().Changed("depth") {
					return errors.New("--depth needs --base, the kernels to combine")
				}
				return failed(listBases(cmd.OutOrStdout(), count, asJSON))
			}
			space, err := collect(args, base, depth)
			if err != nil {
				return err
			}
			return failed(listKernels(cmd.OutOrStdout(), space, count, asJSON))
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&lists, "base", nil, "base kernels to combine, separated by commas")
	fs.IntVar(&depth, "depth", 2, "most base kernels in one expression")
	fs.BoolVar(&count, "count", false, "only how many there are")
	fs.BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// collect reads the kernels asked for, without repetition.
func collect(args, base []string, depth int) ([]vbks.Candidate, error) {
	var spaces []config.KernelSpace
	for _, a := range args {
		s := config.KernelSpace{Expressions: []string{a}}
		for _, name := range kernelspace.SetNames() {
			if strings.EqualFold(a, name) {
				s = config.KernelSpace{Set: name}
			}
		}
		spaces = append(spaces, s)
	}
	if base != nil {
		spaces = append(spaces, config.KernelSpace{Base: base, Depth: depth})
	}
	var all []vbks.Candidate
	seen := map[string]bool{}
	for _, s := range spaces {
		part, err := s.Candidates()
		if err != nil {
			var syntax *kernelspace.SyntaxError
			if errors.As(err, &syntax) { // the key of a config is of no interest here
				err = syntax
			}
			return nil, err
		}
		for _, k := range part {
			if id := k.Expr.ID(); !seen[id] {
				seen[id] = true
				all = append(all, k)
			}
		}
	}
	return all, nil
}

func listKernels(w io.Writer, space []vbks.Candidate, count, asJSON bool) error {
	type item struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Letters string `json:"letters"`
		Leaves  int    `json:"leaves"`
	}
	if count {
		_, err := fmt.Fprintln(w, len(space))
		return err
	}
	items := make([]item, len(space))
	for i, k := range space {
		items[i] = item{k.Expr.ID(), k.Expr.String(), k.Expr.Letters(), k.Expr.NumLeaves()}
	}
	if asJSON {
		return writeJSON(w, items)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, i := range items {
		fmt.Fprintf(t, "%s\t%s\t%s\n", i.ID, i.Name, i.Letters)
	}
	return t.Flush()
}

func listBases(w io.Writer, count, asJSON bool) error {
	bases := kernelspace.BaseKernels()
	switch {
	case count:
		_, err := fmt.Fprintln(w, len(bases))
		return err
	case asJSON:
		return writeJSON(w, bases)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, b := range bases {
		fmt.Fprintf(t, "%s\t%s\t%s\n", b.Name, b.Letter, b.About)
	}
	return t.Flush()
}
