//go:build !unix

package config

// nonBlock is no flag of opening here.
const nonBlock = 0
