package maintenance

import (
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// The titles of notices, which the shop may put into its own words.
const (
	assignedTitle = "Assigned to you"
	requestTitle  = "New request"
)

// Notices are what users of the service can be mailed of.
func (s *Service) Notices() []mail.Notice {
	return []mail.Notice{
		{Name: "jobs", Service: "maintenance", Title: assignedTitle, Tell: tellJob, Due: dueJobs},
		{Name: "requests", Service: "maintenance", Title: requestTitle, Tell: tellRequest},
	}
}

// notify notifies users of a work order: its new assignee, and of a new request.
func notify(tx *db.Tx, was *string, wo WorkOrder, isNew bool) error {
	told := mail.Told{Subject: db.Subject("work_order", wo.ID), Record: "work order " + strconv.FormatInt(wo.ID, 10)}
	if to := schema.Cell(wo.AssignedTo); to != "" && to != schema.Cell(was) {
		job := told
		job.Notice, job.User = "jobs", to
		if err := mail.Notify(tx, job); err != nil {
			return err
		}
	}
	if !isNew || schema.Cell(wo.Source) != "request" {
		return nil
	}
	told.Notice = "requests"
	return mail.Notify(tx, told)
}

// jobOf reads a notice's work order; false if it is gone.
func jobOf(c *db.Conn, r mail.Row) (wo WorkOrder, is bool, err error) {
	wo, err = findWorkOrder(c, r.Number())
	if fault.Is(err, fault.NotFound) {
		return wo, false, nil
	}
	return wo, err == nil, err
}

// told is the order as a row of a message.
func (wo WorkOrder) told(w *mail.Writer) []string {
	due := ""
	if wo.DueDate != nil {
		due = w.Word("due") + " " + w.Day(*wo.DueDate)
	}
	number := w.Word("Work order") + " " + strconv.FormatInt(wo.ID, 10)
	return []string{number, wo.Asset, firstLine(wo.Description), wo.Priority, due}
}

func (wo WorkOrder) path() string { return "/work-orders/" + strconv.FormatInt(wo.ID, 10) }

func tellJob(c *db.Conn, w *mail.Writer, r mail.Row, user string) ([]string, string, bool, error) {
	wo, is, err := jobOf(c, r)
	return wo.told(w), wo.path(), is && !closed(wo.Status) && strings.EqualFold(schema.Cell(wo.AssignedTo), user), err
}

func tellRequest(c *db.Conn, w *mail.Writer, r mail.Row, _ string) ([]string, string, bool, error) {
	wo, is, err := jobOf(c, r)
	return wo.told(w), wo.path(), is && !closed(wo.Status), err
}

// mostDue is how many jobs a digest lists.
const mostDue = 200

// dueJobs are the user's jobs that are due today or overdue, oldest first.
func dueJobs(c *db.Conn, w *mail.Writer, user string) (rows [][]string, err error) {
	all, err := workOrders.All(c, `WHERE w.status IN ('open', 'in-progress') AND w.due_date <= ?
		AND w.assigned_to = ? COLLATE NOCASE
		ORDER BY w.due_date, w.id LIMIT ?`, c.Today(), user, mostDue)
	for _, wo := range all {
		rows = append(rows, wo.told(w))
	}
	return rows, err
}
