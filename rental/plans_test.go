package rental

import (
	"testing"

	"quartermaster/schema/db/dbtest"
)

// TestMain holds the plan of every statement that the tests run: see dbtest.Main.
func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Plans{
		Walks: map[string]string{
			"*: USE TEMP B-TREE FOR group_concat(ORDER BY)":                "a lease's few tenants and rents",
			"bankLines: SCAN b":                                            "the count of all lines, for the pager",
			"checkLines: SCAN b":                                           "doctor looks at everything",
			"checkLines: USE TEMP B-TREE FOR GROUP BY":                     "doctor looks at everything",
			"checkStatements: SCAN bank_statements":                        "doctor looks at everything",
			"endLink: USE TEMP B-TREE FOR ORDER BY":                        "the few lines of one link",
			"forgetPayers: USE TEMP B-TREE FOR DISTINCT":                   "a person is forgotten seldom, and everywhere",
			"keptBalance: USE TEMP B-TREE FOR ORDER BY":                    "an account's few statements",
			"keptLines: USE TEMP B-TREE FOR ORDER BY":                      "the days of one file",
			"loadMatcher: SCAN m":                                          "few payouts are ever made",
			"loadMatcher: USE TEMP B-TREE FOR ORDER BY":                    "what every account paid decides what a line is",
			"matchLeases: SCAN l":                                          "a line is compared with every lease",
			"matchLeases: SCAN recurring_charges":                          "a line is compared with every lease",
			"ForgetTenant: SCAN answers":                                   "a person is forgotten seldom, and everywhere",
			"ForgetTenant: SCAN events":                                    "a person is forgotten seldom, and everywhere",
			"ForgetTenant: SCAN import_files":                              "few files wait for their import",
			"leasesOfTenant: USE TEMP B-TREE FOR ORDER BY":                 "a tenant's few leases are put in order",
			"nothingBefore: USE TEMP B-TREE FOR ORDER BY":                  "a lease's few are put in order",
			"withdrawBefore: USE TEMP B-TREE FOR ORDER BY":                 "a lease's few are put in order",
			"leaseTable: SCAN leases":                                      "an export is of every record",
			"ListedBy: USE TEMP B-TREE FOR ORDER BY":                       "what is open is put in order to choose from",
			"tracesOf: SCAN tenants":                                       "a person is forgotten seldom, and everywhere",
			"Properties: SCAN p":                                           "the first of the table, by id",
			"Tickets: SCAN k":                                              "the newest, off the end of the table",
			"allocationsOf: USE TEMP B-TREE FOR ORDER BY":                  "a lease's few are put in order",
			"chargeTable: USE TEMP B-TREE FOR ORDER BY":                    "an export is of every record",
			"checkEvents: SCAN l":                                          "doctor looks at everything",
			"checkFees: SCAN r":                                            "doctor looks at everything",
			"checkPayments: SCAN c":                                        "doctor looks at everything",
			"checkMarks: SCAN m":                                           "doctor looks at everything",
			"checkPayments: SCAN m":                                        "doctor looks at everything",
			"checkPeriods: SCAN l":                                         "doctor looks at everything",
			"depositTable: SCAN payouts":                                   "an export is of every record",
			"depositTable: USE TEMP B-TREE FOR ORDER BY":                   "an export is of every record",
			"eachLease: USE TEMP B-TREE FOR ORDER BY":                      "an export is of every record",
			"endLease: USE TEMP B-TREE FOR ORDER BY":                       "a lease's few are put in order",
			"exportPayments: USE TEMP B-TREE FOR LAST 6 TERMS OF ORDER BY": "an export is of every record",
			"knownIn: SCAN properties":                                     "a refusal tells what there is",
			"leaseTable: USE TEMP B-TREE FOR ORDER BY":                     "an export is of every record",
			"paymentsOf: USE TEMP B-TREE FOR LAST TERM OF ORDER BY":        "a lease's few are put in order",
			"postFees: USE TEMP B-TREE FOR ORDER BY":                       "a lease's few are put in order",
			"readLeases: SCAN x":                                           "the page that an index found",
			"read: USE TEMP B-TREE FOR GROUP BY":                           "a property's charges of a month",
			"readLeases: USE TEMP B-TREE FOR ORDER BY":                     "the page that an index found",
			"recount: USE TEMP B-TREE FOR ORDER BY":                        "a lease's few are put in order",
			"recurringOf: USE TEMP B-TREE FOR ORDER BY":                    "a lease's few are put in order",
			"recurringTable: USE TEMP B-TREE FOR ORDER BY":                 "an export is of every record",
			"release: USE TEMP B-TREE FOR ORDER BY":                        "a lease's few are put in order",
			"rentTable: USE TEMP B-TREE FOR ORDER BY":                      "an export is of every record",
			"setLateFee: USE TEMP B-TREE FOR ORDER BY":                     "a lease's few are put in order",
			"spend: USE TEMP B-TREE FOR LAST TERM OF ORDER BY":             "a lease's few are put in order",
			"forgetTexts: SCAN x":                                          "a person is forgotten seldom, and everywhere",
		},
		Uses: map[string]string{
			"Tickets":    "SEARCH k USING INDEX tickets_status (status=? AND id<?)",
			"unitsOf":    "SEARCH l USING INDEX sqlite_autoindex_leases_1 (unit_id=? AND start_date<?)",
			"findLease":  "SEARCH c USING COVERING INDEX charges_unpaid",
			"lastPosted": "SEARCH c USING INDEX charges_posting (lease_id=? AND type=?)",
			"leaseOn":    "SEARCH leases USING INDEX sqlite_autoindex_leases_1",
			"overdue":    "SCAN c USING INDEX charges_unpaid",
		},
	})
}
