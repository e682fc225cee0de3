package maintenance

import (
	"testing"

	"quartermaster/schema/db/dbtest"
)

// TestMain checks the plan of every statement that the tests run: see dbtest.Main.
func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Plans{
		Walks: map[string]string{
			"eachDone: USE TEMP B-TREE FOR ORDER BY":                    "a few hundred jobs of a range are put in the order of their assets",
			"assigneeNames: SCAN names":                                 "the names so far are walked, not the orders",
			"checkCounts: SCAN work_order_counts":                       "doctor looks at everything",
			"checkCounts: SCAN x":                                       "doctor looks at everything",
			"checkCounts: USE TEMP B-TREE FOR GROUP BY":                 "doctor looks at everything",
			"checkCounts: USE TEMP B-TREE FOR LAST TERM OF ORDER BY":    "doctor looks at everything",
			"checkMeters: SCAN meters":                                  "doctor looks at everything",
			"checkMeters: USE TEMP B-TREE FOR ORDER BY":                 "doctor looks at everything",
			"checkMonth: SCAN assets":                                   "doctor looks at everything",
			"checkMonth: SCAN work_orders":                              "doctor looks at everything",
			"checkPlans: SCAN p":                                        "doctor looks at everything",
			"checkRestarts: SCAN p":                                     "doctor looks at everything",
			"checkUsedParts: SCAN part_uses":                            "doctor looks at everything",
			"checkUsedParts: SCAN w":                                    "doctor looks at everything",
			"checkSums: SCAN work_order_sums":                           "doctor looks at everything",
			"checkSums: SCAN work_orders":                               "doctor looks at everything",
			"checkSums: SCAN real":                                      "doctor looks at everything",
			"checkSums: SCAN x":                                         "doctor looks at everything",
			"checkSums: USE TEMP B-TREE FOR GROUP BY":                   "doctor looks at everything",
			"checkSums: USE TEMP B-TREE FOR ORDER BY":                   "doctor looks at everything",
			"exportReadings: SCAN m":                                    "an export is of every record",
			"exportReadings: USE TEMP B-TREE FOR LAST TERM OF ORDER BY": "an export is of every record",
			"listDue: SCAN p":                                           "the list is of every plan",
			"countDue: SCAN p":                                          "the count is of every plan",
			"readBoard: SCAN parts":                                     "a shop has few parts with a minimum",
			"mostUrgent: USE TEMP B-TREE FOR ORDER BY":                  "the overdue ones, and the cards of a column",
			"meterTable: SCAN meters":                                   "an export is of every record",
			"costOfAll: SCAN w":                                         "a row an assignee, status and priority",
			"read: SCAN w":                                              "the newest, off the end of the table",
			"people: SCAN r":                                            "a shop has few people",
			"pageOfOrders: SCAN w":                                      "a row a status and priority",
			"assetByTag: SCAN assets":                                   "a row of a file that calls its asset by its name",
			"partNamed: SCAN parts":                                     "an unknown part is refused with those that there are",
			"lookUp: SCAN parts":                                        "a number that nothing has as written is looked for in any case, and as a name",
			"putReading: SCAN e":                                        "the epochs of one meter are counted up, not stored",
			"putReading: SCAN epochs":                                   "the epochs of one meter are counted up, not stored",
			"referring: USE TEMP B-TREE FOR count(DISTINCT)":            "a record's own references, before it is removed",
		},
		Small: map[string]string{"maintenance_settings": "one row"},
		Uses: map[string]string{
			"mostUrgent": "SEARCH w USING COVERING INDEX work_orders_urgency (status=?)",
			"openJobs":   "SEARCH work_orders USING INDEX work_orders_plan_open (pm_id>?)",
			"read":       "SEARCH w USING INDEX work_orders_status (status=?)",
		},
	})
}
