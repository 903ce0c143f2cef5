// Package npz keeps arrays of any shape in a file that NumPy reads, with a hash of
// all of them. What is read is bounded before it is believed.
package npz
