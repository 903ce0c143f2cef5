//go:build !parquet

package datasets

func otherKinds() []formatKind { return nil }
