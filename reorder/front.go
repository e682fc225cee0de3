package reorder

import (
	"context"
	"fmt"

	"quartermaster/schema/db"
)

// Begun reports whether there is a SKU and a sale.
func (s *Service) Begun(ctx context.Context) ([]bool, error) {
	return db.Some(ctx, s.db, "skus", "sales")
}

// Sentence says how many SKUs are to be ordered beyond what is in drafts.
func (s *Service) Sentence(ctx context.Context) (string, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (string, error) {
		drafted, err := draftedQuantities(c)
		if err != nil {
			return "", err
		}
		k, err := rankBeside(c, drafted)
		if err != nil {
			return "", err
		}
		n := 0
		for i := range k.all {
			if k.all[i].open > 0 && k.all[i].status != inactive {
				n++
			}
		}
		return fmt.Sprintf("%d to order", n), nil
	})
}
