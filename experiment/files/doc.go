// Package files writes files wholly or not at all, and the cells of their tables:
// numbers at full precision, text that starts no formula. Table reads such a file
// again.
package files
