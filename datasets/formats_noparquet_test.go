//go:build !parquet

package datasets

import "testing"

func otherKinds() []formatKind { return nil }

func otherSeeds(*testing.F) [][]byte { return nil }
