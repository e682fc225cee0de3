package rental

import (
	"crypto/hmac"
	"crypto/sha256"
	"strconv"
	"strings"

	"quartermaster/rental/bank"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// The states of a bank's line, of which free is the only one that is open.
const (
	lineFree     = "free"
	lineBooked   = "booked"
	lineLinked   = "linked"
	lineReturned = "returned"
	lineIgnored  = "ignored"
	lineSplit    = "split"
)

var lineStates = []string{lineFree, lineBooked, lineLinked, lineReturned, lineIgnored, lineSplit}

// BankLine is one booking of the bank's; what came in is above 0. Match, Act and Candidates are those of a free one.
type BankLine struct {
	ID            int64           `json:"id"`
	Account       string          `json:"account"`
	Day           exact.Day       `json:"day"`
	AmountCents   int64           `json:"amount_cents" about:"in the smallest unit of the account's currency"`
	PayerName     string          `json:"payer_name" about:"the other party, of a debit too"`
	PayerAccount  string          `json:"payer_account"`
	Text          string          `json:"text"`
	Reference     string          `json:"reference"`
	BankReference string          `json:"bank_reference"`
	Returned      bool            `json:"returned" about:"the bank marks it as a return"`
	ParentID      *int64          `json:"parent_id" about:"the line that it is a part of"`
	State         string          `json:"state" enum:"free,booked,linked,returned,ignored,split"`
	Match         *string         `json:"match" enum:"certain,proposed,unknown"`
	Act           *string         `json:"act" enum:"payment,link,return,expense"`
	Candidates    []BankCandidate `json:"candidates"`
	PaymentIDs    []int64         `json:"payment_ids" about:"of a settled line: what it was settled by"`
	PayoutIDs     []int64         `json:"payout_ids"`
	ExpenseIDs    []int64         `json:"expense_ids"`
	Reason        *string         `json:"reason" about:"why it is ignored"`
	BookedOn      *exact.Day      `json:"booked_on" about:"the day of what it was booked as, where that is another: the first open day for one of a closed year"`

	accountID int64
	currency  string
}

// BankCandidate is what a free line may be, with what speaks for it.
type BankCandidate struct {
	LeaseID    *int64   `json:"lease_id"`
	Lease      string   `json:"lease" about:"Property / Unit, and its tenants"`
	PaymentIDs []int64  `json:"payment_ids"`
	ExpenseID  *int64   `json:"expense_id"`
	PayoutID   *int64   `json:"payout_id"`
	Evidence   []string `json:"evidence"`

	like  *Expense
	early bool
}

// Early says that the line is from before its lease was taken over: its money is in the balance taken over.
func (c BankCandidate) Early() bool { return c.early }

// Like is the expense that a line may be another one of; nil for other candidates.
func (c BankCandidate) Like() *Expense { return c.like }

const lineColumns = `b.id, a.name, b.day, b.amount_cents, b.payer_name, b.payer_account, b.text, b.reference,
	b.bank_reference, b.returned,
	b.parent_id, b.state, b.reason, b.account_id, a.currency,
	(SELECT group_concat(payment_id) FROM bank_links WHERE line_id = b.id), (SELECT group_concat(payout_id)
	FROM bank_links WHERE line_id = b.id),
	(SELECT group_concat(expense_id) FROM bank_links WHERE line_id = b.id),
	(SELECT coalesce(m.paid_date, e.day) FROM bank_links k LEFT JOIN payments m ON m.id = k.payment_id LEFT
	JOIN expenses e ON e.id = k.expense_id
		WHERE k.line_id = b.id AND k.made = 1 AND coalesce(m.paid_date, e.day) <> b.day)`

var lineRows = record.Read("bank line", "b", lineColumns,
	"bank_lines b CROSS JOIN bank_accounts a ON a.id = b.account_id", scanLine)

func scanLine(r *db.Row) BankLine {
	return BankLine{ID: r.Int(), Account: r.Text(), Day: r.Day(), AmountCents: r.Int(), PayerName: r.Text(),
		PayerAccount: r.Text(), Text: r.Text(),
		Reference: r.Text(), BankReference: r.Text(), Returned: r.Bool(), ParentID: r.IntPtr(), State: r.Text(),
		Reason:    r.TextPtr(),
		accountID: r.Int(), currency: r.Text(), PaymentIDs: idsOf(r.Text()), PayoutIDs: idsOf(r.Text()),
		ExpenseIDs: idsOf(r.Text()), BookedOn: r.DayPtr(), Candidates: []BankCandidate{}}
}

// idsOf reads what group_concat wrote.
func idsOf(text string) []int64 {
	ids := []int64{}
	for part := range strings.SplitSeq(text, ",") {
		n := int64(0)
		for _, r := range part {
			n = n*10 + int64(r-'0')
		}
		if part != "" {
			ids = append(ids, n)
		}
	}
	return ids
}

// freeLine is the line with the id, which must not be settled.
func freeLine(c *db.Conn, id int64) (BankLine, error) {
	l, err := lineRows.ByID(c, id)
	if err == nil && l.State != lineFree {
		err = l.settled()
	}
	return l, err
}

// settled refuses to settle a line twice, and says by what it is.
func (l BankLine) settled() error {
	by := ""
	switch {
	case len(l.PaymentIDs) > 0:
		by = " by payment " + joinIDs(l.PaymentIDs)
	case len(l.PayoutIDs) > 0:
		by = " by payout " + joinIDs(l.PayoutIDs)
	case len(l.ExpenseIDs) > 0:
		by = " by expense " + joinIDs(l.ExpenseIDs)
	}
	return fault.Conflictf("bank line %d is %s already%s; free it first", l.ID, l.State, by).At("line_id")
}

// folded is a text as it is compared: without blanks, in small letters.
func folded(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }

// payerKey recognises a line by its payer and text without revealing them.
func payerKey(secret []byte, l bank.Line) []byte {
	payer := signs(l.PayerAccount)
	if payer == "" {
		payer = folded(l.PayerName)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(payer + "\x00" + folded(l.Text)))
	return mac.Sum(nil)[:16]
}

// joinIDs lists ids by commas.
func joinIDs(ids []int64) string {
	return strings.Join(schema.Map(ids, func(id int64) string { return strconv.FormatInt(id, 10) }), ", ")
}

// forgetPayers clears the payer of lines that paid only leases of the tenant.
func forgetPayers(tx *db.Tx, tenant int64) {
	tx.Do(`UPDATE bank_lines SET payer_name = '', payer_account = '', text = '' WHERE id IN (
		SELECT k.line_id FROM lease_tenants y CROSS JOIN payments m ON m.lease_id = y.lease_id
		CROSS JOIN bank_links k ON k.payment_id = m.id WHERE y.tenant_id = ?1 AND NOT EXISTS (SELECT 1
		FROM bank_links o CROSS JOIN payments p ON p.id = o.payment_id
			WHERE o.line_id = k.line_id AND p.lease_id NOT IN (SELECT lease_id FROM lease_tenants WHERE tenant_id = ?1)))`,
		tenant)
}
