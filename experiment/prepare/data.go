package prepare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/transform"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
)

// ChangedFile is a file of the data that is not the one that a config means.
type ChangedFile struct{ Path, key, was, is string }

func (e *ChangedFile) Error() string {
	return fmt.Sprintf("%s: its sha256 is %s, not %s = %q; the file has changed, remove the key to use it all the same", e.Path, e.is, e.key,
		e.was)
}

// Table reports whether it is the data's own, not one that comes with them.
func (e *ChangedFile) Table() bool { return e.key == tableKey }

// tableKey is the key that names the hash of the data's own file.
const tableKey = "data.sha256"

// LoadSettled loads the data of a config, decides what the config leaves to them, and
// fits their transform and standardisation. The notices of the data tell of it.
func LoadSettled(ctx context.Context, c *config.Config) (*datasets.Dataset, *datasets.Scaler, error) {
	d, s, err := LoadData(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if show, ok := ctx.Value(showingKey{}).(func(*datasets.Dataset)); ok {
		show(d)
	}
	if changed, err := settle(ctx, c, d); err != nil || !changed {
		return d, s, err
	}
	s, err = datasets.NewScaler(d, c.Data)
	return d, s, err
}

// settle decides what a config leaves to its data, and tells whether these are to be
// transformed otherwise than before.
func settle(ctx context.Context, c *config.Config, d *datasets.Dataset) (transformed bool, err error) {
	was := c.Data.Transform
	notice, err := decideTransform(ctx, c, d)
	if err != nil {
		return false, err
	}
	if notice != "" {
		d.Notices = append(d.Notices, notice)
	}
	c.SettleData(d)
	return was == transform.Auto && c.Data.Transform != transform.None, nil
}

// LoadData loads the data of a config and fits their transform and standardisation.
// What the config leaves to the data is left so, but for the inputs that are made of the calendar.
func LoadData(ctx context.Context, c *config.Config) (*datasets.Dataset, *datasets.Scaler, error) {
	d, err := load(ctx, c)
	if err == nil {
		err = checkFiles(c, d)
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := datasets.NewScaler(d, c.Data)
	if err != nil {
		return nil, nil, err
	}
	return d, s, nil
}

// load reads the data of a config, and decides which inputs are made of the calendar, if that is open.
func load(ctx context.Context, c *config.Config) (*datasets.Dataset, error) {
	if !c.CalendarOpen() {
		return datasets.Load(ctx, c.Data)
	}
	d, notice, err := settleCalendar(ctx, c)
	if err != nil || c.Data.Calendar == nil && c.Data.Holidays == "" {
		return d, err
	}
	if d, err = datasets.Load(ctx, c.Data); err == nil && notice != "" {
		d.Notices = append(d.Notices, notice)
	}
	return d, err
}

// settleCalendar decides by data that have no columns of the calendar, which it returns.
func settleCalendar(ctx context.Context, c *config.Config) (d *datasets.Dataset, notice string, err error) {
	plain := c.Data
	plain.Calendar, plain.Holidays = nil, ""
	if d, err = datasets.Load(ctx, plain); err != nil {
		return nil, "", err
	}
	return d, c.SettleCalendar(d), nil
}

// LoadGroups loads the series of a config's data, not divided. What the first one's notices say of the calendar was decided
// by the rows that a run would train on.
func LoadGroups(ctx context.Context, c *config.Config) ([]datasets.Group, error) {
	notice := ""
	if c.CalendarOpen() && c.Data.Group == "" {
		_, notice, _ = settleCalendar(ctx, c) // what is wrong with the data is told below, as of groups
	}
	if c.CalendarOpen() {
		c.Data.Calendar = nil
	}
	all, err := datasets.Groups(ctx, c.Data)
	if err == nil {
		err = checkFiles(c, all[0].Data)
	}
	if err == nil && notice != "" {
		all[0].Data.Notices = append(all[0].Data.Notices, notice)
	}
	return all, err
}

// checkFiles returns an error if the data are not of the files that a config means.
func checkFiles(c *config.Config, d *datasets.Dataset) error {
	holidays, sum := d.Holidays()
	for _, f := range []ChangedFile{{d.Path, tableKey, c.SHA256, d.SHA256}, {d.Mask, "data.mask_sha256", c.MaskSHA256, d.MaskSHA256},
		{holidays, "data.holidays_sha256", c.HolidaysSHA, sum}} {
		if f.was != "" && f.is != "" && f.was != f.is {
			return &f
		}
	}
	return nil
}

// Elsewhere has a config read its table at another path, and find beside it what is not
// where it was of the files that come with it.
func Elsewhere(c *config.Config, table string) {
	c.Data.Path = table
	if table != datasets.StandardInput { // which is refused where it is read
		c.Data.Path = files.Absolute(table)
	}
	for _, file := range []*string{&c.Data.Mask, &c.Data.Locations, &c.Data.Holidays} {
		beside := filepath.Join(filepath.Dir(c.Data.Path), filepath.Base(*file))
		if *file != "" && missing(*file) && !missing(beside) {
			*file = beside
		}
	}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Kept has a config read the copy of its table that the run in a directory keeps, where
// that has been moved since.
func Kept(c *config.Config, dir string) {
	if filepath.Base(c.Data.Path) != record.TableFile || !missing(c.Data.Path) {
		return
	}
	if own := filepath.Join(dir, record.TableFile); !missing(own) {
		c.Data.Path = files.Absolute(own)
	}
}
