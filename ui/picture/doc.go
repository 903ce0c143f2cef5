// Package picture shows pictures in terminals that can: by kitty's graphics protocol, or
// as sixels. It asks the terminal, writes the sequences that put a picture onto cells or
// take it away, and paints charts and heat maps in pixels. What is shown stays until it
// is taken away or the screen is cleared; cells that are written later do not change it.
package picture
