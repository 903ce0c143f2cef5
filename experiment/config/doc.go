// Package config has the settings of an experiment: their keys and defaults, reading
// and writing them as TOML, and kernel spaces as text. A wrong key is an error with
// its line.
package config
