package launcher

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/prepare"
)

// knowledge is where what the launcher knows comes from. Everything in it may
// take its time and is called in commands.
type knowledge struct {
	configs  func() []library.ConfigChoice
	files    func() []string
	runs     func() ([]library.RunInfo, error)
	devices  func() []string
	preview  func(context.Context, config.Config) (*inspect.Preview, error)
	estimate func(ctx context.Context, c config.Config, rows, dim int) (prepare.Estimate, error)
	// after brings a message when some time has passed.
	after func(time.Duration, tea.Msg) tea.Cmd
	// begin and open leave the launcher for a run.
	begin func(c config.Config, out string) tea.Cmd
	open  func(path string) tea.Cmd
}

const (
	mostFiles     = 200
	mostRuns      = 100
	previewPoints = 1200
	runsFolder    = "runs"
)

func newKnowledge(h Host) knowledge {
	estimator := new(prepare.Estimator)
	// A run has the device for itself.
	leave := func(next tea.Cmd) tea.Cmd {
		return tea.Batch(next, func() tea.Msg {
			_ = estimator.Close() // nothing is left to be done with it
			return nil
		})
	}
	return knowledge{
		configs: func() []library.ConfigChoice { return library.ConfigChoices(".") },
		files:   func() []string { return library.FindData(".", mostFiles) },
		runs:    func() ([]library.RunInfo, error) { return library.RecentRuns(runsFolder, mostRuns) },
		devices: availableDevices,
		preview: func(ctx context.Context, c config.Config) (*inspect.Preview, error) {
			return inspect.PreviewData(ctx, c, previewPoints)
		},
		estimate: estimator.Run,
		after: func(d time.Duration, msg tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return msg })
		},
		begin: func(c config.Config, out string) tea.Cmd { return leave(h.Begin(c, out)) },
		open:  func(path string) tea.Cmd { return leave(h.Open(path)) },
	}
}

// availableDevices lists what a run can be told to compute on, here and with
// this build.
func availableDevices() []string {
	kinds := []string{"auto", "cpu"}
	list, err := prepare.Devices()
	if err != nil {
		return kinds // a run says why
	}
	for _, d := range list {
		if d.Missing == "" && !slices.Contains(kinds, d.Kind) {
			kinds = append(kinds, d.Kind)
		}
	}
	return kinds
}
