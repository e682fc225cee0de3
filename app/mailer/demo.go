package mailer

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/mail"
)

// Restored pauses mail in a file that was restored: messages may have been sent since. held says that
// there is mail to pause.
func Restored(ctx context.Context, d *db.DB) (held bool, err error) {
	if held, err = db.Read(ctx, d, mail.SetUp); err != nil || !held {
		return held, err
	}
	return true, db.Exec(ctx, d, db.Bookkeeping(), func(tx *db.Tx) error { return tx.SetSetting(settingPaused, "1") })
}

// FillDemo sets mail up in a demo, which shows what is mailed and sends nothing.
func FillDemo(ctx context.Context, d *db.DB) error {
	who := db.CLI("")
	return db.Exec(ctx, d, who, func(tx *db.Tx) error {
		s, err := Change{Host: text("smtp.example.com"), From: text("shop@example.com")}.apply(Settings{})
		if err != nil {
			return err
		}
		if err := s.keep(tx); err != nil {
			return err
		}
		if err := tx.SetSetting(settingDemo, "1"); err != nil {
			return err
		}
		return tx.Audit("mail.settings", "settings", s)
	})
}

func text(s string) *string { return &s }
