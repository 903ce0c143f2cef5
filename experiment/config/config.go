package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"example.com/kestrel/configs"
	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/transform"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/vbks"
)

// Config is everything that decides a run.
type Config struct {
	Name        string
	Data        datasets.Spec // Seed is that of Settings
	SHA256      string        // of the data file, if it is to be checked
	MaskSHA256  string        // of Data.Mask, likewise
	HolidaysSHA string        // of Data.Holidays, likewise
	Kernels     KernelSpace
	Mean        string        // of y, one of MeanNames
	Settings    vbks.Settings // TimeBudget is kept by the Run
	Stated      Stated        // of hyperparameters
	Evaluations int           // at most so many; 0: as many as planned
	MetricRows  int           // test rows scored at each evaluation; 0: all
	MostMemory  int           // MB that a run may take; 0: any
	Checkpoint  float64       // s between checkpoints at least, while the run works; below 0: by what they take
	Device      DeviceChoice
	Cluster     ClusterChoice
	Compare     Comparison
	Unasked     bool // nobody asks questions beside the run; no key of a config
	KeepTable   bool // the run keeps a copy of its table, which is nowhere else; no key of a config

	Disk inside.Disk // that the run's files are written to; no key of a config
}

// KernelSpace says which kernels compete: one of Set, Expressions, or Base with
// Depth.
type KernelSpace struct {
	Set         string
	Expressions []string
	Base        []string
	Depth       int
	Weights     map[string]float64 // prior weights by expression; 1 where not stated
}

// LinearMean is a mean function that is learned with every kernel.
const LinearMean = "linear"

// MeanNames lists what Config.Mean may be; the first is the default.
func MeanNames() []string { return []string{"constant", LinearMean, "none"} }

// DeviceKinds lists where can be computed; the first is the default.
func DeviceKinds() []string { return []string{"auto", "cpu", "cuda"} }

// DeviceChoice says where to compute.
type DeviceChoice struct {
	Kind  string // one of DeviceKinds
	Lanes int    // 0: as many as the device has
	Cores int    // those that a CPU has, where not GOMAXPROCS; no key of a config
	Only  string // a kind in the place of Kind, which all machines take that do a part; "": none; no key of a config
}

// ClusterChoice says how a run treats processes that take part, where it lets them.
type ClusterChoice struct {
	LostAfter float64 // s
	MostLost  int     // workers that go down with a kernel which fails then
	WorkHere  bool
}

// Default returns the config that an empty file stands for.
func Default() Config {
	s := vbks.DefaultSettings()
	s.AutoPruneMass = 0
	return Config{
		Name: "run",
		Data: datasets.Spec{
			Source: "csv", Header: "auto", Delimiter: "auto", Decimal: "auto", Missing: datasets.DefaultMissing(),
			TestFraction: 0.1, SplitBy: "auto", Time: "auto", MaskColumn: 1, Order: "shuffled",
			StandardiseX: "full", StandardiseY: "full", Transform: transform.Auto, ValidRows: 1_000_000, Cycle: -1,
			Calendar: []string{autoText}, Support: 256, Outputs: 1000, Low: -10, High: 10,
		},
		Kernels:    KernelSpace{Set: autoText},
		Mean:       MeanNames()[0],
		Settings:   s,
		MetricRows: 2000,
		Checkpoint: -1,
		Device:     DeviceChoice{Kind: "auto"},
		Cluster:    ClusterChoice{LostAfter: 10, MostLost: 3, WorkHere: true},
		Compare:    defaultCompare(),
	}
}

// defaultDepth and defaultBase are of the space of kernels for data that are no series
// in time.
const defaultDepth = 2

func defaultBase() []string { return []string{"SE", "RQ", "LIN", "PER"} }

