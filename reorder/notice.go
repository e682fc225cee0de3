package reorder

import (
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/mail"
)

// Notices are what users of the service can be mailed of.
func (s *Service) Notices() []mail.Notice {
	return []mail.Notice{{Name: "alarms", Service: "reorder", Title: "Below its reorder point", Tell: tellAlarm}}
}

func tellAlarm(c *db.Conn, w *mail.Writer, r mail.Row, _ string) ([]string, string, bool, error) {
	code := strings.TrimPrefix(r.Subject, "sku:")
	k, found, err := lookUp(c, code)
	return []string{k.Code, k.Name, w.Qty(k.CurrentStock) + " in stock"}, skuPage(code), found && k.isBelow && k.Active,
		err
}
