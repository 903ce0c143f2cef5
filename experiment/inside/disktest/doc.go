// Package disktest is a disk that forgets, for tests of what a loss of power leaves. It
// writes down all that a program does to its files, in order, and makes of that the
// states that the disk may be in when the power fails at one of these moments:
//
//   - what was synced is there: the contents of a file when File.Sync returned, the names
//     in a folder when Dir.Sync did. Syncing a file says nothing of its name, and syncing
//     a folder nothing of what is in its files, as POSIX has it;
//   - of what was written to a file since, all may be there, nothing, a part up to any
//     byte, or some blocks and not others, in whatever order they were written, and zeros
//     where the file grew but its blocks were not written;
//   - of the names that came, went and moved since, any may be there and others not, in
//     whatever order and in whatever folder; but what happened to one name did so in its
//     order, and a name is moved wholly or not at all.
package disktest
