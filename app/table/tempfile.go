package table

import (
	"errors"
	"os"
)

// tempFile is a temporary file for this process alone: it may hold what is to be forgotten
// later. It has no name where the system keeps an open file without one, as Unix does, so
// that nothing of it is left however the process ends; elsewhere its name goes when it is
// closed.
type tempFile struct {
	*os.File
	named bool
}

func newTempFile() (*tempFile, error) {
	f, err := os.CreateTemp("", "quartermaster-*") // for its owner alone: mode 0600
	if err != nil {
		return nil, err
	}
	return &tempFile{File: f, named: os.Remove(f.Name()) != nil}, nil
}

func (f *tempFile) Close() error {
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
