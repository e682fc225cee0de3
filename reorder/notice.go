package reorder

import (
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/mail"
)

// MailWords are the words in the blocks of the service's notices.
var MailWords = []string{alarmTitle, "in stock"}

const alarmTitle = "Below its reorder point"

// Notices are what users of the service can be mailed of.
func (s *Service) Notices() []mail.Notice {
	return []mail.Notice{{Name: "alarms", Service: "reorder", Title: alarmTitle, Tell: tellAlarm}}
}

func tellAlarm(c *db.Conn, w *mail.Writer, r mail.Row, _ string) ([]string, string, bool, error) {
	code := strings.TrimPrefix(r.Subject, "sku:")
	k, found, err := lookUp(c, code)
	stock := w.Qty(k.CurrentStock) + " " + w.Word("in stock")
	return []string{k.Code, k.Name, stock}, skuPage(code), found && k.isBelow && k.Active, err
}
