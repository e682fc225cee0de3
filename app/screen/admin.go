package screen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/a-h/templ"

	"quartermaster/app/doctor"
	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
)

// settingsView is the appliance's settings.
type settingsView struct {
	shop    shopSettings
	zone    string
	off     []string // services that are turned off
	places  []Place
	ops     []schema.Op // this service's operations on settings
	further []page.Page // this service's pages of settings
	whole   bool        // whether the visitor may change settings of all services
}

func (s *Screens) settingsPage() page.Page {
	return page.New(page.Spec[settingsView]{
		Path: "/settings", Title: "Settings", Menu: "Settings", Role: page.Admin,
		Load: page.Always(func(ctx context.Context, who db.Caller) (v settingsView, err error) {
			v = settingsView{zone: s.DB.Zone().String(), places: s.Places, whole: s.keepsWhole(ctx, who)}
			for _, name := range []string{"set_forecast", "set_labor_rate", "set_provider",
				"map_provider", "set_late_fee"} {
				if op, ok := s.ops[page.Staff][name]; ok && (v.whole || !op.Whole) {
					v.ops = append(v.ops, op)
				}
			}
			v.further = slices.DeleteFunc(slices.Clone(s.Pages), func(p page.Page) bool { return !p.Setting })
			if v.shop, err = s.settings(ctx); err != nil {
				return v, err
			}
			on, err := db.Read(ctx, s.DB, schema.ServicesOn)
			v.off = slices.DeleteFunc(slices.Clone(schema.ServiceNames), func(s string) bool { return slices.Contains(on, s) })
			return v, err
		}),
		View: settingsPage,
	})
}

// keepsWhole reports whether the visitor is an admin of every service that is turned on.
func (s *Screens) keepsWhole(ctx context.Context, who db.Caller) bool {
	return s.DB.View(ctx, func(c *db.Conn) error { return schema.KeepsWhole(c, who, "") }) == nil
}

// ShopSet are the shop's data on prints.
type ShopSet struct {
	Name    string `json:"shop_name"`
	Address string `json:"shop_address"`
	Tax     string `json:"shop_tax_number,omitempty"`
	Bank    string `json:"shop_bank_account,omitempty"`
}

// setShop is the operation that sets the shop's data on prints.
func (s *Screens) setShop() schema.Op {
	return schema.Op{
		Name: "set_shop", Writes: true, Admin: true, Whole: true, Idempotent: true,
		About:    "Set the shop's name, address, tax number and bank account. The name is on every page, the rest on prints.",
		Response: ShopSet{Name: "Brandt & Daughters", Address: "Harbour 12"},
		Bind: func(f *schema.Form) schema.Handler {
			var v ShopSet
			f.Text(&v.Name, "shop_name", "as printed on receipts and letters", schema.Most(200), schema.Label("Shop's name"))
			f.Text(&v.Address, "shop_address", "several lines", schema.Most(1000), schema.Lines, schema.Label("Address"))
			f.Text(&v.Tax, "shop_tax_number", "for receipts and letters", schema.Most(100),
				schema.Label("Tax number"))
			f.Text(&v.Bank, "shop_bank_account", "for receipts and letters, such as the bank and the IBAN",
				schema.Most(200), schema.Label("Bank account"))
			return func(ctx context.Context, who db.Caller) (any, error) {
				who.Service = ""
				return db.Update(ctx, s.DB, who, func(tx *db.Tx) (ShopSet, error) {
					if err := schema.KeepsWhole(&tx.Conn, who, "the shop's name and address"); err != nil {
						return v, err
					}
					for name, value := range map[string]string{
						db.SettingShopName: v.Name, db.SettingShopAddress: v.Address, db.SettingShopTax: v.Tax,
						db.SettingShopBank: v.Bank,
					} {
						if err := tx.SetSetting(name, value); err != nil {
							return v, err
						}
					}
					return v, tx.Audit("settings.shop", "settings", v)
				})
			}
		},
		Did:   func(any, schema.Money) string { return "The shop's details on prints are saved." },
		Leads: func(any) string { return "/settings" },
	}
}

// copied is a copy of the database, ready for sending.
type copied struct {
	path string
	name string
}

func (s *Screens) backupPage() page.Page {
	return page.New(page.Spec[int64]{
		Path: "/backup", Title: "Backup", Menu: "Backup", Role: page.Owner,
		Load: page.Always(func(context.Context, db.Caller) (int64, error) { return s.DB.Size(), nil }),
		View: backupPage,
	})
}

