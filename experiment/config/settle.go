package config

import (
	"kestrel/datasets"
	"kestrel/experiment/files"
)

// SettleData puts into a config which files its data have been read from, so that
// it says the same in any working directory, and what they held.
func (c *Config) SettleData(d *datasets.Dataset) {
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
