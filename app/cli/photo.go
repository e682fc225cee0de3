package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"quartermaster/maintenance"
	"quartermaster/schema/db"
)

func (p *program) photoCommand() *cobra.Command {
	return group("photo", "Keep photos with work orders", "",
		p.photoAddCommand(), p.photoSaveCommand())
}

func (p *program) photoAddCommand() *cobra.Command {
	var caption string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "add WORK_ORDER_ID FILE [--caption TEXT]",
		Short: "Keep a JPEG, PNG or WebP picture of up to 10 MiB with a work order",
		Long: `Keep a JPEG, PNG or WebP picture of up to 10 MiB with a work order, in the database, so
that a backup holds it too, and print its id.`,
		Example: `  quartermaster maintenance photo add 12 spindle.jpg --caption "before"`,
		Args:    cobra.ExactArgs(2),
		RunE: p.run(func(ctx context.Context, args []string) error {
			id, err := idArg("WORK_ORDER_ID", args[0])
			if err != nil {
				return err
			}
			data, err := readPhoto(args[1])
			if err != nil {
				return err
			}
			return p.withMaintenance(ctx, func(s *maintenance.Service, who db.Caller) error {
				photo, err := s.AddPhoto(ctx, who, id, filepath.Base(args[1]), caption, data)
				if err != nil {
					return err
				}
				return p.print(photo, func(w io.Writer) { fmt.Fprintln(w, photo.ID) })
			})
		}),
		ValidArgsFunction: completeFileAt(1),
	}))
	cmd.Flags().StringVar(&caption, "caption", "", "what it shows")
	return cmd
}

// readPhoto reads a file, of one that is too large no more than tells that it is.
func readPhoto(path string) ([]byte, error) {
	f, err := os.Open(path) // #nosec G304 -- the operator names the file
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maintenance.MaxPhoto+1))
}

func (p *program) photoSaveCommand() *cobra.Command {
	return p.acting(&cobra.Command{
		Use:   "save PHOTO_ID FILE",
		Short: "Write a work order's photo to a file, the same bytes that were added",
		Long: `Write a work order's photo to a file, the same bytes that were added. A file that is
there is replaced. The agents' tool workorder_detail names an order's photos.`,
		Example: "  quartermaster maintenance photo save 1 spindle.jpg",
		Args:    cobra.ExactArgs(2),
		RunE: p.run(func(ctx context.Context, args []string) error {
			id, err := idArg("PHOTO_ID", args[0])
			if err != nil {
				return err
			}
			return p.withMaintenance(ctx, func(s *maintenance.Service, _ db.Caller) error {
				_, data, err := s.Photo(ctx, id)
				if err != nil {
					return err
				}
				return writeBeside(args[1], func(w io.Writer) error {
					_, err := w.Write(data)
					return err
				})
			})
		}),
		ValidArgsFunction: completeFileAt(1),
	})
}

// completeFileAt lets the shell complete the argument at a place as a file's name.
func completeFileAt(place int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == place {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