// Load reads a config: a TOML file, or the name of a built-in config.
// set is applied on top. Errors name the file
// and line, or the override, and say what is allowed.
func Load(name string, set []Override) (Config, error) {
	text, err := readHead(name, largestConfig+1)
	switch {
	case err == nil && len(text) > largestConfig:
		return Config{}, fmt.Errorf("config %q is larger than %d KiB; a config is TOML, and a table of data is told by its name: .csv, .tsv, "+
			".txt or .dat", name, largestConfig>>10)
	case err == nil:
		if _, err := parseTOML(text, filepath.Base(name)); err != nil && !strings.EqualFold(filepath.Ext(name), ".toml") {
			return Config{}, fmt.Errorf("%w; a config is TOML, and a table of data is told by its name: .csv, .tsv, .txt or .dat", err)
		}
		return read(text, name, set)
	case !errors.Is(err, fs.ErrNotExist):
		if info, statErr := os.Stat(name); statErr == nil && info.IsDir() {
			return Config{}, fmt.Errorf("config %q is a folder; name a TOML file or one of %s", name, strings.Join(configs.Names(), ", "))
		}
		return Config{}, fmt.Errorf("config %q cannot be read: %w", name, errors.Unwrap(err))
	}
	if text, ok := configs.Read(name); ok {
		c := Default()
		return c.Read(text, name+" (built in)", set)
	}
	near := ""
	if n := Nearest(name, configs.Names()); n != "" {
		near = fmt.Sprintf("did you mean %s? ", n)
	}
	return Config{}, fmt.Errorf("config %q: no such file; %sbuilt-in configs are %s", name, near, strings.Join(configs.Names(), ", "))
}

// read reads the text of a file of a name, which its data are looked for beside.
func read(text []byte, name string, set []Override) (Config, error) {
	return named(name).Read(text, filepath.Base(name), set)
}

// named is the default config of a file of a name.
func named(name string) Config {
	c := Default()
	if base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)); FileName.MatchString(base) {
		c.Name = base
	}
	c.Data.SearchDirs = []string{filepath.Dir(name)}
	return c
}

// ForTable returns the default config for a table of numbers. target may be
// empty: the last column.
func ForTable(path, target string, set []Override) (Config, error) {
	c := Default()
	c.Name = dataName(path)
	c.Data.Path, c.Data.Target = path, target
	return c.Read(nil, "defaults", set)
}

// dataName makes a run's name from that of a data file.
func dataName(path string) string {
	if path == datasets.StandardInput {
		return "stdin"
	}
	base := filepath.Base(path)
	if i := strings.IndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	name := strings.Map(func(r rune) rune {
		if FileName.MatchString(string(r)) {
			return r
		}
		return '-'
	}, base)
	if !FileName.MatchString(name) {
		return "run"
	}
	return name
}

// Read sets what the text and the overrides say, in this order, and checks the
// whole.
func (c Config) Read(text []byte, file string, set []Override) (Config, error) {
	c = c.Clone()
	entries, err := parseTOML(text, file)
	if err != nil {
		return Config{}, err
	}
	for _, s := range set {
		entries = append(entries, s.entry())
	}
	keys := c.keys()
	given := map[string]entry{}
	for _, e := range entries {
		if known, err := stateOne(e, keys, given); known {
			if err != nil {
				return Config{}, err
			}
			continue
		}
		i := slices.IndexFunc(keys, func(k key) bool { return k.path() == e.path })
		if i < 0 {
			return Config{}, e.wrong("", errors.New(unknownKey(e.path, keys)))
		}
		if err := c.alternatives(e, given); err != nil {
			return Config{}, err
		}
		if err := keys[i].value.set(e.value); err != nil {
			if t, isText := keys[i].value.(textValue); !isText || e.raw == "" || t.set(e.raw) != nil {
				return Config{}, e.wrong(e.path, err)
			}
		}
		given[e.path] = e
	}
	c.Data.Seed = c.Settings.Seed
	if err := c.settleMean(given); err != nil {
		return Config{}, err
	}
	if c.Kernels.Base != nil && c.Kernels.Depth == 0 {
		c.Kernels.Depth = defaultDepth
	}
	return c, c.check(file, given)
}

