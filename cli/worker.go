package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/kestrel/cluster"
	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
)

func newWorker() *cobra.Command {
	var join, ticket, kind string
	var lanes int
	var stay bool
	var idle time.Duration
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Take part in a run on another machine",
		Long: "Take kernels of a run that was begun with --cluster, or whole runs of a series (run --repeat, study, compare, backtest), and " +
			"say what comes of them, until the run or the series is over. The ticket is the file that the run writes into its directory: who has " +
			"it may take part. Worker and run must be the same build of kestrel and compute with the same instructions, since the results are " +
			"those of the run alone, bit for bit. Ctrl-C and SIGTERM hand back what was begun. A run that is killed and resumed is joined again.",
		Example: "kestrel worker --join kestrel://tower:4222 --ticket cluster.ticket\n\n" +
			"# four lanes, and an end when there has been nothing to do for ten minutes\n" +
			"kestrel worker --join kestrel://tower:4222 --ticket cluster.ticket --lanes 4 --idle-exit 10m\n\n" +
			"# one run after the other\n" +
			"kestrel worker --ticket cluster.ticket --stay",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			address, err := joinAddress(join, "--join")
			if err != nil {
				return err
			}
			if ticket == "" {
				return errors.New("--ticket FILE is missing: the run that serves writes it into its directory")
			}
			t, err := cluster.ReadTicket(ticket, false)
			if err != nil {
				return err
			}
			if lanes < 0 || lanes > 4096 || idle < 0 {
				return errors.New("--lanes is from 1 to 4096, and --idle-exit a time such as 10m")
			}
			keep(cmd)
			tell := func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), "kestrel: "+text) }
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
			err = cluster.Work(cmd.Context(), cluster.WorkerOptions{Ticket: t, Address: address, Stay: stay, IdleExit: idle,
				Open: confined(opener(config.DeviceChoice{Kind: kind, Lanes: lanes}, tell)), Do: doer(), Tell: tell})
			if errors.Is(err, cluster.ErrRefused) {
				return err
			}
			return failed(err)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&join, "join", "", "the run: kestrel://HOST:PORT, as it prints it; default: what the ticket says")
	fs.StringVar(&ticket, "ticket", "", "the run's ticket, a file that nobody else can read")
	fs.StringVar(&kind, "device", "auto", "where to compute: "+strings.Join(config.DeviceKinds(), ", "))
	fs.IntVar(&lanes, "lanes", 0, "kernels at a time; default: as many as the device has")
	fs.BoolVar(&stay, "stay", false, "wait for the next run when one is over, or refuses this worker")
	fs.DurationVar(&idle, "idle-exit", 0, "leave after so long without work; default: when the run is over")
	return cmd
}

// joinAddress is the address in what a flag has, "" where it has none.
func joinAddress(text, flag string) (string, error) {
	if text == "" {
		return "", nil
	}
	address, ok := strings.CutPrefix(text, scheme)
	if _, _, err := net.SplitHostPort(address); !ok || err != nil {
		return "", fmt.Errorf("%s %s: no address such as kestrel://tower:4222", flag, text)
	}
	return address, nil
}

// openDevice opens a device, with the class of machines that it is of.
type openDevice func(context.Context) (device.Device, cluster.Class, error)

// confined has a process with lanes on the CPU use no more cores than these: an optimiser hands over to itself at
// every step, which on a core that is idle costs the others a tenth and more.
func confined(open openDevice) openDevice {
	return func(ctx context.Context) (device.Device, cluster.Class, error) {
		dev, class, err := open(ctx)
		if err != nil {
			return nil, class, err
		}
		if info := dev.Info(); info.Kind == "cpu" && info.Lanes < runtime.GOMAXPROCS(0) {
			runtime.GOMAXPROCS(info.Lanes)
		}
		return dev, class, nil
	}
}

// opener opens a device for a worker, with the class of machines that it is of, and tells what
// should be known of it.
func opener(choice config.DeviceChoice, tell func(string)) openDevice {
	return func(ctx context.Context) (device.Device, cluster.Class, error) {
		dev, told, err := prepare.OpenToldDevice(ctx, choice)
		if err != nil {
			return nil, cluster.Class{}, err
		}
		if told != "" {
			tell(told)
		}
		class, err := cluster.ClassOf(dev.Info())
		if err != nil {
			return nil, cluster.Class{}, errors.Join(err, dev.Close())
		}
		return dev, class, nil
	}
}
