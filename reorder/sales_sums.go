package reorder

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// DaySum is what was sold on a day, all SKUs added up.
type DaySum struct {
	Day exact.Day
	Qty exact.Milli
}

// ChannelSum is what a channel sold in some days; "" is without a channel.
type ChannelSum struct {
	Channel string
	Qty     exact.Milli
}

// Sums of the last days read at most so many rows of sales (some 10 ms): a shop of 10,000 SKUs that all sell
// each day sees two days, one of 600 SKUs all thirty.
const (
	mostSummed = 20_000
	daysSummed = 30
)

// LastSales adds up what was sold on each of the last days up to the newest sale, and by channel, the
// largest first.
func (s *Service) LastSales(ctx context.Context) (days []DaySum, channels []ChannelSum, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		last, sold, err := db.One(c, (*db.Row).Day, "SELECT day FROM sales_days WHERE day <= ? ORDER BY day DESC LIMIT 1",
			exact.MaxDay)
		if err != nil || !sold {
			return err
		}
		from, rows := last+1, int64(0)
		err = db.Each(c, func(r *db.Row) error {
			day, n := r.Day(), r.Int()
			if rows += n; rows <= mostSummed || day == last {
				from = min(from, day)
			}
			return nil
		}, "SELECT day, skus FROM sales_days WHERE day > ? ORDER BY day DESC", last-daysSummed)
		if err != nil {
			return err
		}
		if days, err = db.All(c, func(r *db.Row) DaySum { return DaySum{r.Day(), r.Milli()} },
			"SELECT day, sum(qty) FROM sales WHERE day >= ? GROUP BY day", from); err != nil {
			return err
		}
		named := exact.Milli(0)
		channels, err = db.All(c, func(r *db.Row) ChannelSum {
			one := ChannelSum{r.Text(), r.Milli()}
			named += one.Qty
			return one
		}, `SELECT s.name, t.qty FROM (SELECT channel_id, sum(qty) AS qty FROM channel_sales WHERE day >= ?
			GROUP BY channel_id) AS t
			CROSS JOIN sales_channels AS s ON s.id = t.channel_id`, from)
		slices.SortFunc(channels,
			func(a, b ChannelSum) int { return cmp.Or(cmp.Compare(b.Qty, a.Qty), cmp.Compare(a.Channel, b.Channel)) })
		for _, d := range days {
			named -= d.Qty
		}
		if named < 0 && len(channels) > 0 {
			channels = append(channels, ChannelSum{Qty: -named})
		}
		return err
	})
	return days, channels, err
}

// SumOf adds up what a list of sales has, of a channel only its share; false where it has too many rows.
func (s *Service) SumOf(ctx context.Context, q SalesQuery, rows int64) (all exact.Milli, is bool, err error) {
	if rows > mostSummed {
		return 0, false, nil
	}
	err = s.db.View(ctx, func(c *db.Conn) error {
		channel, sum := q.Channel, "sales.qty"
		q.Channel = ""
		from, where, args, err := q.narrow(c)
		if err != nil {
			return err
		}
		if channel != "" {
			sum = "share.qty"
			from += ` CROSS JOIN channel_sales AS share ON share.day = sales.day AND share.sku_id = sales.sku_id
				CROSS JOIN sales_channels AS named ON named.id = share.channel_id`
			where, args = where+" AND named.name = ?", append(args, channel)
		}
		all, _, err = db.One(c, (*db.Row).Milli, "SELECT coalesce(sum("+sum+"), 0) FROM "+from+where, args...)
		return err
	})
	return all, err == nil, err
}
