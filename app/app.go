// Package app is the top floor: it wires the services, owns the command line and
// serves each service on its port.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"quartermaster/maintenance"
	"quartermaster/rental"
	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/store"
)

// Services are the names in the order of their ports.
var Services = []string{"store", "maintenance", "rental", "reorder"}

// shop is the four services over one database.
type shop struct {
	all         []schema.Service              // in the order of Services
	flush       []func(context.Context) error // what services remember off the requests' path
	store       *store.Service
	maintenance *maintenance.Service
	rental      *rental.Service
	reorder     *reorder.Service
}

// newShop builds the services over d. Without a database they only tell what they
// are, for the command line's help.
func newShop(d *db.DB) *shop {
	s := &shop{store: store.New(d), maintenance: maintenance.New(d), rental: rental.New(d), reorder: reorder.New(d)}
	s.all = []schema.Service{s.store.Declare(), s.maintenance.Declare(), s.rental.Declare(), s.reorder.Declare()}
	s.flush = []func(context.Context) error{s.store.Flush}
	return s
}

// service finds one of the four by name.
func (s *shop) service(name string) (schema.Service, bool) {
	for _, v := range s.all {
		if v.Name == name {
			return v, true
		}
	}
	return schema.Service{}, false
}

// commands is the command line's table of contents.
func (p *program) commands() []*cobra.Command {
	return []*cobra.Command{
		p.initCommand(),
		p.userCommand(),
		p.keyCommand(),
		p.serveCommand(),
		p.webhookCommand(),
		p.auditCommand(),
		p.backupCommand(),
		p.restoreCommand(),
		p.migrateCommand(),
		p.doctorCommand(),
		p.healthcheckCommand(),
		p.storeCommand(),
		p.maintenanceCommand(),
		p.rentalCommand(),
		p.reorderCommand(),
		p.importCommand(),
		p.exportCommand(),
		p.versionCommand(),
	}
}