// settleMean has kernels.mean and data.standardise_y say the same: a constant mean is the
// training rows', which standardising takes off. An override counts more than a file.
func (c *Config) settleMean(given map[string]entry) error {
	const constant, none, full, scale = "constant", "none", "full", "scale"
	d := &c.Data
	if c.Mean != constant && c.Mean != none || (c.Mean == none) != (d.StandardiseY == full) {
		return nil
	}
	mean, meant := given["kernels.mean"]
	standard, standardised := given["data.standardise_y"]
	switch {
	case meant && standardised && mean.override == standard.override:
		wants := strconv.Quote(full)
		if c.Mean == none {
			wants = `"scale" or "none"`
		}
		return mean.wrong("kernels.mean", fmt.Errorf("= %q needs data.standardise_y = %s, not %q", c.Mean, wants, d.StandardiseY))
	case meant && (!standardised || mean.override):
		if d.StandardiseY = full; c.Mean == none {
			d.StandardiseY = scale
		}
	default:
		if c.Mean = none; d.StandardiseY == full {
			c.Mean = constant
		}
	}
	return nil
}

// Clone copies what read may change in place.
func (c Config) Clone() Config {
	c.Data.Missing = slices.Clone(c.Data.Missing)
	c.Kernels.Base = slices.Clone(c.Kernels.Base)
	c.Stated = c.Stated.clone()
	return c
}

// alternatives clears the other ways to state the kernel space: an override
// replaces what the file says, but one source must not say two things.
func (c *Config) alternatives(e entry, given map[string]entry) error {
	groups := [][]string{{"kernels.set"}, {"kernels.expressions"}, {"kernels.base", "kernels.depth"}}
	mine := slices.IndexFunc(groups, func(g []string) bool { return slices.Contains(g, e.path) })
	if mine < 0 {
		return nil
	}
	for i, g := range groups {
		for _, path := range g {
			if other, ok := given[path]; ok && i != mine {
				if other.override == e.override {
					return e.wrong(e.path, fmt.Errorf("stands beside %s; state one of set, expressions, or base with depth", other.path))
				}
				delete(given, path)
			}
		}
	}
	k := &c.Kernels
	switch mine {
	case 0:
		k.Expressions, k.Base, k.Depth = nil, nil, 0
	case 1:
		k.Set, k.Base, k.Depth = "", nil, 0
	case 2:
		k.Set, k.Expressions = "", nil
		if k.Base == nil {
			k.Base = defaultBase()
		}
	}
	return nil
}

