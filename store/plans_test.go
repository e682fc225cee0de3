package store

import (
	"testing"

	"quartermaster/schema/db/dbtest"
)

// TestMain checks the plan of every statement that the tests run: see dbtest.Main.
func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Plans{
		Walks: map[string]string{
			"settle: SCAN store_licenses":                          "the demo alone",
			"settle: SCAN store_orders":                            "the demo alone",
			"settle: SCAN store_batches":                           "the demo alone",
			"exportLicenses: SCAN l":                               "an export is of every record",
			"mappedAs: USE TEMP B-TREE FOR ORDER BY":               "the few variants of a product",
			"meant: SCAN store_products":                           "once an import: names are compared",
			"SigningKeys: SCAN store_signing_keys":                 "a few keys",
			"checkLicenseFiles: SCAN store_license_files":          "doctor looks at everything",
			"checkLicenseFiles: SCAN store_signing_keys":           "doctor looks at everything",
			"found: USE TEMP B-TREE FOR GROUP BY":                  "the few currencies of a shop",
			"licensesCalled: USE TEMP B-TREE FOR ORDER BY":         "the few keys that end alike",
			"likeCustomers: SCAN store_customers":                  "at most 5,000 names, where nothing was found",
			"filesRunning: USE TEMP B-TREE FOR GROUP BY":           "the files of one license",
			"checkKeys: SCAN store_licenses":                       "doctor looks at everything",
			"checkTotals: SCAN store_licenses":                     "doctor looks at everything",
			"checkTotals: SCAN store_orders":                       "doctor looks at everything",
			"checkTotals: USE TEMP B-TREE FOR GROUP BY":            "doctor looks at everything",
			"forgetCustomer: SCAN answers":                         "forgetting looks at everything that is kept",
			"forgetCustomer: SCAN events":                          "forgetting looks at everything that is kept",
			"forgetCustomer: SCAN import_files":                    "the few files that wait",
			"addLabels: USE TEMP B-TREE FOR DISTINCT":              "the labels of one license",
			"replacements: SCAN events":                            "forgetting looks at everything that is kept",
			"replacements: USE TEMP B-TREE FOR DISTINCT":           "one person's names",
			"eachOrder: USE TEMP B-TREE FOR ORDER BY":              "the few orders of a range of days",
			"list: USE TEMP B-TREE FOR ORDER BY":                   "a buyer's licenses",
			"eachOrder: USE TEMP B-TREE FOR LAST TERM OF ORDER BY": "an order's few lines",
			"eachOrder: SCAN o":                                    "an export is of every record",
			"readTotals: SCAN store_totals":                        "a row a total",
			"Refunds: USE TEMP B-TREE FOR ORDER BY":                "an order's few refunds, by time",
			"refundsOf: USE TEMP B-TREE FOR ORDER BY":              "an order's few refunds, by time",
			"sentences: SCAN b":                                    "doctor looks at everything",
			"sentences: SCAN c":                                    "doctor looks at everything",
			"sentences: SCAN h":                                    "doctor looks at everything",
			"sentences: SCAN k":                                    "doctor looks at everything",
			"sentences: SCAN l":                                    "doctor looks at everything",
			"sentences: SCAN o":                                    "doctor looks at everything",
			"sentences: SCAN all_of":                               "doctor looks at everything",
			"sentences: SCAN store_product_hours":                  "doctor looks at everything",
			"page: SCAN s":                                         "subscriptions, those past due first",
			"page: USE TEMP B-TREE FOR ORDER BY":                   "subscriptions, those past due first",
			"Disputes: USE TEMP B-TREE FOR ORDER BY":               "the few disputes that are open",
			"Disputes: SCAN d":                                     "the few disputes that are open",
			"load: USE TEMP B-TREE FOR ORDER BY":                   "the payments of one subscription",
			"load: USE TEMP B-TREE FOR GROUP BY":                   "payments that wait for a product",
			"sentences: SCAN s":                                    "doctor looks at everything",
			"sentences: SCAN store_customers":                      "doctor looks at everything",
			"sentences: SCAN store_orders":                         "doctor looks at everything",
			"sentences: USE TEMP B-TREE FOR GROUP BY":              "doctor looks at everything",
			"sentences: USE TEMP B-TREE FOR ORDER BY":              "doctor looks at everything",
			"bookRenewal: USE TEMP B-TREE FOR GROUP BY":            "the licenses of one subscription",
			"bookRenewal: USE TEMP B-TREE FOR ORDER BY":            "the licenses of one subscription",
			"buyersOf: USE TEMP B-TREE FOR DISTINCT":               "the payments that wait for one subscription",
			"bookInvoices: USE TEMP B-TREE FOR ORDER BY":           "a subscription's few invoices, by time",
			"unbookedPayments: SCAN store_unbooked":                "a list that is short",
			"unbookedPayments: USE TEMP B-TREE FOR ORDER BY":       "a list that is short",
		},
		Uses: map[string]string{
			"Activations":  "SEARCH store_activations USING INDEX store_activations_license (license_id=? AND rowid<?)",
			"sentences":    "SEARCH o USING INDEX store_orders_paid (paid_at>? AND paid_at<?)",
			"eachOrder":    "SEARCH o USING",
			"fewBetween":   "INDEX store_orders_paid (paid_at>? AND paid_at<?)",
			"findCustomer": "SEARCH store_customers USING INDEX sqlite_autoindex_store_customers_1 (email=?)",
			"walk":         "VIRTUAL TABLE INDEX 192:M1<", // the trigrams
			"listBatches":  "SEARCH b USING INDEX store_batches_unused (id<?)",
			"look":         "SEARCH l USING INTEGER PRIMARY KEY (rowid=?)",
			"lookUpCode":   "SEARCH k USING PRIMARY KEY (hash=?)",
		},
	})
}
