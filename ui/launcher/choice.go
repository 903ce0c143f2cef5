package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/input"
)

// part is a setting that the launcher offers.
type part int

const (
	noPart part = iota
	targetPart
	inputsPart
	splitPart
	timePart
	kernelsPart
	growthPart
	inducingPart
	seedPart
	devicePart
	calendarPart
	holidaysPart
	zonePart
	outPart
	startPart // no setting: where enter starts
)

// partKeys are the keys of a config that the parts stand for.
var partKeys = map[part]string{
	targetPart: "data.target", inputsPart: "data.inputs", inducingPart: "sparse.inducing", seedPart: "seed", devicePart: "device.kind",
	splitPart: "data.split_by", timePart: "data.time", growthPart: "kernels.grow",
	calendarPart: "data.calendar", holidaysPart: "data.holidays", zonePart: "data.zone",
}

// choice is a config or file as the user has changed it. It is empty until its
// base is known.
type choice struct {
	name     string
	base     *config.Config
	columns  []library.TableColumn // of a table, nil for other data
	target   int                   // index into columns, −1: not known
	inputs   []bool                // of columns
	split    string                // how the held-out rows are chosen
	time     string                // whether the one input is time
	device   string
	grows    bool // the space of kernels does, while the run goes on
	kernels  input.Field
	inducing input.Field
	seed     input.Field
	out      input.Field       // the run's directory
	column   int               // cursor among the inputs
	types    map[string]string // that columns are taken for; nil: as the base has them
	texts    []string          // columns of texts that are inputs unless something else is said, which all rows tell

	calendar       []string // inputs made of the time stamps
	calendarAt     int      // cursor among those there may be
	holidays, zone input.Field
}

func newChoice(name string) *choice { return &choice{name: name, target: -1} }

// adopt takes in the config without changes.
func (c *choice) adopt(base *config.Config, columns []library.TableColumn) {
	c.base, c.columns, c.target = base, columns, -1
	for i, col := range columns {
		if col.Role == "target" {
			c.target = i
		}
		c.inputs = append(c.inputs, col.Role == "input")
	}
	if len(columns) > 0 && library.IsTable(c.name) &&
		(c.target < 0 || columns[c.target].Kind == "text" || columns[c.target].Kind == "time") {
		// The last column cannot be the target; the last one of numbers can.
		c.target = 0
		c.turnTarget(-1)
		if columns[c.target].Kind != "number" { // there is none: the loader says what is wrong
			c.target = c.baseTarget()
		}
	}
	c.split, c.time = base.Data.SplitBy, base.Data.Time
	c.device, c.grows = base.Device.Kind, base.Settings.Growth.On
	c.kernels = input.NewField(base.Kernels.Text(), base.Kernels.Text())
	c.inducing = input.NewField(c.baseInducing(), c.baseInducing())
	c.seed = input.NewField(c.baseSeed(), c.baseSeed())
	c.out = input.NewField("", "runs/"+base.Name+"-<time>")
	c.calendar = base.Data.Calendar
	c.holidays = input.NewField(base.Data.Holidays, "a country as DE or DE-BY, or a file of dates; none")
	c.zone = input.NewField(base.Data.Zone, "that of the stamps, or Europe/Zurich")
}

func (c *choice) baseInducing() string { return c.base.InducingText() }
func (c *choice) baseSeed() string     { return strconv.FormatUint(c.base.Settings.Seed, 10) }

// text returns the field of a part, nil if it is no text.
func (c *choice) text(p part) *input.Field {
	switch p {
	case kernelsPart:
		return &c.kernels
	case inducingPart:
		return &c.inducing
	case seedPart:
		return &c.seed
	case holidaysPart:
		return &c.holidays
	case zonePart:
		return &c.zone
	case outPart:
		return &c.out
	}
	return nil
}

// parts lists what can be changed now.
func (c *choice) parts() []part {
	if c == nil || c.base == nil {
		return nil
	}
	ps := []part{kernelsPart, growthPart, inducingPart, seedPart, devicePart, outPart, startPart}
	if len(c.columns) > 1 {
		of := []part{targetPart, inputsPart, splitPart}
		if c.single() {
			of = append(of, timePart)
		}
		of = append(of, c.calendarParts()...)
		ps = append(of, ps...)
	}
	return ps
}

