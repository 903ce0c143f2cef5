// Package output writes what a command is asked to write, to a file or to a
// folder. There is one rule for all names:
//
//   - A link is followed, as cp and sort -o do it: the file that it points at is
//     replaced, or made, and the link stays. Within the directory of a run no link
//     is followed; who made the run would choose what is written to.
//   - A pipe, a device or one of the program's own descriptors (/dev/stdout, process
//     substitution) is written as it is.
//   - A file is written aside in its folder, synced and renamed. Files that belong
//     together are all whole and on the disk before the first is renamed.
//   - What a run keeps for itself is never written to, by whatever name.
package output
