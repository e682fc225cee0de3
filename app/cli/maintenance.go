package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"quartermaster/maintenance"
	"quartermaster/schema/db"
)

// maintenanceCommand has the service's only own command: a photo is saved to a file. The others are derived from its
// operations.
func (p *program) maintenanceCommand() *cobra.Command {
	return group("maintenance", "Run the workshop: work orders, assets, plans, parts, photos, figures", "",
		group("photo", "Keep photos with work orders", "", p.photoSaveCommand()))
}

// savedPhoto is a photo with its file.
type savedPhoto struct {
	maintenance.Photo
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func (p *program) photoSaveCommand() *cobra.Command {
	return p.acting(p.jsonFlag(&cobra.Command{
		Use:   "save PHOTO_ID FILE",
		Short: "Write a work order's photo to a file, the same bytes that were added",
		Long: `Write a work order's photo to a file, the same bytes that were added. A file that is
there is replaced. The agents' tool workorder_detail names an order's photos.`,
		Example: "  quartermaster maintenance photo save 1 spindle.jpg\n  quartermaster maintenance photo save 1 " +
			"spindle.jpg --json",
		Args: takes(2, 2),
		RunE: p.run(func(ctx context.Context, args []string) error {
			id, err := idArg("PHOTO_ID", args[0])
			if err != nil {
				return err
			}
			return p.withDB(func(d *db.DB) error {
				if _, err := p.actor(ctx, d, "maintenance"); err != nil {
					return err
				}
				photo, data, err := maintenance.New(d).Photo(ctx, id)
				if err != nil {
					return err
				}
				err = p.writeBeside(args[1], func(w io.Writer) error {
					_, err := w.Write(data)
					return err
				})
				if err != nil {
					return err
				}
				return p.print(savedPhoto{photo, absolute(args[1]), int64(len(data))}, func(io.Writer) {})
			})
		}),
		ValidArgsFunction: completeFileAt(1),
	}))
}

// completeFileAt completes the argument at a position as a file's name.
func completeFileAt(place int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == place {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