// baseTarget returns the column that the base has for a target, −1 if none fits.
func (c *choice) baseTarget() int {
	return slices.IndexFunc(c.columns, func(col library.TableColumn) bool { return col.Role == "target" })
}

// usable reports whether a column can be an input.
func (c *choice) usable(i int) bool {
	return i != c.target && slices.Contains([]string{"number", "time", "text"}, c.columns[i].Kind)
}

// usual returns the inputs that follow from the target if nothing is said.
func (c *choice) usual(target int) []bool {
	out := make([]bool, len(c.columns))
	for i, col := range c.columns {
		if len(c.base.Data.Inputs) > 0 && c.baseTarget() >= 0 {
			out[i] = col.Role == "input"
		} else {
			out[i] = i != target && (col.Kind == "number" || col.Kind == "time" || col.Kind == "text" && slices.Contains(c.texts, col.Name))
		}
	}
	return out
}

// takeTexts makes inputs of the texts that the data as they are read have for inputs, unless
// the user has chosen.
func (c *choice) takeTexts(d *datasets.Summary) {
	if c.base == nil || !slices.Equal(c.inputs, c.usual(c.target)) {
		return
	}
	c.texts = nil
	for _, in := range d.Columns {
		if in.Role == "input" && len(in.Levels) > 0 {
			c.texts = append(c.texts, in.Name)
		}
	}
	c.inputs = c.usual(c.target)
}

// turnTarget makes the next column of numbers the target. Inputs that were not
// chosen one by one follow.
func (c *choice) turnTarget(by int) {
	if len(c.columns) < 2 {
		return
	}
	usual := c.target < 0 || slices.Equal(c.inputs, c.usual(c.target))
	at := c.target
	if at < 0 && by < 0 {
		at = 0
	}
	for range c.columns {
		at = (at + by + len(c.columns)) % len(c.columns)
		if c.columns[at].Kind != "number" {
			continue
		}
		c.target = at
		if usual {
			c.inputs = c.usual(at)
		}
		c.inputs[at] = false
		return
	}
}

// toggleInput takes the column under the cursor in or out. The last input
// stays.
func (c *choice) toggleInput() {
	if c.column >= len(c.columns) || !c.usable(c.column) {
		return
	}
	c.inputs[c.column] = !c.inputs[c.column]
	if !slices.Contains(c.inputs, true) {
		c.inputs[c.column] = true
	}
}

// moveColumn moves the cursor among the inputs.
func (c *choice) moveColumn(by int) {
	for at := c.column + by; at >= 0 && at < len(c.columns); at += by {
		if c.usable(at) {
			c.column = at
			return
		}
	}
}

// splits are the ways to hold rows out that need nothing else to be said.
var splits = []string{"auto", "random", "x", "rows"}

// turnSplit chooses another way to hold rows out.
func (c *choice) turnSplit(by int) {
	at := slices.Index(splits, c.split)
	c.split = splits[(at+by+len(splits))%len(splits)]
}

// single reports whether there is one input, which may be time.
func (c *choice) single() bool {
	n := 0
	for _, in := range c.inputs {
		if in {
			n++
		}
	}
	return n == 1
}

// noForecast says that what is taken in besides time leaves nothing to forecast with, "" where that
// is not so.
func (c *choice) noForecast() string {
	if c.single() {
		return ""
	}
	for i, in := range c.inputs {
		if in && c.columns[i].Kind == "time" {
			return "no forecast beyond the end with more inputs than " + words.PlainLine(c.columns[i].Name)
		}
	}
	return ""
}

// times are what data.time may be.
var times = []string{"auto", "yes", "no"}

// turnTime chooses another answer to whether the input is time.
func (c *choice) turnTime(by int) {
	at := slices.Index(times, c.time)
	c.time = times[(at+by+len(times))%len(times)]
}

