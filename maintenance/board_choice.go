package maintenance

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// BoardChoice is the choice of jobs on a person's board.
type BoardChoice struct {
	Jobs string `json:"jobs" enum:"mine,all"`
}

// BoardChoiceOf returns the person's choice, "all" by default.
func (s *Service) BoardChoiceOf(ctx context.Context, person string) (BoardChoice, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (BoardChoice, error) {
		_, mine, err := db.One(c, db.Text, "SELECT person FROM board_choices WHERE person = ?", person)
		if mine {
			return BoardChoice{"mine"}, err
		}
		return BoardChoice{"all"}, err
	})
}

// chooseBoard stores the choice of jobs on the caller's board.
func chooseBoard(tx *db.Tx, choice BoardChoice) (BoardChoice, error) {
	query := "DELETE FROM board_choices WHERE person = ?"
	if choice.Jobs == "mine" {
		query = "INSERT INTO board_choices (person) VALUES (?) ON CONFLICT DO NOTHING"
	}
	tx.Do(query, tx.Who().User)
	return choice, tx.Audit("board.chosen", "board:"+tx.Who().User, choice)
}

func (s *Service) chooseBoard() schema.Op {
	return schema.Op{
		Name:   "choose_board",
		About:  "Choose which jobs your board shows, yours or all. It stays chosen.",
		Writes: true, Idempotent: true, Response: BoardChoice{"mine"},
		Bind: schema.Writes(s.db, func(f *schema.Form, choice *BoardChoice) {
			f.Enum(&choice.Jobs, "jobs", "mine or all", []string{"mine", "all"}, schema.Required)
		}, chooseBoard),
		Did: func(answer any, _ schema.Money) string {
			if c, _ := answer.(BoardChoice); c.Jobs == "mine" {
				return "The board shows your jobs."
			}
			return "The board shows all jobs."
		},
		Leads: func(any) string { return "/" },
	}
}
