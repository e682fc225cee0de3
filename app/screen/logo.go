package screen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/picture"
)

// maxLogo is the largest size of the shop's logo, in bytes.
const maxLogo = 1 << 20

// LogoSet is the shop's logo; Bytes is 0 if there is none.
type LogoSet struct {
	Type  string `json:"type" about:"image/png, image/jpeg, image/webp or image/gif"`
	Bytes int    `json:"bytes"`
}

// LogoOps are the operations on the shop's logo. It is stored in the database, and so in each backup.
func LogoOps(d *db.DB) []schema.Op {
	op := func(name, command, about, done string, bind func(f *schema.Form) schema.Handler) schema.Op {
		return schema.Op{
			Name: name, Writes: true, Admin: true, Whole: true, About: about, Response: LogoSet{"image/png", 20480},
			Command: "settings " + command, Example: "settings " + command, Bind: bind,
			Did:   func(any, schema.Money) string { return done },
			Leads: func(any) string { return "/settings" },
		}
	}
	set := op("set_logo", "logo FILE",
		"Set the shop's logo: a PNG, JPEG, WebP or GIF of at most 1 MB. It stands on prints "+
			"and on the pages of customers and tenants.", "The logo is saved.", func(f *schema.Form) schema.Handler {
			var file schema.File
			f.File(&file, "logo", "a PNG, JPEG, WebP or GIF of at most 1 MB", maxLogo, schema.Required,
				schema.Positional("FILE"),
				schema.Label("Logo"))
			return func(ctx context.Context, who db.Caller) (any, error) { return setLogo(ctx, d, who, file) }
		})
	set.Example = "settings logo logo.png"
	remove := op("remove_logo", "remove-logo", "Remove the shop's logo.", "The logo is removed.",
		func(*schema.Form) schema.Handler {
			return func(ctx context.Context, who db.Caller) (any, error) { return removeLogo(ctx, d, who) }
		})
	remove.Destructive = true
	remove.Will = func(any, schema.Money) string {
		return "Prints and the pages of customers and tenants show the shop's name alone."
	}
	return []schema.Op{set, remove}
}

func setLogo(ctx context.Context, d *db.DB, who db.Caller, file schema.File) (LogoSet, error) {
	media := picture.Kind(file.Data)
	if media == "" {
		return LogoSet{}, fault.Fieldf("logo", "logo: %s is not a picture; choose a PNG, JPEG, WebP or GIF",
			schema.Quote(file.Name))
	}
	image := picture.WithoutPlace(media, file.Data)
	sum := sha256.Sum256(image)
	return changeLogo(ctx, d, who, LogoSet{media, len(image)}, hex.EncodeToString(sum[:6]), func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO logo VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET type = excluded.type, "+
			"image = excluded.image", media, image)
		return err
	})
}

func removeLogo(ctx context.Context, d *db.DB, who db.Caller) (LogoSet, error) {
	return changeLogo(ctx, d, who, LogoSet{}, "", func(tx *db.Tx) error {
		if n, err := tx.Exec("DELETE FROM logo WHERE id = 1"); err != nil || n > 0 {
			return err
		}
		return fault.NotFoundf("there is no logo")
	})
}

// changeLogo stores a logo by keep; sum identifies its bytes in its address.
func changeLogo(ctx context.Context, d *db.DB, who db.Caller, v LogoSet, sum string, keep func(*db.Tx) error) (LogoSet,
	error) {
	who.Service = ""
	return db.Update(ctx, d, who, func(tx *db.Tx) (LogoSet, error) {
		if err := schema.KeepsWhole(&tx.Conn, who, "the shop's logo"); err != nil {
			return v, err
		}
		if err := keep(tx); err != nil {
			return v, err
		}
		if err := tx.SetSetting(db.SettingShopLogo, sum); err != nil {
			return v, err
		}
		return v, tx.Audit("settings.logo", "settings", v)
	})
}

// logoAddress is the address of the logo with this sum; "" without one.
func logoAddress(sum string) string {
	if sum == "" {
		return ""
	}
	return "/logo?v=" + sum
}

// logoPicture answers GET /logo for everybody: customers' and tenants' pages show it before the sign-in.
func logoPicture(x *exchange) error {
	var sum string
	f, err := read(x, func(c *db.Conn) (f page.File, err error) {
		if sum, err = c.Setting(db.SettingShopLogo); err != nil || sum == "" {
			return f, err
		}
		f, _, err = db.One(c, func(r *db.Row) page.File { return page.File{Kind: r.Text(), Body: r.Bytes()} },
			"SELECT type, image FROM logo WHERE id = 1")
		return f, err
	})
	if err != nil {
		return err
	}
	if sum == "" {
		return fault.NotFoundf("the shop has no logo")
	}
	h := x.w.Header()
	h.Set("Content-Type", f.Kind)
	h.Set("Content-Length", fmt.Sprint(len(f.Body)))
	if x.r.URL.Query().Get("v") == sum {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, err = x.w.Write(f.Body)
	return err
}
