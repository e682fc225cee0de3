package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/picture"
)

// MaxPhoto is the largest size of a photo, in bytes.
const MaxPhoto = 10 << 20

// Photo is a picture of a work order.
type Photo struct {
	ID       int64   `json:"id"`
	Filename string  `json:"filename"`
	Caption  *string `json:"caption"`
}

// addPhoto adds a picture to a work order, in any state. A file that is not a JPEG, PNG or WebP picture by its first
// bytes, or larger than MaxPhoto, is 422; an unknown order is 404. Of filename only the last element is stored.
func addPhoto(tx *db.Tx, orderID int64, filename, caption string, data []byte) (none Photo, err error) {
	filename, err = needed("filename", path.Base(strings.ReplaceAll(filename, `\`, "/")), maxName)
	if err != nil {
		return none, err
	}
	caption, err = text("caption", caption, maxName)
	if err != nil {
		return none, err
	}
	media := picture.Kind(data)
	switch {
	case len(data) > MaxPhoto:
		return none, fault.Fieldf("file", "photo: %s is too large; at most %d bytes (10 MiB) are allowed", filename, MaxPhoto)
	case media == "" || media == "image/gif":
		return none, fault.Fieldf("file", "photo: %s is not a picture; choose a JPEG, PNG or WebP", filename)
	}
	if _, err := findWorkOrder(&tx.Conn, orderID); err != nil {
		return none, err
	}
	if tx.Who().Via != "cli" { // the command line stores the file unchanged
		data = picture.WithoutPlace(media, data)
	}
	photo := Photo{Filename: filename, Caption: db.NullText(caption)}
	photo.ID, err = tx.Insert(
		"INSERT INTO photos (work_order_id, filename, caption, media_type, added_at, data) VALUES (?, ?, ?, ?, ?, ?)",
		orderID, filename, photo.Caption, media, tx.Now(), data)
	if err != nil {
		return none, err
	}
	return photo, tx.Audit("workorder.photo_added", db.Subject("work_order", orderID), map[string]any{
		"photo_id": photo.ID, "filename": filename, "bytes": len(data)})
}

// Photo returns a picture, the same bytes; 404 if there is none.
func (s *Service) Photo(ctx context.Context, id int64) (photo Photo, data []byte, err error) {
	photo, _, data, err = s.Picture(ctx, id)
	return photo, data, err
}

// Picture is Photo with the kind of the picture.
func (s *Service) Picture(ctx context.Context, id int64) (photo Photo, media string, data []byte, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		var found bool
		photo, found, err = db.One(c, func(r *db.Row) Photo {
			p := Photo{ID: r.Int(), Filename: r.Text(), Caption: r.TextPtr()}
			media, data = r.Text(), r.Bytes()
			return p
		}, "SELECT id, filename, caption, media_type, data FROM photos WHERE id = ?", id)
		if err == nil && !found {
			err = noPhoto(id)
		}
		return err
	})
	return photo, media, data, err
}

func noPhoto(id int64) error { return fault.NotFoundf("there is no photo %d", id) }

// photosOf lists a work order's photos in the order in which they were added.
func photosOf(c *db.Conn, orderID int64) ([]Photo, error) {
	return db.All(c, func(r *db.Row) Photo { return Photo{ID: r.Int(), Filename: r.Text(), Caption: r.TextPtr()} },
		"SELECT id, filename, caption FROM photos WHERE work_order_id = ? ORDER BY id", orderID)
}

// RemovedPhoto is a photo that was removed from its work order.
type RemovedPhoto struct {
	Photo
	WorkOrderID int64 `json:"work_order_id"`
}

// removePhoto removes a photo for good; 404 if there is none.
func removePhoto(tx *db.Tx, id int64) (RemovedPhoto, error) {
	gone, found, err := db.One(&tx.Conn, func(r *db.Row) RemovedPhoto {
		return RemovedPhoto{Photo: Photo{ID: r.Int(), Filename: r.Text(), Caption: r.TextPtr()}, WorkOrderID: r.Int()}
	}, "SELECT id, filename, caption, work_order_id FROM photos WHERE id = ?", id)
	if err != nil || !found {
		return gone, cmp.Or(err, noPhoto(id))
	}
	tx.Do("DELETE FROM photos WHERE id = ?", id)
	return gone, tx.Audit("workorder.photo_removed", db.Subject("work_order", gone.WorkOrderID),
		map[string]any{"photo_id": id, "filename": gone.Filename})
}

// Added is a photo with the work order that it was added to.
type Added struct {
	Photo
	WorkOrderID int64 `json:"work_order_id"`
}

func (s *Service) addPhoto() schema.Op {
	return schema.Op{
		Name: "add_photo",
		About: "Keep a JPEG, PNG or WebP picture of up to 10 MiB with a work order, in the database, so that a backup " +
			"holds it too. " +
			"The camera's data, above all the location, is removed; on the command line the file is kept as it is.",
		Writes: true, Response: Added{Photo: Photo{ID: 1, Filename: "spindle.jpg", Caption: db.NullText("before")},
			WorkOrderID: 12}, MaxBody: MaxPhoto + 1<<20,
		Bind: schema.Writes3(s.db, func(f *schema.Form, id *int64, file *schema.File, caption *string) {
			f.ID(id, "id", "the work order", schema.Required, orderPositional, schema.Choices(jobChoices))
			most := MaxPhoto
			if f.Surface() == schema.Command { // addPhoto refuses a larger one: it is no wrong usage
				most = math.MaxInt
			}
			f.File(file, "file", "a JPEG, PNG or WebP picture of up to 10 MiB", most, schema.Required,
				schema.Positional("FILE"), schema.Label("Photo"))
			f.Text(caption, "caption", "what it shows", schema.Most(maxName))
		}, func(tx *db.Tx, id int64, file schema.File, caption string) (Added, error) {
			photo, err := addPhoto(tx, id, file.Name, caption, file.Data)
			return Added{Photo: photo, WorkOrderID: id}, err
		}),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance photo add 12 spindle.jpg --caption \"before\"",
		Print:   func(w io.Writer, answer any) { fmt.Fprintln(w, answer.(Added).ID) },
		Did: schema.Said(func(a Added) string {
			return fmt.Sprintf("The photo %s is kept with work order %d.", a.Filename, a.WorkOrderID)
		}),
		Leads: func(answer any) string { return orderPage(answer.(Added).WorkOrderID) },
	}
}

func (s *Service) removePhoto() schema.Op {
	return schema.Op{
		Name: "remove_photo", About: "Remove a photo for good.",
		Writes: true, Destructive: true, Response: RemovedPhoto{Photo: Photo{ID: 1, Filename: "spindle.jpg"},
			WorkOrderID: 12},
		Bind: schema.Writes(s.db, func(f *schema.Form, id *int64) {
			f.ID(id, "id", "the photo", schema.Required, schema.Positional("PHOTO_ID"), schema.Label("Photo"))
		}, removePhoto),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance photo remove 1",
		Did: schema.Said(func(a RemovedPhoto) string {
			return fmt.Sprintf("The photo %s of work order %d is removed.", a.Filename, a.WorkOrderID)
		}),
		Will: schema.Said(func(a RemovedPhoto) string {
			return fmt.Sprintf("The photo %s of work order %d will be removed for good.", a.Filename, a.WorkOrderID)
		}),
		Leads: func(answer any) string { return orderPage(answer.(RemovedPhoto).WorkOrderID) },
	}
}