// timeText says in words whether the input is time; of the data, nil if they are not
// read yet, what has been found.
func (c *choice) timeText(d *datasets.Summary) string {
	switch {
	case c.time == "yes":
		return "yes: a series, which is forecast"
	case c.time == "no":
		return "no"
	case d == nil:
		return "auto: by its name or stamps"
	case d.Series != nil:
		return "auto: yes, it is a series"
	}
	return "auto: no"
}

// splitText says in words which rows are held out, as timeText does.
func (c *choice) splitText(d *datasets.Summary) string {
	switch {
	case c.split == "auto" && d != nil && d.SplitBy == "x":
		return "auto: the last in time"
	case c.split == "auto" && d != nil:
		return "auto: drawn at random"
	case c.split == "auto":
		return "auto: the end of a series in time, else rows drawn at random"
	case c.split == "random":
		return "rows drawn at random"
	case c.split == "x":
		return "the end of the first input: a forecast"
	case c.split == "rows":
		return "the last rows of the file"
	}
	return c.split
}

// growthText says in words whether the space grows.
func (c *choice) growthText() string {
	if c.grows {
		return "yes: neighbours of the best come"
	}
	return "no: kernels as they are"
}

// turnDevice chooses the next device.
func (c *choice) turnDevice(devices []string, by int) {
	if len(devices) == 0 {
		return
	}
	at := slices.Index(devices, c.device)
	if at < 0 && by < 0 {
		at = 0
	}
	c.device = devices[(at+by+len(devices))%len(devices)]
}

// ref names a column: by number where its name is no help.
func (c *choice) ref(i int) string {
	if i < 0 || i >= len(c.columns) {
		return ""
	}
	name := c.columns[i].Name
	for j, col := range c.columns {
		if j != i && col.Name == name {
			return strconv.Itoa(c.columns[i].Number)
		}
	}
	if strings.TrimSpace(name) != name {
		return strconv.Itoa(c.columns[i].Number)
	}
	return name
}

// draft is what a choice asks for, apart from the screen.
type draft struct {
	name  string
	typed string // the path as it is written, "" where the name was chosen
	set   []config.Override
	parts []part // of set
	space string // "": that of the config
	out   string // directory of the run, "": where runs go
}

// draft says what has been changed.
func (c *choice) draft() draft {
	d := draft{name: c.name}
	if c.base == nil {
		return d
	}
	d.out = homePath(strings.TrimSpace(c.out.Value()))
	add := func(p part, o config.Override) {
		d.set, d.parts = append(d.set, o), append(d.parts, p)
	}
	if c.target >= 0 {
		if c.target != c.baseTarget() {
			add(targetPart, config.TextOverride(partKeys[targetPart], c.ref(c.target)))
		}
		if !slices.Equal(c.inputs, c.usual(c.target)) {
			var names []string
			for i, in := range c.inputs {
				if in {
					names = append(names, c.ref(i))
				}
			}
			if len(names) > 0 {
				add(inputsPart, config.ListOverride(partKeys[inputsPart], names))
			}
		}
	}
	c.typesSet(add)
	if c.split != c.base.Data.SplitBy {
		add(splitPart, config.TextOverride(partKeys[splitPart], c.split))
	}
	if c.single() && c.time != c.base.Data.Time {
		add(timePart, config.TextOverride(partKeys[timePart], c.time))
	}
	c.calendarSet(add)
	for _, p := range []struct {
		part part
		base string
	}{{inducingPart, c.baseInducing()}, {seedPart, c.baseSeed()}} {
		if v := strings.TrimSpace(c.text(p.part).Value()); v != "" && v != p.base {
			o, err := config.ParseOverride(partKeys[p.part] + "=" + v)
			if err == nil {
				add(p.part, o)
			}
		}
	}
	if c.grows != c.base.Settings.Growth.On {
		if o, err := config.ParseOverride(partKeys[growthPart] + "=" + strconv.FormatBool(c.grows)); err == nil {
			add(growthPart, o)
		}
	}
	if c.device != c.base.Device.Kind {
		add(devicePart, config.TextOverride(partKeys[devicePart], c.device))
	}
	if v := strings.TrimSpace(c.kernels.Value()); v != "" && v != c.base.Kernels.Text() {
		d.space = c.kernels.Value()
	}
	return d
}

// key tells drafts apart.
func (d *draft) key() string { return d.command(d.set) + "\x00" + d.space }

