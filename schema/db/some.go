package db

import "context"

// Some reports for each table whether it contains a row.
func Some(ctx context.Context, d *DB, tables ...string) ([]bool, error) {
	some := make([]bool, len(tables))
	return some, d.View(ctx, func(c *Conn) error {
		for i, t := range tables {
			_, found, err := One(c, Int, "SELECT 1 FROM "+t+" LIMIT 1")
			if err != nil {
				return err
			}
			some[i] = found
		}
		return nil
	})
}
