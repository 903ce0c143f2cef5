// Package inside opens what is in a directory that somebody else may have made, that of
// a run or of a comparison: files and folders that are really there, and nothing
// that leads elsewhere. The directory itself may be a link; inside no link is
// followed, also none that stays inside, no file with a second name is opened, for
// that may lie anywhere, and no pipe, device or folder is taken for a file. Nothing
// is truncated: a file is made new, written aside and renamed, or gone on with.
package inside
