package config

import (
	"math"
	"regexp"

	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/transform"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/inducing"
	"example.com/kestrel/vbks/local"
)

// key is one line of a config.
type key struct {
	section, name string
	value         value
	about         string
}

func (k key) path() string {
	if k.section == "" {
		return k.name
	}
	return k.section + "." + k.name
}

// FileName matches what may be part of the name of a run directory.
var FileName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

const many = 1_000_000_000

// keys lists every key with the field that it sets. It is the one place that
// says what a config may hold.
func (c *Config) keys() []key {
	d, k, s, v := &c.Data, &c.Kernels, &c.Settings, &c.Compare
	inf := math.Inf(1)
	return []key{
		{"", "name", textValue{p: &c.Name, match: FileName, want: "letters, digits, '.', '_' and '-'"}, "of the run and its directory"},
		{"", "seed", seed{&s.Seed}, "of everything random; --repeat counts up from it"},

		{"data", "source", choice(&d.Source, datasets.Sources()...), "csv: any table; synthetic: drawn from a kernel; else these data sets"},
		{"data", "name", textValue{p: &d.Name}, "of the data set; default: the file's name, or the kernel"},
		{"data", "path", dataPath{&d.Path}, "against the config's folder, the working directory, then $KESTREL_DATA; swissgrid: a list, " +
			"folder or pattern, too"},
		{"data", "sha256", sha256Value(&c.SHA256), "of the file, if it is to be checked"},
		{"data", "inputs", columns{&d.Inputs}, "by name or number; default: all others"},
		{"data", "target", column{&d.Target}, "by name or number; default: the last; of workbooks: part of the name"},
		{"data", "header", choice(&d.Header, "auto", "yes", "no"), "whether the first line names the columns"},
		{"data", "delimiter", textValue{p: &d.Delimiter}, `"auto", "tab", "space", or a character`},
		{"data", "decimal", choice(&d.Decimal, "auto", ".", ","), "the decimal sign; the other one may divide thousands"},
		{"data", "types", columnTypes{&d.Types}, "of columns, where they are not taken for what they are: {room = \"levels\"}"},
		{"data", "missing", texts{&d.Missing}, "what stands for a missing value"},
		{"data", "first_rows", whole{&d.FirstRows, 0, many},
			"of the table: scaling, seasons, candidate periods and held-out rows are theirs, those behind are learned from last; 0: all"},
		{"data", "test", testRows{&d.TestRows, &d.TestFraction}, "rows (a whole number) or a fraction held out"},
		{"data", "split_by", choice(&d.SplitBy, "auto", "random", "rows", "x", "mask"),
			"rows: the last ones; x: the largest inputs; auto: these of a series in time, else random"},
		{"data", "time", choice(&d.Time, "auto", "yes", "no"), "whether the input is time; auto: time stamps, or by its name and its steps"},
		{"data", "group", column{&d.Group}, "column that names the series of a long table; kestrel backtest forecasts each"},
		{"data", "group_value", textValue{p: &d.GroupValue}, "the series that is meant; default: the only one"},
		{"data", "noise_column", column{&d.NoiseColumn},
			"with the standard deviation of each row's noise, but for a common factor; it is no input"},
		{"data", "noise_by", column{&d.NoiseBy}, "an input of few values, each of which has noise of its own"},
		{"data", "cycle", autoReal{&d.Cycle, 0, many, false},
			`of a series in time, in steps, none of the calendar's; "auto": if its values show one; 0: none`},
		{"data", "season", autoWhole{&d.Season, 1, many}, `of a series in time, in steps; "auto": by the calendar; 1: none`},
		{"data", "calendar", chosen{&d.Calendar, append([]string{autoText}, datasets.CalendarNames()...)},
			`inputs made of the time stamps of a series, known for all times; ["auto"]: of many rows within days, of years, that show a day`},
		{"data", "holidays", textValue{p: &d.Holidays},
			"file of dates, or a country's code as DE or DE-BY: an input that is 1 on them, else 0; default: none, or as data.zone"},
		{"data", "holidays_sha256", sha256Value(&c.HolidaysSHA), "of that file, if it is to be checked"},
		{"data", "zone", textValue{p: &d.Zone},
			"of both, such as Europe/Zurich; default: that of the stamps, or, where the calendar comes by itself, what rows show"},
		{"data", "mask", textValue{p: &d.Mask}, "file whose entries are 1 for test rows"},
		{"data", "mask_column", whole{&d.MaskColumn, 1, many}, "counted from 1"},
		{"data", "mask_sha256", sha256Value(&c.MaskSHA256), "of the mask, if it is to be checked"},
		{"data", "order", choice(&d.Order, "shuffled", "time"), "of the training rows"},
		{"data", "standardise_x", choice(&d.StandardiseX, "full", "scale", "none"), "of the inputs; scale: no shift"},
		{"data", "standardise_y", choice(&d.StandardiseY, "full", "scale", "none"), "of the target"},
		{"data", "transform", choice(&d.Transform, transform.Names()...),
			"of y, before that; auto: log where a series in time is forecast better so"},
		{"data", "transform_bounds", interval{&d.TransformBounds}, "logit: what y lies between; default: 0 and 1"},
		{"data", "locations", textValue{p: &d.Locations}, "ieq: file of the motes' places; default: mote_locs.txt beside the data"},
		{"data", "valid_rows", whole{&d.ValidRows, 0, many}, "ieq: the first valid rows are taken; 0: all"},
		{"data", "kernel", expression{&d.Kernel}, "synthetic: the true kernel"},
		{"data", "params", reals{&d.Params}, "its raw parameters, leaf by leaf; default: the paper's"},
		{"data", "noise", real{&d.Noise, 0, inf, false}, "synthetic: sd of the observation noise, in sds of y"},
		{"data", "support", whole{&d.Support, 1, 5000}, "synthetic: support inputs"},
		{"data", "outputs", whole{&d.Outputs, 1, many}, "synthetic: training rows"},
		{"data", "low", real{&d.Low, -inf, inf, false}, "synthetic: range of the inputs"},
		{"data", "high", real{&d.High, -inf, inf, false}, "synthetic: where that range ends"},

		{"kernels", "set", kernelSet{&k.Set},
			`a kernel space by name; "auto": series for a series in time, else all with two of SE, RQ, LIN, PER`},
		{"kernels", "expressions", expressions{&k.Expressions}, "a list of kernels"},
		{"kernels", "base", expressions{&k.Base}, "all kernels with up to depth of these"},
		{"kernels", "depth", depth{&k.Depth}, "base kernels in each of them, at most"},
		{"kernels", "weights", weights{&k.Weights}, "prior weights by expression; 1 where not stated"},
		{"kernels", "grow", flag{&s.Growth.On}, "neighbours of the best kernels enter while the run goes on, and the least leave"},
		{"kernels", "grow_live", whole{&s.Growth.Live, 2, 10_000}, "kernels that are compared then, at most"},
		{"kernels", "grow_rows", whole{&s.Growth.Rows, 0, 100_000},
			"of more than three quarters of compare_all, up to 2000, on which it grows first where few inducing inputs show too little; 0: all"},
		{"kernels", "grow_leaves", whole{&s.Growth.Leaves, 1, grow.MostLeaves},
			"base kernels in each of them, at most; 8, which is usual: or two more than the largest that is stated has"},
		{"kernels", "grow_ratio", real{&s.Growth.Ratio, 0, 1, true},
			"of the prior of all kernels with a base kernel more to that of those with one less"},
		{"kernels", "grow_stated", autoReal{&s.Growth.Stated, 0, 0.99, false},
			`share of that prior which the kernels that are stated, of more than a base kernel, have together; "auto": half, but nothing ` +
				`where the program has made a list for data that are no series`},
		{"kernels", "grow_change", flag{&s.Growth.Change}, "change points, too; else only where the space has some"},
		{"kernels", "mean", choice(&c.Mean, MeanNames()...),
			"of y: that of the training rows; a line whose coefficients are learned; none, 0"},
		{"kernels", "likelihood", choice(&s.Likelihood, vbks.LikelihoodNames()...),
			"of y: normal noise; Student's t; auto: normal, but with heavy tails where the rows speak for outliers"},
		{"kernels", "priors", choice(&s.Priors, vbks.PriorNames()...),
			"of hyperparameters; auto: those of series for the kernels of series, else broad"},
		{"kernels", "ard", flag{&s.ARD}, "a length scale for each column"},
		{"kernels", "shared_period", flag{&s.SharedPeriod}, "one period for all columns"},

		{"sparse", "inducing", autoWhole{&s.Inducing, 1, 100_000}, `M, or "auto": few for all kernels, more for the best`},
		{"sparse", "first_inducing", whole{&s.FirstInducing, 0, 100_000}, `what "auto" begins with; 0: 64, with more than 36 kernels 32`},
		{"sparse", "compare_all", whole{&s.AllRows, 0, 100_000},
			`of up to so many rows "auto" compares all kernels with its second number, too, and tries twice the starts`},
		{"sparse", "most_inducing", whole{&s.MostInducing, 0, 100_000}, `where "auto" ends; 0: at as many as there are rows, within reason`},
		{"sparse", "most_seconds", real{&s.MostSeconds, 0, inf, false},
			`"auto" begins nothing that would take a run's evaluations longer; results then depend on the machine; 0: none`},
		{"sparse", "most_memory", whole{&c.MostMemory, 0, many},
			`MB of a run, by the estimate for the device's lanes: "auto" ends there; 0: none`},
		{"sparse", "placement", choice(&s.Placement, inducing.Methods()...), "of inducing inputs; auto: by the data"},
		{"sparse", "own", choice(&s.Own, vbks.OwnNames()...),
			"inducing inputs of their own for the best kernels, where there are more rows than could all be inducing inputs"},
		{"sparse", "windows", flag{&s.Windows},
			"log evidence by windows of neighbours, of one input and more rows than could all be inducing inputs, where errors are integrated"},
		{"sparse", "bound", choice(&s.Bound, vbks.BoundNames()...), "on which hyperparameters are searched"},
		{"sparse", "jitter", real{&s.Jitter.Relative, 0, 1, false}, "times the mean diagonal of k(Z,Z)"},
		{"sparse", "jitter_absolute", real{&s.Jitter.Absolute, 0, 1, false}, "added to it"},

		{"optimise", "optimizer", choice(&s.Optimizer, vbks.OptimizerNames()...), "auto: collapsed up to 4,000 training rows, natural beyond"},
		{"optimise", "hyperparameters", choice(&s.Hyperparameters, "point", "diagonal", "full"), "form of q(log θ)"},
		{"optimise", "theta_prior", flag{&s.ThetaPrior}, `log p(θ) in the local ELBO, with "point"`},
		{
			"optimise",
			"evidence",
			choice(&s.Evidence, vbks.EvidenceNames()...),
			"of kernels in the belief: at the mode, with its volume, integrated by draws; auto: by draws where bounds are of all rows",
		},
		{"optimise", "theta_samples", whole{&s.ThetaSamples, 1, 1000}, "of q(log θ) for each gradient"},
		{"optimise", "starts", whole{&s.Starts, 1, 1000}, "fresh starts of each kernel at each evaluation"},
		{"optimise", "transplants", flag{&s.Transplants}, "try solutions of related kernels"},
		{"optimise", "noise_floor", real{&s.NoiseFloor, 0, 1, false}, "least noise variance, as a fraction of var(y)"},
		{"optimise", "learning_rate", real{&s.LearningRate, 0, 10, true}, "of Adam"},

		{"optimise", "fix", fixed(&c.Stated.Fix), `hyperparameters that are not learned, by name: {"PER.period" = "7 d"}, in data units`},
		{"optimise", "bound", bounded(&c.Stated.Bound), `between which they are: {"SE.lengthscale[x]" = [2, 10]}`},
		{"optimise", "prior", likely(&c.Stated.Prior), `of them, in the place of the general one: {noise = {median = 0.1, factor = 2}}`},

		{"schedule", "batch", whole{&s.Batch, 1, many}, "B"},
		{"schedule", "evaluate_every", real{&s.EvaluateEvery, 0, 1, true}, "proportion of the rows that each evaluation adds"},
		{"schedule", "steps", whole{&s.Steps, 1, many}, "of an evaluation"},
		{"schedule", "refine", whole{&s.Refine, 0, many}, "evaluations after all data are used"},
		{"schedule", "budget", budget{&c.Evaluations, &s.TimeBudget}, `at most so many evaluations, or a time such as "10m"; 0: none`},
		{"schedule", "checkpoint", autoReal{&c.Checkpoint, 0, 86_400, false},
			"s between checkpoints at least, but for orders and stops; 0: one after each evaluation; auto: that while they are small, else 60"},
		{"schedule", "elbo_rows", whole{&s.ELBORows, 0, many}, "rows on which local ELBOs are estimated; 0: all"},

		{"posterior", "prior_variance", real{&s.PriorVariance, 0, inf, true}, "s of p(g) = N(m0, s I)"},
		{"posterior", "evidence_scale", real{&s.EvidenceScale, 0, inf, true}, "τ: local ELBOs are divided by it"},
		{"posterior", "samples", whole{&s.Samples, 1, 1_000_000}, "S"},
		{"posterior", "errors", choice(&s.Errors, "integrate", "ignore"), "of the local ELBOs, in q* and Bayes' rule"},
		{"posterior", "auto_prune", autoPrune{&s.AutoPruneMass, &s.AutoPruneWait, &s.AutoPruneKeep}, "false, or {below, wait, keep}"},

		{"predict", "top", whole{&s.Top, 0, many}, "kernels averaged over; 0: all"},
		{"predict", "theta", choice(&s.PredictTheta, vbks.PredictThetaNames()...),
			"hyperparameters at their mode, or averaged over by the curvature there; auto: up to 2,000 rows"},
		{"predict", "weights", choice(&s.Weights, vbks.WeightNames()...),
			"auto: tempered for a series in time, origins for a long one, else posterior; loo: by rows left out, " +
				"in blocks as long as the gaps that are held out; origins: by forecasts within the rows"},
		{"predict", "calibrate", choice(&s.Calibrate, vbks.CalibrateNames()...),
			"auto: intervals of a series in time have the width that rolling origins within the training rows speak for"},
		{"predict", "local", choice(&s.Local, local.Names()...),
			"neighbours: rows among those known are predicted from these; auto: where that is better, of 2,000 rows or more"},
		{"predict", "metric_rows", whole{&c.MetricRows, 0, many}, "test rows scored at each evaluation; 0: all"},

		{"device", "kind", choice(&c.Device.Kind, DeviceKinds()...), "where to compute; auto: on cards if there are any"},
		{"device", "lanes", whole{&c.Device.Lanes, 0, 4096}, "0: as many as the device has"},

		{"cluster", "lost_after", real{&c.Cluster.LostAfter, 0.2, 86400, false},
			"s: with --cluster a worker that is silent for so long is lost, and others begin its kernels again"},
		{"cluster", "most_lost", whole{&c.Cluster.MostLost, 3, 1_000_000}, "with --cluster a kernel with which so many workers go down fails"},
		{"cluster", "work_here", flag{&c.Cluster.WorkHere}, "with --cluster the run's own lanes work, too"},

		{"compare", "methods", methods{&v.Methods}, "of kestrel compare"},
		{"compare", "runs", whole{&v.Runs, 1, 10_000}, "of each method, with seeds counting up"},
		{"compare", "random_runs", whole{&v.RandomRuns, 1, 1_000_000}, "kernels drawn at random"},
		{"compare", "random_seeds", whole{&v.RandomSeeds, 0, 10_000},
			"that these are spread over; 0: those of all runs; 1: at most K trainings, all on one division of the data"},
		{"compare", "budget", compareBudget{&v.Budget},
			`"vbks": as long as VBKS took; a time such as "10m" (the clock decides with both); a number of kernels`},
		{"compare", "rows", whole{&v.Rows, 2, 5000}, "at which bo measures the distance between kernels"},
		{"compare", "draws", whole{&v.Draws, 1, 10_000}, "of the hyperparameters' prior, for that"},
		{"compare", "depth", whole{&v.Depth, 1, 8}, "base kernels in a kernel of cks, at most"},
		{"compare", "prune", pruning(&v.Prune), "of vbks-prune: {below, wait, keep}"},
	}
}
