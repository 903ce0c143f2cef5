// Package library lists what there is to open: runs, tables of data, configs.
package library
