package page

import (
	"context"

	"quartermaster/maintenance"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// planView is one plan with the jobs that served it.
type planView struct{ maintenance.PlanRecord }

func (v planView) PageTitle() string { return v.Title + ", " + v.Asset }

func plan(s *maintenance.Service) page.Page {
	return page.New(page.Spec[planView]{
		Path: "/plans/:id", Title: "Plan",
		Load: page.ByID("id", "the plan", func(ctx context.Context, _ db.Caller, id int64) (planView, error) {
			v, err := s.PlanRecord(ctx, id)
			return planView{v}, err
		}),
		View: PlanPage,
	})
}

// acts are the actions on the plan, the likeliest first.
func (v planView) acts(ctx context.Context) []page.Action {
	id := page.Num(v.PMID)
	edit := page.Open("Edit", "save_plan", "asset_tag", v.AssetTag, "title", v.Title).Key("e")
	if v.Paused {
		return []page.Action{page.Do("Resume", "resume_plan", "id", id).Main(), edit,
			page.Do("Remove", "remove_plan", "id", id).Then(assetPath(v.AssetID)).Danger()}
	}
	acts := dueActs(ctx, v.PMDueRow)
	acts[0] = acts[0].Main().Key("n")
	return append(acts, page.Do("Pause", "pause_plan", "id", id), edit,
		page.Do("Remove", "remove_plan", "id", id).Then(assetPath(v.AssetID)).Quiet().Danger())
}