// command writes the command line that does the same without the launcher.
func (d *draft) command(set []config.Override) string {
	name := d.name
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	words := []string{"kestrel", "run", shellWord(name)}
	for _, o := range set {
		switch {
		case o.Key == partKeys[seedPart]:
			words = append(words, "--seed", shellWord(o.Value))
		case o.Key == partKeys[growthPart]:
			words = append(words, "--grow="+o.Value)
		case o.Key == partKeys[devicePart]:
			words = append(words, "--device", shellWord(o.Value))
		case o.Key == partKeys[targetPart] && !strings.HasPrefix(o.Value, `"`):
			words = append(words, "--target", shellWord(o.Value))
		default:
			words = append(words, "--set", shellWord(o.Key+"="+o.Value))
		}
	}
	if d.out != "" {
		words = append(words, "--out", shellWord(d.out))
	}
	return strings.Join(words, " ")
}

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,+@%^-]+$`)

// shellWord quotes a word for a POSIX shell.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// resolved is what a draft comes to.
type resolved struct {
	draft   draft
	base    *config.Config
	columns []library.TableColumn
	config  config.Config
	kernels int
	command string
	run     *library.RunInfo // the name is a run's directory
	ways    []string         // how a path that leads nowhere yet could go on

	err  error
	part part // that err is about
}

// resolve reads a draft's config with its changes, as the command line would.
func resolve(ctx context.Context, d draft) resolved {
	r := resolved{draft: d}
	if rundir.IsRun(d.name) {
		info := library.ReadRunInfo(d.name)
		r.run = &info
		return r
	}
	if info, err := os.Stat(d.name); d.typed != "" && (err != nil || info.IsDir()) {
		_, r.ways = completePath(d.typed)
		if err == nil {
			r.err = fmt.Errorf("%q is a folder; name a file in it", d.name)
			return r
		}
	}
	base, err := library.ConfigFor(d.name, nil)
	if err != nil {
		r.err = err
		return r
	}
	r.base = &base
	if r.columns, err = library.TableColumns(base); err != nil {
		r.columns = nil // the preview says why the data cannot be read
	}
	set := d.set
	r.command = d.command(set)
	r.kernels, err = 0, nil
	if d.space != "" {
		space, n, err := config.ParseSpace(d.space)
		if err != nil {
			r.err, r.part = err, kernelsPart
			return r
		}
		r.kernels = n
		set = append(slices.Clone(set), space.Overrides()...)
		r.command = d.command(set)
	}
	if ctx.Err() != nil {
		r.err = context.Cause(ctx)
		return r
	}
	if r.config, r.err = library.ConfigFor(d.name, set); r.err != nil {
		r.part = d.culprit(r.err)
		return r
	}
	if d.space == "" || len(base.Kernels.Weights) > 0 {
		space, err := r.config.Kernels.Candidates()
		if err != nil {
			r.err, r.part = err, kernelsPart
			return r
		}
		r.kernels = len(space)
	}
	return r
}

// culprit returns the part that an error is about.
func (d *draft) culprit(err error) part {
	var wrong *config.OverrideError
	if errors.As(err, &wrong) {
		if i := slices.IndexFunc(d.set, func(o config.Override) bool { return o.Flag == wrong.Flag }); i >= 0 {
			return d.parts[i]
		}
	}
	return noPart
}

// reason writes an error for the place beside the part it is about.
func (r *resolved) reason() string {
	var space *config.SpaceError
	if errors.As(r.err, &space) {
		return space.Msg
	}
	var wrong *config.OverrideError
	if r.part != noPart && errors.As(r.err, &wrong) && wrong.About == wrong.Key {
		return wrong.Err.Error()
	}
	return r.err.Error()
}

// caret returns the column of the kernels' text that is wrong, −1 if there is
// none.
func (r *resolved) caret() int {
	var space *config.SpaceError
	if errors.As(r.err, &space) {
		return space.Col
	}
	return -1
}

// dataKey identifies the data that a config reads, and how they are divided.
func dataKey(c *config.Config) string {
	return fmt.Sprintf("%#v %s", c.Data, c.SHA256)
}
