package maintenance

import (
	"bytes"
	"context"
	"path"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// MaxPhoto is how large a photo may be, in bytes.
const MaxPhoto = 10 << 20

// Photo is a picture kept with a work order.
type Photo struct {
	ID       int64   `json:"id"`
	Filename string  `json:"filename"`
	Caption  *string `json:"caption"`
}

// AddPhoto keeps a picture with a work order, whatever its state. What is not a JPEG,
// PNG or WebP picture, by its first bytes, or larger than MaxPhoto is 422; an unknown
// order is 404. Of filename only the last element is kept.
func (s *Service) AddPhoto(ctx context.Context, who db.Caller, orderID int64, filename, caption string, data []byte) (Photo, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Photo, error) { return addPhoto(tx, orderID, filename, caption, data) })
}

func addPhoto(tx *db.Tx, orderID int64, filename, caption string, data []byte) (none Photo, err error) {
	filename, err = needed("filename", path.Base(strings.ReplaceAll(filename, `\`, "/")), maxName)
	if err != nil {
		return none, err
	}
	caption, err = text("caption", caption, maxName)
	if err != nil {
		return none, err
	}
	media := mediaType(data)
	switch {
	case len(data) > MaxPhoto:
		return none, fault.Invalidf("photo: %s is too large; at most %d bytes (10 MiB) are allowed", filename, MaxPhoto)
	case media == "":
		return none, fault.Invalidf("photo: %s is not a picture of a kind that is kept: JPEG, PNG or WebP", filename)
	}
	if _, err := findWorkOrder(&tx.Conn, orderID); err != nil {
		return none, err
	}
	photo := Photo{Filename: filename, Caption: orNil(caption)}
	photo.ID, err = tx.Insert("INSERT INTO photos (work_order_id, filename, caption, media_type, added_at, data) VALUES (?, ?, ?, ?, ?, ?)",
		orderID, filename, photo.Caption, media, tx.Now(), data)
	if err != nil {
		return none, err
	}
	return photo, tx.Audit("workorder.photo_added", subject("work_order", orderID), map[string]any{
		"photo_id": photo.ID, "filename": filename, "bytes": len(data)})
}

// mediaType tells a picture's kind by its first bytes; "" is none that is kept.
func mediaType(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// Photo gives a picture back, the same bytes; 404 if there is none.
func (s *Service) Photo(ctx context.Context, id int64) (photo Photo, data []byte, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		var found bool
		photo, found, err = db.One(c, func(r *db.Row) Photo {
			p := Photo{ID: r.Int(), Filename: r.Text(), Caption: r.TextPtr()}
			data = r.Bytes()
			return p
		}, "SELECT id, filename, caption, data FROM photos WHERE id = ?", id)
		if err == nil && !found {
			err = fault.NotFoundf("there is no photo %d", id)
		}
		return err
	})
	return photo, data, err
}

// photosOf lists a work order's photos in the order in which they were added.
func photosOf(c *db.Conn, orderID int64) ([]Photo, error) {
	return db.All(c, func(r *db.Row) Photo { return Photo{ID: r.Int(), Filename: r.Text(), Caption: r.TextPtr()} },
		"SELECT id, filename, caption FROM photos WHERE work_order_id = ? ORDER BY id", orderID)
}
