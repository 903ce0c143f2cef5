package inside

import (
	"io/fs"
	"os"
	"syscall"
)

// nonBlock is no flag of opening here: pipes have no place among files.
const nonBlock = 0

// links is how many names a file has: 1, for only an open file tells.
func links(fs.FileInfo) uint64 { return 1 }

// openLinks is how many names an open file has, 1 where the file system does not tell.
func openLinks(f *os.File, _ fs.FileInfo) uint64 {
	var d syscall.ByHandleFileInformation
	if syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &d) != nil {
		return 1
	}
	return uint64(d.NumberOfLinks)
}

// gone reports whether a directory has been removed: one that is open cannot be.
func gone(fs.FileInfo) bool { return false }
