package files

// File is a file that has not been written yet.
type File struct {
	Name string // without a folder
	Text []byte
}
