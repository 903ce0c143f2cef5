package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/kestrel/cluster"
	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/steer"
)

// Files of who serves workers: of a run, in its directory; of a server that stands, in its own.
const (
	ticketFile = "cluster.ticket" // lets workers in
	ownerFile  = "owner.ticket"   // lets runs and their owner in
	keyFile    = "cluster.key"    // what it is known by
	runKey     = record.StateDir + "/" + keyFile
)

// unitVariable has units of so many kernels, which no result depends on: scripts/clustergrid.sh.
const unitVariable = "KESTREL_UNIT"

const scheme = "kestrel://"

// clusterFlags are the flags of commands in which workers may take part.
type clusterFlags struct {
	cluster, ticket string
	insecure        bool
}

func (f *clusterFlags) register(fs *pflag.FlagSet, more string) {
	fs.StringVar(&f.cluster, "cluster", "",
		"let kestrel worker take part: the address to listen at, such as :4222, or a server's, kestrel://HOST:PORT"+more)
	fs.StringVar(&f.ticket, "ticket", "", "with --cluster kestrel://…: the owner's ticket of that server")
	fs.BoolVar(&f.insecure, "insecure", false, "with --cluster at an address of this machine alone: without TLS")
}

func (f *clusterFlags) check() error {
	elsewhere := strings.HasPrefix(f.cluster, scheme)
	switch {
	case f.insecure && f.cluster == "":
		return errors.New("--insecure needs --cluster")
	case f.ticket != "" && !elsewhere:
		return errors.New("--ticket needs --cluster kestrel://HOST:PORT, the server that it is of")
	case elsewhere && f.ticket == "":
		return fmt.Errorf("--cluster %s needs --ticket FILE: %s of that server", f.cluster, ownerFile)
	case elsewhere && f.insecure:
		return errors.New("--insecure is for an address to listen at")
	case elsewhere:
		_, err := joinAddress(f.cluster, "--cluster")
		return err
	case f.cluster == "":
		return nil
	}
	_, _, err := cluster.Address(f.cluster, f.insecure)
	return err
}

// checkWith is check of a command that has a directory only where it is told one.
func (f *clusterFlags) checkWith(out string) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.cluster != "" && f.ticket == "" && out == "" {
		return errors.New("--cluster needs --out, a directory for the ticket of the workers")
	}
	return nil
}

// listen serves by start, whose options it completes by where and as what, with a ticket in a
// directory where the command itself listens; leave ends that, with what is needed to be found
// again by its workers where it is not over.
func (f *clusterFlags) listen(cmd *cobra.Command, path string, quiet bool, choice config.ClusterChoice, o *cluster.Options,
	start func() (shut func(), err error)) (leave func(over bool), err error) {
	o.Name, o.Listen, o.WorkHere, o.MostLost = filepath.Base(path), f.cluster, choice.WorkHere, choice.MostLost
	o.LostAfter = time.Duration(choice.LostAfter * float64(time.Second))
	if n, err := strconv.Atoi(os.Getenv(unitVariable)); err == nil && n > 0 {
		o.Kernels = n
	}
	if path == "" {
		o.Name = cmd.Name()
	}
	if f.ticket != "" {
		if o.Owner, err = cluster.ReadTicket(f.ticket, true); err != nil {
			return nil, err
		}
		if o.At, err = joinAddress(f.cluster, "--cluster"); err != nil {
			return nil, err
		}
		shut, err := start()
		return func(bool) { shut() }, err
	}
	if o.Identity, err = f.identity(path); err != nil {
		return nil, err
	}
	shut, err := start()
	if err != nil {
		return nil, err
	}
	ticket, key := filepath.Join(path, ticketFile), filepath.Join(path, runKey)
	if err := errors.Join(cluster.WriteSecret(key, o.Identity.Bytes()), cluster.WriteSecret(ticket, o.Identity.Ticket().Bytes())); err != nil {
		shut()
		return nil, fmt.Errorf("the ticket for workers: %w", err)
	}
	if !quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "workers: kestrel worker --join %s%s --ticket %s\n", scheme, o.Identity.Address, ticket)
	}
	return func(over bool) {
		shut()
		if over {
			dropTicket(path)
		}
	}, nil
}

// dropTicket removes what is good for nothing once all is over.
func dropTicket(path string) {
	if path == "" {
		return
	}
	_ = os.Remove(filepath.Join(path, ticketFile))
	_ = os.Remove(filepath.Join(path, runKey))
}

// serve lets workers take part in a run where that is asked for; see listen.
func (f *runFlags) serve(ctx context.Context, cmd *cobra.Command, s *experiment.Session) (leave func(over bool), err error) {
	if f.cluster == "" {
		return func(over bool) {
			if over {
				dropTicket(s.Path)
			}
		}, nil
	}
	class, err := cluster.ClassOf(s.Device())
	if err != nil {
		return nil, err
	}
	note := func(e *record.Event) { _ = s.Run.Note(e) } // a run that is closed has no more to tell
	worker := func(of record.EventType) func(cluster.WorkerInfo) {
		return func(w cluster.WorkerInfo) {
			note(&record.Event{Type: of, Worker: &record.Worker{ID: w.ID, Name: w.Name, Lanes: w.Lanes, Units: w.Units, Workers: w.Of}})
		}
	}
	o := &cluster.Options{
		Class: class, Joined: worker(record.EventWorkerJoined), Lost: worker(record.EventWorkerLost),
		Say: func(text string) { note(&record.Event{Type: record.EventNotice, Notice: text}) },
	}
	return f.listen(cmd, s.Path, f.quiet, s.Cluster(), o, func() (func(), error) {
		h, err := cluster.Serve(ctx, s.Trainer(), *o)
		if err != nil {
			return nil, err
		}
		seen(s, h)
		return h.Close, nil
	})
}

// seen lets who watches the run see its workers.
func seen(s *experiment.Session, h *cluster.Hub) {
	s.Run.ServedTo(func() (out []steer.Worker) {
		for _, w := range h.Status().Workers {
			out = append(out, steer.Worker{Name: w.Name, Lanes: w.Lanes, Units: w.Units, Silent: time.Duration(w.Silent * float64(time.Second))})
		}
		return out
	})
}

// identity is what a run serves as: the same again when it is resumed.
func (f *clusterFlags) identity(path string) (*cluster.Identity, error) {
	id, err := identityIn(path, runKey)
	if errors.Is(err, fs.ErrNotExist) || err == nil && id.Insecure() != f.insecure {
		return cluster.NewIdentity(f.insecure)
	}
	return id, err
}

// identityIn reads what a server is known by that has or had this directory.
func identityIn(path, name string) (*cluster.Identity, error) {
	d, err := inside.Open(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := d.CheckFile(name); err != nil {
		return nil, err
	}
	b, err := cluster.ReadSecret(d.Join(name))
	if err != nil {
		return nil, err
	}
	id, err := cluster.ParseIdentity(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it, and the next start makes another one", d.Join(name), err)
	}
	return id, nil
}
