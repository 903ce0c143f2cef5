package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/serve"
	"example.com/kestrel/experiment/words"
)

func newServe() *cobra.Command {
	var listen string
	var rows, megabytes int
	var limit time.Duration
	var quiet bool
	cmd := &cobra.Command{
		Use:   "serve MODEL",
		Short: "Answer with a model file over HTTP",
		Long: "Answer questions to a model file over HTTP, in JSON, on this machine alone unless --listen says otherwise: POST /predict takes " +
			"rows by the names of columns and answers as kestrel predict --format json does, GET /model tells what the model is, GET /healthz " +
			"that it answers. docs/format.md has questions and answers. There is no authentication and no encryption: where others are to " +
			"ask, put a server that has both in front. SIGINT and SIGTERM finish what is in hand, then end it.",
		Example: "kestrel serve m.kestrel\n\n" +
			"curl -s localhost:8080/predict -H 'Content-Type: application/json' -d '{\"rows\":[{\"day\":400}],\"intervals\":[0.8]}'",
		Args: one("a model file", "kestrel serve m.kestrel"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if rows < 1 || megabytes < 1 || limit <= 0 {
				return fmt.Errorf("--most-rows %d, --most-mb %d, --timeout %v: must be greater than 0", rows, megabytes, limit)
			}
			if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
				return fmt.Errorf("%q is a folder; serve takes a model file, such as %s of a run", args[0], filepath.Join(args[0], record.ModelFile))
			}
			m, err := modelfile.Open(args[0])
			if err != nil {
				return err
			}
			s, err := serve.New(m)
			if err != nil {
				return err
			}
			defer s.Close()
			at, err := net.Listen("tcp", listen)
			if err != nil {
				return fmt.Errorf("--listen %s: %w", listen, err)
			}
			s.Rows, s.Bytes, s.Time, s.Local = rows, int64(megabytes)<<20, limit, serve.IsLoopback(at.Addr().String())
			if !s.Local {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: whoever reaches %s may ask: there is no authentication and no encryption\n", at.Addr())
			}
			if !quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s on http://%s: POST /predict, GET /model, GET /healthz; Ctrl-C ends it\n",
					words.PlainLine(filepath.Base(args[0])), at.Addr())
			}
			keep(cmd)
			return failed(s.Serve(cmd.Context(), at))
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&listen, "listen", "127.0.0.1:8080", "address and port; 0 is any port that is free")
	fs.IntVar(&rows, "most-rows", serve.MostRows, "rows of a question")
	fs.IntVar(&megabytes, "most-mb", serve.MostBytes>>20, "megabytes of a question")
	fs.DurationVar(&limit, "timeout", serve.MostTime, "for an answer, such as 30s")
	fs.BoolVar(&quiet, "quiet", false, "say nothing at the start")
	return cmd
}
