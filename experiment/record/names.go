package record

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
	LogFile        = "log.txt"
)
