// Package formats reads tables that are no delimited text as if they were: as CSV with a
// comma, a decimal point and a line for each row, so that whoever reads it tells rows by
// their lines, and reads the same cells as from the table's CSV.
package formats

// MagicParquet begins a Parquet file.
const MagicParquet = "PAR1"
