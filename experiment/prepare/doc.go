// Package prepare makes a config ready to be run: data loaded and standardised,
// kernels compiled, a device opened, the trainer placed on it. All that can be wrong
// with what the user asked for is found here. It also estimates time and memory.
package prepare
