package mailer

import (
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/mail"
)

// badTexts are the shop's own texts that can no longer be filled in, for example after an upgrade.
func (b *Book) badTexts(c *db.Conn) (bad []string, err error) {
	for _, name := range b.texts() {
		t, err := b.text(c, name)
		if err != nil {
			return nil, err
		}
		if err := b.check(name, t.Subject, t.Body); err != nil {
			bad = append(bad, "the text of "+name+": "+err.Error())
		}
	}
	return bad, nil
}

// loopbackLinks are the services whose links would lead a reader to their own machine.
func (b *Book) loopbackLinks(c *db.Conn) (bad []string, err error) {
	var services []string
	for _, k := range b.kinds {
		if !slices.Contains(services, k.Service) &&
			slices.ContainsFunc(k.Fields, func(f mail.Field) bool { return f.Name == "link" }) {
			services = append(services, k.Service)
		}
	}
	for _, s := range services {
		address, err := c.Setting(db.SettingAddress + "." + s)
		if err != nil {
			return nil, err
		}
		if s != "" && (strings.Contains(address, "//127.") || strings.Contains(address, "//localhost") ||
			strings.Contains(address, "//[::1]")) {
			bad = append(bad, "links in messages of the "+s+" service lead to "+address+", which only this machine reaches; "+
				"Settings shows how to change it")
		}
	}
	return bad, nil
}

// Doctor names texts that cannot be filled in and, as warnings, links to this machine.
func (b *Book) Doctor(c *db.Conn) (breaches, warnings []string, err error) {
	is, err := mail.SetUp(c)
	if err != nil || !is {
		return nil, nil, err
	}
	if breaches, err = b.badTexts(c); err == nil {
		warnings, err = b.loopbackLinks(c)
	}
	return breaches, warnings, err
}
