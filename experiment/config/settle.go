package config

import (
	"kestrel/datasets"
	"kestrel/experiment/files"
)

// settleTask decides what is left to what the data are: a series in time is
// forecast, other data have gaps to be filled.
func (c *Config) settleTask(d *datasets.Dataset) {
	if d.SplitBy != "" {
		c.Data.SplitBy = d.SplitBy
	}
	c.Data.Time = "no"
	if d.Series != nil {
		c.Data.Time = "yes"
	}
	if c.Kernels.Set == autoText {
		c.Kernels.Set = "series"
		if d.Series == nil {
			c.Kernels.Set, c.Kernels.Base, c.Kernels.Depth = "", defaultBase(), defaultDepth
		}
	}
	for _, choice := range []struct {
		key           *string
		series, other string
		of            bool
	}{
		{&c.Settings.Priors, "series", "broad", c.Kernels.Set == "series"},
		{&c.Settings.Weights, "tempered", "posterior", d.Series != nil},
	} {
		if *choice.key != autoText {
			continue
		}
		if *choice.key = choice.other; choice.of {
			*choice.key = choice.series
		}
	}
}

// SettleData puts into a config which files its data have been read from, so that
// it says the same in any working directory, and what they held.
func (c *Config) SettleData(d *datasets.Dataset) {
	c.settleTask(d)
	c.SettleFiles(d)
}

// SettleFiles is SettleData for the files alone: of several series each decides what is
// left to it.
func (c *Config) SettleFiles(d *datasets.Dataset) {
	if d.Source == "synthetic" {
		return
	}
	c.Data.Path, c.SHA256 = files.Absolute(d.Path), d.SHA256
	if d.Mask != "" {
		c.MaskSHA256 = d.MaskSHA256
	}
	for _, file := range []struct {
		key   *string
		found string
	}{{&c.Data.Mask, d.Mask}, {&c.Data.Locations, d.Locations}} {
		if *file.key != "" && file.found != "" {
			*file.key = files.Absolute(file.found)
		}
	}
}
