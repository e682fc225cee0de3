package table

import (
	"bytes"
	"context"
	"errors"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// ExportTo is Export for a slow reader such as a pager: the table is read to its end first, since a snapshot that is
// held while a client reads would let the log grow until the disk is full.
func ExportTo(ctx context.Context, d *db.DB, t schema.Table, w io.Writer) error {
	var s Spool
	err := Export(ctx, d, t, &s)
	if err == nil {
		err = s.CopyTo(w)
	}
	return errors.Join(err, s.Close())
}

// spoolInMemory is the size above which a spool uses a file.
const spoolInMemory = 1 << 20

// Spool stores what is written until it is read: up to a megabyte in memory, more in a temporary file.
type Spool struct {
	Size   int64
	memory bytes.Buffer
	file   *tempFile
}

func (s *Spool) Write(p []byte) (int, error) {
	s.Size += int64(len(p))
	if s.file == nil && s.memory.Len()+len(p) <= spoolInMemory {
		return s.memory.Write(p)
	}
	if s.file == nil {
		f, err := newTempFile()
		if err != nil {
			return 0, err
		}
		s.file = f
		if _, err := s.memory.WriteTo(f); err != nil {
			return 0, err
		}
	}
	return s.file.Write(p)
}

// CopyTo writes the content, once.
func (s *Spool) CopyTo(w io.Writer) error {
	if s.file == nil {
		_, err := s.memory.WriteTo(w)
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.file)
	return err
}

// Close removes the temporary file.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
