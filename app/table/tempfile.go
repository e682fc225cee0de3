package table

import (
	"errors"
	"os"
)

// tempFile is a temporary file for this process alone, since it may hold data that must be forgotten later. It has no
// name where the system allows that, as Unix does, so that nothing remains however the process ends; elsewhere it is
// deleted when closed.
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