// check finds contradictions between keys.
func (c *Config) check(file string, given map[string]entry) error {
	// place is the key that is to be changed, about the one that is wrong.
	wrong := func(place, about, format string, args ...any) error {
		e, ok := given[place]
		if !ok {
			e = entry{where: file}
		}
		return e.wrong(about, fmt.Errorf(format, args...))
	}
	d, s := &c.Data, &c.Settings
	volumes := s.Evidence == "laplace" || s.Evidence == "draws"
	if first, second := c.Stated.contradiction(); second != "" {
		return wrong(second, second, "stands beside %s; leave one out", first)
	}
	paths, _ := given["data.path"].value.([]any)
	switch {
	case d.Source == "synthetic" && d.Kernel == "":
		return wrong("data.source", "data.kernel",
			"is missing; source = \"synthetic\" needs a kernel to draw a function from, such as \"PER*LIN\"")
	case d.Source != "synthetic" && d.Path == "":
		return wrong("data.source", "data.path", "is missing; source = %q needs the file to read", d.Source)
	case len(paths) > 1 && d.Source != "swissgrid":
		return wrong("data.path", "data.path", "is a list; only source = \"swissgrid\" joins files, not %q", d.Source)
	case d.SplitBy == "mask" && d.Source == "synthetic":
		return wrong("data.split_by", "data.split_by", "= \"mask\" needs a data file, but source is \"synthetic\"")
	case d.SplitBy == "mask" && d.Mask == "":
		return wrong("data.split_by", "data.mask", "is missing; split_by = \"mask\" needs the file that marks test rows")
	case volumes && (s.Hyperparameters != "point" || !s.ThetaPrior):
		return wrong("optimise.evidence", "optimise.evidence",
			"= %q needs optimise.hyperparameters = \"point\" and theta_prior = true", s.Evidence)
	case volumes && s.Optimizer != "auto" && s.Optimizer != "collapsed":
		return wrong("optimise.evidence", "optimise.evidence",
			"= %q needs optimise.optimizer = \"collapsed\" or \"auto\", not %q", s.Evidence, s.Optimizer)
	case s.Growth.On && len(c.Kernels.Weights) > 0:
		return wrong("kernels.weights", "kernels.weights", "does not go with kernels.grow, whose prior is over all kernels that may come")
	case s.Growth.On && !c.Stated.Empty():
		return wrong("kernels.grow", "kernels.grow",
			"= true does not go with optimise.fix, bound and prior, which are about the kernels that there are")
	case s.Growth.On && s.Optimizer == "adam":
		return wrong("kernels.grow", "kernels.grow", "= true needs optimise.optimizer = \"auto\", \"collapsed\" or \"natural\", not \"adam\"")
	case len(c.Stated.Prior) > 0 && s.Hyperparameters == "point" && !s.ThetaPrior:
		return wrong(priorKey+"."+keysOf(c.Stated.Prior)[0], priorKey, "needs optimise.theta_prior = true: without, priors do not count")
	case d.Source == "synthetic" && len(d.Calendar) > 0 && !c.CalendarOpen():
		return wrong("data.source", "data.calendar", "needs time stamps, but source is \"synthetic\"")
	case len(d.Calendar) > 1 && slices.Contains(d.Calendar, autoText):
		return wrong("data.calendar", "data.calendar", "is [%q] or a list of columns, not both", autoText)
	case d.Source == "synthetic" && d.Holidays != "":
		return wrong("data.source", "data.holidays", "needs time stamps, but source is \"synthetic\"")
	case !(d.Low < d.High):
		return wrong("data.low", "data.low", "must be less than data.high, not %v and %v", d.Low, d.High)
	}
	return nil
}

// unknownKey says what is wrong with a key that does not exist.
func unknownKey(path string, keys []key) string {
	section, name, dotted := strings.Cut(path, ".")
	if !dotted {
		section, name = "", path
	}
	var sections, names, all []string
	for _, k := range keys {
		if k.section != "" && !slices.Contains(sections, k.section) {
			sections = append(sections, k.section)
		}
		if k.section == section {
			names = append(names, k.name)
		}
		all = append(all, k.path())
	}
	if len(names) == 0 {
		msg := fmt.Sprintf("unknown section [%s]", section)
		if n := Nearest(section, sections); n != "" {
			return fmt.Sprintf("%s; did you mean [%s]?", msg, n)
		}
		return msg + "; sections are " + strings.Join(sections, ", ")
	}
	msg := fmt.Sprintf("unknown key %q", path)
	if n := Nearest(name, names); n != "" {
		if section != "" {
			n = section + "." + n
		}
		return fmt.Sprintf("%s; did you mean %q?", msg, n)
	}
	for _, other := range all { // the right key in the wrong section
		if _, n, ok := strings.Cut(other, "."); ok && n == name || other == name {
			return fmt.Sprintf("%s; did you mean %q?", msg, other)
		}
	}
	where := "keys of [" + section + "]"
	if section == "" {
		where = "keys and sections"
		names = append(names, sections...)
	}
	return fmt.Sprintf("%s; %s are %s", msg, where, strings.Join(names, ", "))
}

// Nearest returns the name closest to what was written, "" if none is close.
func Nearest(written string, names []string) string {
	if len(written) > 200 { // nothing is so long, and comparing it would take its time
		return ""
	}
	best, distance := "", 0
	for _, n := range names {
		d := levenshtein.ComputeDistance(strings.ToLower(written), strings.ToLower(n))
		if best == "" || d < distance {
			best, distance = n, d
		}
	}
	if best == "" || distance > max(1, len([]rune(best))/3) {
		return ""
	}
	return best
}
