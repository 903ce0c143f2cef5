// Package files writes files wholly or not at all, removes what killed processes
// left of such, and writes the cells of tables: numbers at full precision, text that
// starts no formula. Table reads such a file again.
package files
