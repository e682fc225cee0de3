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
	n, err := s.CountToOrder(ctx)
	return fmt.Sprintf("%d to order", n), err
}
