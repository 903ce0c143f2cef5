package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"example.com/kestrel/cluster"
	"example.com/kestrel/experiment/grid"
	"example.com/kestrel/experiment/words"
)

func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Let workers stay between runs, see them, send them away",
		Long: "A run with --cluster :4222 serves its workers itself. Where they are to stay for one run after the other, a server stands " +
			"between them: kestrel cluster start. status, ticket and drain take the directory of such a server, or that of a run which serves.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newClusterStart(), newClusterStatus(), newClusterTicket(), newClusterDrain())
	return cmd
}

func newClusterStart() *cobra.Command {
	var listen string
	var insecure bool
	cmd := &cobra.Command{
		Use:   "start DIR",
		Short: "Let runs and workers meet",
		Long: "Listen for runs and workers until Ctrl-C. DIR, made where it is missing, has cluster.ticket for workers, owner.ticket " +
			"for runs, and cluster.key, what the server is known by: started again with the same DIR it takes the same " +
			"tickets. One run at a time uses it.",
		Example: "kestrel cluster start cluster --listen :4222\n\n" +
			"kestrel worker --ticket cluster.ticket --stay\n\n" +
			"kestrel run big.toml --headless --cluster kestrel://tower:4222 --ticket cluster/owner.ticket",
		Args: one("a directory for its tickets", "kestrel cluster start cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if _, _, err := cluster.Address(listen, insecure); err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			id, err := identityIn(dir, keyFile)
			if errors.Is(err, fs.ErrNotExist) || err == nil && id.Insecure() != insecure {
				id, err = cluster.NewIdentity(insecure)
			}
			if err != nil {
				return err
			}
			shut, err := cluster.Listen(listen, id)
			if err != nil {
				return failed(err)
			}
			defer shut()
			if err := writeTickets(dir, id); err != nil {
				return failed(err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "workers: kestrel worker --join %s%s --ticket %s --stay\nruns: --cluster %[1]s%[2]s --ticket %[4]s\n",
				scheme, id.Address, filepath.Join(dir, ticketFile), filepath.Join(dir, ownerFile))
			keep(cmd)
			<-cmd.Context().Done()
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&listen, "listen", ":4222", "address and port; 0 is any port that is free")
	fs.BoolVar(&insecure, "insecure", false, "at an address of this machine alone: without TLS")
	return cmd
}

// writeTickets writes what a server that stands keeps.
func writeTickets(dir string, id *cluster.Identity) error {
	return errors.Join(cluster.WriteSecret(filepath.Join(dir, keyFile), id.Bytes()),
		cluster.WriteSecret(filepath.Join(dir, ticketFile), id.Ticket().Bytes()),
		cluster.WriteSecret(filepath.Join(dir, ownerFile), id.OwnTicket().Bytes()))
}

// served is what is known of who serves in a directory: that of a server, or of a run.
func served(dir string) (id *cluster.Identity, err error) {
	for _, name := range []string{keyFile, runKey} {
		if id, err = identityIn(dir, name); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return id, err
		}
	}
	if _, e := os.Stat(dir); e != nil {
		return nil, e
	}
	return nil, fmt.Errorf("%s: no server of workers has this directory, and no run that serves them", dir)
}

const servedArgument = "the directory of a server, or of a run that serves"

func newClusterStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status DIR",
		Short: "Say which workers there are",
		Long: "Say which run uses a server, what it is doing, and of each worker its lanes, the units of kernels that " +
			"it has done, and when it was last heard of.",
		Example: "kestrel cluster status cluster\n\nkestrel cluster status runs/big",
		Args:    one(servedArgument, "kestrel cluster status cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := served(args[0])
			if err != nil {
				return err
			}
			s, err := cluster.How(id.OwnTicket())
			if err != nil {
				return failed(err)
			}
			if s == nil {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: no run\n", id.Address)
				return failed(err)
			}
			line := words.PlainLine(s.Run) + ": between phases"
			if s.Phase != "" {
				line = fmt.Sprintf("%s: %s, %s open", words.PlainLine(s.Run), s.Phase, words.Count(s.Open, "unit"))
			}
			t := &grid.Table{Heads: []string{"worker", "lanes", "units", "last seen"}, Left: []int{0}}
			for _, w := range s.Workers {
				t.Row(words.PlainLine(w.Name), strconv.Itoa(w.Lanes), strconv.Itoa(w.Units), fmt.Sprintf("%.1f s ago", w.Silent))
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil {
				return failed(err)
			}
			return failed(t.Write(cmd.OutOrStdout()))
		},
	}
}

func newClusterTicket() *cobra.Command {
	var address, out string
	var renew bool
	cmd := &cobra.Command{
		Use:   "ticket DIR",
		Short: "Write a ticket for workers",
		Long: "Write the ticket that lets workers in, for another address where they reach the server by another name. With --new the " +
			"server has other keys from its next start on: no ticket of before is good for anything then.",
		Example: "kestrel cluster ticket cluster --address tower.example.org:4222 -o cluster.ticket",
		Args:    one(servedArgument, "kestrel cluster ticket cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := served(args[0])
			if err != nil {
				return err
			}
			if renew {
				return renewTickets(cmd, args[0], id)
			}
			t := id.Ticket()
			if address != "" {
				if t.Address, err = joinAddress(scheme+address, "--address"); err != nil {
					return err
				}
			}
			if out == "" {
				_, err := cmd.OutOrStdout().Write(t.Bytes())
				return failed(err)
			}
			if _, err := os.Lstat(out); err == nil {
				return fmt.Errorf("%s is there already", out)
			}
			return failed(cluster.WriteSecret(out, t.Bytes()))
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&address, "address", "", "HOST:PORT by which workers reach it; default: where it listens")
	fs.StringVarP(&out, "out", "o", "", "file, which nobody else can read; default: to standard output")
	fs.BoolVar(&renew, "new", false, "make other keys, for the next start")
	return cmd
}

// renewTickets makes other keys for a server that stands.
func renewTickets(cmd *cobra.Command, dir string, old *cluster.Identity) error {
	if _, err := os.Lstat(filepath.Join(dir, keyFile)); err != nil {
		return errors.New("--new is for the directory of a server; of a run remove " + runKey)
	}
	id, err := cluster.NewIdentity(old.Insecure())
	if err != nil {
		return err
	}
	id.Address = old.Address
	if err := writeTickets(dir, id); err != nil {
		return failed(err)
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "the tickets in %s are good from the server's next start on\n", dir)
	return failed(err)
}

func newClusterDrain() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "drain DIR [WORKER …]",
		Short: "Send workers away",
		Long: "Have workers hand back what they have begun, and end: those named as kestrel cluster status names them, or --all. " +
			"SIGTERM at the worker's process does the same.",
		Example: "kestrel cluster drain cluster desk/4711\n\nkestrel cluster drain runs/big --all",
		Args:    some(servedArgument+", and workers", "kestrel cluster drain cluster desk/4711"),
		RunE: func(_ *cobra.Command, args []string) error {
			if all != (len(args) == 1) {
				return errors.New("drain needs the names of workers, or --all")
			}
			id, err := served(args[0])
			if err != nil {
				return err
			}
			return failed(cluster.SendAway(id.OwnTicket(), args[1:]...))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all workers, also those that wait for a run")
	return cmd
}
