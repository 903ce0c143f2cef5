package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/kestrel/cluster"
	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
)

// ticketFile is that of a run that serves, in its directory.
const ticketFile = "cluster.ticket"

func (f *runFlags) registerCluster(fs *pflag.FlagSet) {
	fs.StringVar(&f.cluster, "cluster", "",
		"let kestrel worker take part from other machines: the address to listen at, such as :4222; without the workbench")
	fs.BoolVar(&f.insecure, "insecure", false, "with --cluster at an address of this machine alone: without TLS")
}

func (f *runFlags) checkCluster() error {
	if f.insecure && f.cluster == "" {
		return errors.New("--insecure needs --cluster")
	}
	if f.cluster != "" && f.repeat > 1 {
		return errors.New("--cluster is for one run, not for --repeat")
	}
	if f.cluster == "" {
		return nil
	}
	_, _, err := cluster.Address(f.cluster, f.insecure)
	return err
}

// serve lets workers take part in a run where that is asked for; leave ends it.
func (f *runFlags) serve(ctx context.Context, cmd *cobra.Command, s *experiment.Session) (leave func(), err error) {
	if f.cluster == "" {
		return func() {}, nil
	}
	arithmetic, err := s.Arithmetic()
	if err != nil {
		return nil, err
	}
	class, err := cluster.ClassOf(arithmetic)
	if err != nil {
		return nil, err
	}
	note := func(e *record.Event) { _ = s.Run.Note(e) } // a run that is closed has no more to tell
	worker := func(of record.EventType) func(cluster.WorkerInfo) {
		return func(w cluster.WorkerInfo) {
			note(&record.Event{Type: of, Worker: &record.Worker{ID: w.ID, Name: w.Name, Lanes: w.Lanes, Units: w.Units, Workers: w.Of}})
		}
	}
	choice := s.Cluster()
	h, err := cluster.Serve(ctx, s.Trainer(), cluster.Options{
		Listen: f.cluster, Insecure: f.insecure, Class: class, WorkHere: choice.WorkHere,
		LostAfter: time.Duration(choice.LostAfter * float64(time.Second)),
		Joined:    worker(record.EventWorkerJoined), Lost: worker(record.EventWorkerLost),
		Say: func(text string) { note(&record.Event{Type: record.EventNotice, Notice: text}) },
	})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.Path, ticketFile)
	_ = os.Remove(path) // of a process that was killed
	if err := h.Ticket().Write(path); err != nil {
		h.Close()
		return nil, fmt.Errorf("the ticket for workers: %w", err)
	}
	if !f.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "workers: kestrel worker --join kestrel://%s --ticket %s\n", h.Ticket().Address, path)
	}
	return func() {
		h.Close()
		_ = os.Remove(path) // it is good for nothing any more
	}, nil
}

func newWorker() *cobra.Command {
	var join, ticket, device string
	var lanes int
	var idle time.Duration
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Take part in a run on another machine",
		Long: "Take kernels of a run that was begun with --cluster, and say what comes of them, until the run is over. The ticket is the file " +
			"that the run writes into its directory: who has it may take part. Worker and run must be the same build of kestrel and compute " +
			"with the same instructions, since the results are those of the run alone, bit for bit. Ctrl-C hands back what was begun.",
		Example: "kestrel worker --join kestrel://tower:4222 --ticket cluster.ticket\n\n" +
			"# four lanes, and an end when there has been nothing to do for ten minutes\n" +
			"kestrel worker --join kestrel://tower:4222 --ticket cluster.ticket --lanes 4 --idle-exit 10m",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			address, err := joinAddress(join)
			if err != nil {
				return err
			}
			if ticket == "" {
				return errors.New("--ticket FILE is missing: the run that serves writes it into its directory")
			}
			t, err := cluster.ReadTicket(ticket)
			if err != nil {
				return err
			}
			if lanes < 0 || lanes > 4096 || idle < 0 {
				return errors.New("--lanes is from 1 to 4096, and --idle-exit a time such as 10m")
			}
			return work(cmd, t, address, config.DeviceChoice{Kind: device, Lanes: lanes}, idle)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&join, "join", "", "the run: kestrel://HOST:PORT, as it prints it; default: what the ticket says")
	fs.StringVar(&ticket, "ticket", "", "the run's ticket, a file that nobody else can read")
	fs.StringVar(&device, "device", "auto", "where to compute: "+strings.Join(config.DeviceKinds(), ", "))
	fs.IntVar(&lanes, "lanes", 0, "kernels at a time; default: as many as the device has")
	fs.DurationVar(&idle, "idle-exit", 0, "leave after so long without work; default: when the run is over")
	return cmd
}

// joinAddress is the address in --join, "" where there is none.
func joinAddress(join string) (string, error) {
	if join == "" {
		return "", nil
	}
	address, ok := strings.CutPrefix(join, "kestrel://")
	if _, _, err := net.SplitHostPort(address); !ok || err != nil {
		return "", fmt.Errorf("--join %s: no address such as kestrel://tower:4222", join)
	}
	return address, nil
}

// work takes part in a run.
func work(cmd *cobra.Command, t *cluster.Ticket, address string, choice config.DeviceChoice, idle time.Duration) error {
	dev, err := prepare.OpenDevice(choice)
	if err != nil {
		return err
	}
	defer dev.Close()
	info := dev.Info()
	arithmetic, err := prepare.Arithmetic(info.Kind, fmt.Sprintf("%s (%s)", info.Kind, info.Name))
	if err != nil {
		return err
	}
	class, err := cluster.ClassOf(arithmetic)
	if err != nil {
		return err
	}
	keep(cmd)
	err = cluster.Work(cmd.Context(), dev, cluster.WorkerOptions{Ticket: t, Address: address, Class: class, IdleExit: idle,
		Tell: func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), "kestrel: "+text) }})
	if errors.Is(err, cluster.ErrRefused) {
		return err
	}
	return failed(err)
}
