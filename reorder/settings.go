package reorder

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// maxSettingDays bounds both settings; the least is 1.
const maxSettingDays = 365

// Settings are the owner's settings for all SKUs: the days over which demand is averaged, the days that an order should
// last beyond lead time and safety stock, and whether the average excludes a SKU's days without stock.
type Settings struct {
	ForecastWindowDays int64 `json:"forecast_window_days"`
	TargetCoverDays    int64 `json:"target_cover_days"`
	LeaveOutEmpty      bool  `json:"leave_out_days_without_stock,omitempty" about:"the average leaves out the days on which a SKU had no stock"`

	standing exact.Day // the day that the SKUs' stored sums end on
}

// horizon is what the forecasts of all SKUs share as of a day.
func (s Settings) horizon(c *db.Conn, today exact.Day) (h horizon, err error) {
	h = horizon{today: today, window: s.ForecastWindowDays, cover: s.TargetCoverDays}
	if s.LeaveOutEmpty {
		h.empty, err = emptyByID(c, h)
	}
	return h, err
}

// SettingsChange are the settings to change; nil leaves one unchanged.
type SettingsChange struct {
	ForecastWindowDays, TargetCoverDays *int64
	LeaveOutEmpty                       *bool
}

func settingsOf(c *db.Conn) (Settings, error) {
	set, _, err := db.One(c, func(r *db.Row) Settings {
		return Settings{ForecastWindowDays: r.Int(), TargetCoverDays: r.Int(), standing: r.Day(), LeaveOutEmpty: r.Bool()}
	}, "SELECT forecast_window_days, target_cover_days, standing_day, leave_out_empty FROM reorder_settings")
	return set, err
}

// Settings returns the settings.
func (s *Service) Settings(ctx context.Context) (Settings, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Settings, error) { return settingsOf(c) })
}

// ChangeSettings sets the given settings, days from 1 to 365, and updates every SKU's status. No alarm is fired, since
// the stock did not change.
func (s *Service) ChangeSettings(ctx context.Context, who db.Caller, change SettingsChange) (Settings, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Settings, error) {
		old, err := settingsOf(&tx.Conn)
		if err != nil {
			return Settings{}, err
		}
		set := old
		for _, f := range []struct {
			name string
			to   *int64
			days *int64
		}{
			{"forecast_window_days", change.ForecastWindowDays, &set.ForecastWindowDays},
			{"target_cover_days", change.TargetCoverDays, &set.TargetCoverDays},
		} {
			if f.to == nil {
				continue
			}
			if *f.to < 1 || *f.to > maxSettingDays {
				return Settings{}, fault.Fieldf(f.name, "%s: %d is out of range; it takes 1 to %d days", f.name, *f.to,
					maxSettingDays)
			}
			*f.days = *f.to
		}
		set.LeaveOutEmpty = schema.Or(change.LeaveOutEmpty, set.LeaveOutEmpty)
		if err := tx.CheckClock(); err != nil {
			return Settings{}, err
		}
		set.standing = tx.Today()
		h, err := set.horizon(&tx.Conn, tx.Today())
		if err != nil {
			return Settings{}, err
		}
		roll(tx, "sold", windowOf(old.standing, old.ForecastWindowDays), windowOf(h.today, h.window))
		roll(tx, "sold_year", windowOf(old.standing, yearDays), windowOf(h.today, yearDays))
		tx.Do(
			"UPDATE reorder_settings SET forecast_window_days = ?, target_cover_days = ?, standing_day = ?, leave_out_empty = ?",
			set.ForecastWindowDays, set.TargetCoverDays, set.standing, set.LeaveOutEmpty)
		if err := judgeAll(tx, h); err != nil {
			return Settings{}, err
		}
		return set, tx.Audit("settings.changed", "settings", set)
	})
}

// judgeAll updates whether each SKU is below, without alarms.
func judgeAll(tx *db.Tx, h horizon) error {
	all, err := articles.All(&tx.Conn, "")
	if err != nil {
		return err
	}
	for _, r := range all {
		r.judge(h)
		tx.Do("UPDATE skus SET is_below = ?, judged_on = ? WHERE id = ?", r.isBelow, r.judgedOn, r.id)
	}
	return nil
}
