package reorder

import (
	"testing"

	"quartermaster/schema/db/dbtest"
)

// TestMain checks the plan of every statement that the tests run: see dbtest.Main.
func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Plans{
		Walks: map[string]string{
			"stockFigures: SCAN skus":                                 "the figures are of every SKU",
			"addSales: SCAN s":                                        "the days that an upload brought",
			"addSales: USE TEMP B-TREE FOR GROUP BY":                  "the days that an upload brought",
			"catalogue: USE TEMP B-TREE FOR ORDER BY":                 "at most a thousand that an index found",
			"addUp: SCAN sales":                                       "doctor looks at everything",
			"checkDays: SCAN sales":                                   "doctor looks at everything",
			"checkDays: SCAN sales_days":                              "doctor looks at everything",
			"checkDays: USE TEMP B-TREE FOR GROUP BY":                 "doctor looks at everything",
			"checkChannels: SCAN c":                                   "doctor looks at everything",
			"eachSold: SCAN sales":                                    "an export is of every record",
			"eachSold: USE TEMP B-TREE FOR LAST TERM OF ORDER BY":     "an export is of every record",
			"eachSold: SCAN page":                                     "the rows of one page",
			"eachSold: USE TEMP B-TREE FOR ORDER BY":                  "the rows of one page",
			"exportOrders: USE TEMP B-TREE FOR LAST TERM OF ORDER BY": "an export is of every record",
			"history: SCAN days":                                      "the days of a chart",
			"judgeAll: SCAN skus":                                     "new settings judge every SKU",
			"linesOf: USE TEMP B-TREE FOR ORDER BY":                   "one order's lines are sorted",
			"LastSales: USE TEMP B-TREE FOR GROUP BY":                 "a row a channel",
			"LastSales: SCAN t":                                       "a row a channel",
			"nextNumber: SCAN sqlite_sequence":                        "one row a table",
			"rankBeside: SCAN skus":                                   "a report is of all SKUs",
			"mentioning: SCAN skus":                                   "what is looked for may be anywhere",
			"sort: SCAN skus":                                         "all are sorted",
			"SalesReport: SCAN skus":                                  "sales are added up by every SKU",
			"records: SCAN skus":                                      "a list of many SKUs",
		},
		Small: map[string]string{"reorder_settings": "one row"},
		Uses: map[string]string{
			"history": "SEARCH",
			"lookUp":  "SEARCH skus USING INDEX",
		},
	})
}