// makeBackup is the operation that copies the database, checked, for download.
func (s *Screens) makeBackup() schema.Op {
	return schema.Op{
		Name: "make_backup", Writes: true, Admin: true, Whole: true, Credential: true,
		About: "Download a checked copy of the whole database. It holds everything of all four services, secrets " +
			"included.",
		Response: struct{}{},
		Bind: func(*schema.Form) schema.Handler {
			return func(ctx context.Context, who db.Caller) (any, error) {
				if s.DB.Trying() {
					return copied{}, nil
				}
				if err := s.DB.View(ctx,
					func(c *db.Conn) error { return schema.KeepsWhole(c, who, "a copy of the database") }); err != nil {
					return nil, err
				}
				dir, err := os.MkdirTemp(filepath.Dir(s.DB.Path()), db.DownloadPattern(s.DB.Path()))
				if err != nil {
					return nil, fault.Unavailablef(err, "there is no room for the copy beside the database; nothing was written")
				}
				v := copied{path: filepath.Join(dir, "copy.db"), name: "quartermaster-" + time.Unix(s.DB.Now().Unix(),
					0).In(s.DB.Zone()).Format("2006-01-02-1504") + ".db"}
				err = s.DB.Backup(v.path)
				if err == nil {
					who.Service = ""
					err = db.Exec(ctx, s.DB, who, func(tx *db.Tx) error {
						return errors.Join(tx.NoteBackup(), tx.Audit("backup.made", "database", map[string]string{"file": v.name}))
					})
				}
				if err != nil {
					return nil, errors.Join(err, os.RemoveAll(dir))
				}
				return v, nil
			}
		},
	}
}

// sendCopy sends the copy and deletes it.
func (x *exchange) sendCopy(v copied) error {
	defer func() { _ = os.RemoveAll(filepath.Dir(v.path)) }()
	f, err := os.Open(v.path) // #nosec G304 -- we made it
	if err != nil {
		return err
	}
	defer f.Close()
	h := x.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/vnd.sqlite3")
	h.Set("Content-Disposition", `attachment; filename="`+v.name+`"`)
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(time.Hour))
	http.ServeContent(x.w, x.r, "", time.Time{}, f)
	return nil
}

// sendDownload sends an answer that is a file.
func (x *exchange) sendDownload(v schema.Downloader) error {
	name, mediaType, body := v.Download()
	x.w.Header().Set("Cache-Control", "no-store")
	return x.sendFile(page.File{Name: name, Kind: mediaType, Body: body})
}

// doctorWait is how long the page waits for the result before it shows doctor's progress.
const doctorWait = 1500 * time.Millisecond

// doctorView is a run of doctor, shared by all who request it.
type doctorView struct{ doctor.Progress }

// Again leads a waiting browser to the same run.
func (v doctorView) Again() string {
	if v.Found != nil {
		return ""
	}
	return "/doctor?run=" + page.Num(v.Run)
}

func (v doctorView) title() string {
	switch {
	case v.Found == nil:
		return "Checking"
	case v.Found.OK:
		return "No errors found"
	}
	return page.Plural(v.Found.Breaches(), "thing is", "things are") + " wrong"
}

func (s *Screens) doctorPage() page.Page {
	return page.New(page.Spec[doctorView]{
		Path: "/doctor", Title: "Doctor", Menu: "Doctor", Role: page.Owner,
		Load: func(f *schema.Form) page.Loader[doctorView] {
			var run int64
			f.Int(&run, "run", "the number of the run")
			return func(ctx context.Context, _ db.Caller) (doctorView, error) {
				return doctorView{s.Doctor.Ask(ctx, run, doctorWait)}, nil
			}
		},
		View: doctorPage,
	})
}

// tablesPage lists the tables that can be exported, or imported.
func (s *Screens) tablesPage(path, title, role string, view func([]schema.Table) templ.Component) page.Page {
	return page.New(page.Spec[[]schema.Table]{
		Path: path, Title: title, Menu: title, Role: role, View: view,
		Load: page.Always(func(_ context.Context, who db.Caller) ([]schema.Table, error) { return s.tablesFor(who), nil }),
	})
}

// exportPage is one table as a CSV file.
func (s *Screens) exportPage() page.Page {
	return page.New(page.Spec[page.File]{
		Path: "/export/:table", Title: "Export",
		Load: func(f *schema.Form) page.Loader[page.File] {
			var name string
			f.Text(&name, "table", "The table", schema.InPath("table"))
			return func(ctx context.Context, _ db.Caller) (page.File, error) {
				t, err := s.table(name)
				if err != nil {
					return page.File{}, err
				}
				return page.File{Name: t.Name + ".csv", Kind: "text/csv; charset=utf-8", Write: func(w io.Writer) error {
					return table.Export(ctx, s.DB, t, w)
				}}, nil
			}
		},
		View: func(page.File) templ.Component { return templ.NopComponent },
	})
}

func (s *Screens) table(name string) (schema.Table, error) {
	t, ok := s.Service.Table(name)
	if !ok {
		return t, fault.NotFoundf("there is no table %s in this service", schema.Quote(name))
	}
	return t, nil
}

func megabytes(n int64) string { return fmt.Sprintf("%d.%d MB", n/1_000_000, n/100_000%10) }
