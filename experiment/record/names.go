package record

import "strings"

// Names of the files in a run directory.
const (
	ConfigFile     = "config.toml"
	EventsFile     = "events.jsonl"
	StateDir       = "state"
	CheckpointFile = "checkpoint.npz"
	OwnerFile      = "owner.json" // in the state folder: who writes a run or a series
	PosteriorFile  = "posterior.csv"
	MetricsFile    = "metrics.csv"
	KernelsFile    = "kernels.csv"
	BaselinesFile  = "baselines.csv"
	LogFile        = "log.txt"
	ModelFile      = "model.kestrel" // what the run predicts with, see package modelfile
	TableFile      = "table"         // what it learned from, where that came from standard input
)

// Names of the tables of a comparison, beside its config and MetricsFile.
const (
	FinalsFile   = "final.csv"
	RunTableFile = "table.csv"
)

// ComparisonFiles returns the names that a comparison keeps for itself in its directory.
func ComparisonFiles() []string { return []string{ConfigFile, MetricsFile, FinalsFile, RunTableFile} }

// Names of what a backtest writes besides its FIGURE.svg and FIGURE.png.
const (
	ForecastsFile  = "backtest.csv"
	SummaryFile    = "summary.csv"
	HorizonFile    = "by-horizon.csv"
	SeriesFile     = "by-series.csv"
	AheadFile      = "ahead.csv"
	BacktestFigure = "by-horizon"
)

// BacktestFiles returns the names that a backtest keeps for itself in its directory.
func BacktestFiles() []string {
	return []string{ForecastsFile, SummaryFile, HorizonFile, SeriesFile, AheadFile, BacktestFigure + ".svg", BacktestFigure + ".png"}
}

// StudyPrefix begins the names of the tables of a study.
const StudyPrefix = "study-"

// IsStudyFile reports whether a name is that of a table of a study, or of what a growth that was cut goes on from.
func IsStudyFile(name string) bool {
	return strings.HasPrefix(name, StudyPrefix) && (strings.HasSuffix(name, ".csv") || strings.HasSuffix(name, ".npz"))
}
