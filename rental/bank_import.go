package rental

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"quartermaster/rental/bank"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// BankFile is a request to read a bank's file. Account is needed if the file's is unknown; Take are numbers of its
// lines that are new although equal or similar ones are stored.
type BankFile struct {
	File             schema.File
	Account          *int64
	Mapping          Mapping
	Take             []int64
	AcceptUnbalanced bool
}

// ImportedStatement is the result of one statement of a file.
type ImportedStatement struct {
	Account      string     `json:"account"`
	Kind         string     `json:"kind"`
	From         *exact.Day `json:"from"`
	To           *exact.Day `json:"to"`
	OpeningCents *int64     `json:"opening_cents"`
	ClosingCents *int64     `json:"closing_cents"`
	Lines        int        `json:"lines"`
	New          int        `json:"new"`
	Same         int        `json:"same"`
	Similar      []int64    `json:"similar" about:"numbers of lines of the file that are left out, since a kept line has their day and amount; take adds them"`
	State        string     `json:"state" enum:"balanced,unbalanced,unchecked"`
	MissingCents *int64     `json:"missing_cents" about:"closing minus opening and lines"`
	KeptCents    *int64     `json:"kept_cents" about:"the first opening and all kept lines up to the closing's day"`
	GapCents     *int64     `json:"gap_cents" about:"opening minus the closing of the previous statement"`

	currency string
	left     []bank.Line // those of Similar
}

// BankImport is the result of a file.
type BankImport struct {
	Statements []ImportedStatement `json:"statements"`
	Skipped    []string            `json:"skipped" about:"accounts of the file that are not known"`

	fresh []BankLine // of a trial: the new lines, with what each is found to be
}

// importFiles reads banks' files and stores their new lines, all or none. Invalid: an unknown kind, a wrong sum, and a
// file whose only account is unknown.
func (s *Service) importFiles(ctx context.Context, who db.Caller, f BankFile, files []schema.File) (BankImport, error) {
	if len(files) > 1 && len(f.Take) > 0 {
		return BankImport{}, fault.Fieldf("take", "take: import one file at a time with it")
	}
	read, bad := make([][]bank.Statement, len(files)), make([]error, len(files))
	for i, file := range files {
		read[i], _, bad[i] = bank.Read(file.Data)
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (all BankImport, err error) {
		all.Skipped = []string{}
		before, err := db.Number(&tx.Conn, "SELECT coalesce(max(id), 0) FROM bank_lines")
		if err != nil {
			return all, err
		}
		for i := range files {
			f.File = files[i]
			if bad[i] == nil {
				bad[i] = tx.Try(func() error { return s.importFile(tx, f, read[i], &all) })
			}
			if _, refused := fault.As(bad[i]); bad[i] != nil && !refused {
				return all, bad[i]
			}
		}
		if err := ofFiles(bad, files); err != nil {
			return all, err
		}
		if s.db.Trying() {
			all.fresh, err = freeLines(&tx.Conn)
			all.fresh = slices.DeleteFunc(all.fresh, func(l BankLine) bool { return l.ID <= before })
		}
		return all, err
	})
}

// importFile stores the new lines of one file, and adds its result to that of all.
func (s *Service) importFile(tx *db.Tx, f BankFile, statements []bank.Statement, all *BankImport) (err error) {
	if statements == nil {
		if statements, err = s.readSheet(tx, f); err != nil {
			return err
		}
	}
	one, err := importBank(tx, f, statements)
	if err != nil {
		return err
	}
	all.Statements = append(all.Statements, one.Statements...)
	for _, name := range one.Skipped {
		if !slices.Contains(all.Skipped, name) {
			all.Skipped = append(all.Skipped, name)
		}
	}
	return nil
}

// ofFiles joins the refusals of files: of several, each with its name.
func ofFiles(bad []error, files []schema.File) error {
	if len(files) == 1 {
		return bad[0]
	}
	var names []string
	var all []*fault.Error
	for i, err := range bad {
		if e, refused := fault.As(err); refused {
			names, all = append(names, path.Base(files[i].Name)), append(all, e)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fault.Together("file", names, all)
}

func importBank(tx *db.Tx, f BankFile, statements []bank.Statement) (done BankImport, err error) {
	done = BankImport{Statements: []ImportedStatement{}, Skipped: []string{}}
	accounts, err := bankAccounts(&tx.Conn)
	if err != nil {
		return done, err
	}
	im := importer{tx: tx, BankFile: f, accounts: accounts, sha: sha256.Sum256(f.File.Data)}
	if im.secret, err = bankSecret(tx); err != nil {
		return done, err
	}
	for _, st := range statements {
		a, found, err := im.account(st)
		if err != nil {
			return done, err
		}
		if !found {
			if name := strings.Join(st.Numbers[:1], ""); !slices.Contains(done.Skipped, name) {
				done.Skipped = append(done.Skipped, name)
			}
			continue
		}
		one, err := im.statement(a, st)
		if err != nil {
			return done, err
		}
		done.Statements = append(done.Statements, one)
	}
	if len(done.Statements) == 0 {
		return done, fault.Fieldf("account", "account: the file is for %s, which is not an account here%s; choose one, or "+
			"create it",
			strings.Join(done.Skipped, " and "), knownAccounts(accounts))
	}
	for _, n := range f.Take {
		if !im.numbers[n] {
			return done, fault.Fieldf("take", "take: the file has no line %d", n)
		}
	}
	return done, tx.Audit("bank.imported", db.Subject("bank_statement", im.last),
		map[string]any{"file": im.name(), "sha256": hex.EncodeToString(im.sha[:]), "statements": done.Statements})
}

// importer keeps the statements of one file.
type importer struct {
	tx *db.Tx
	BankFile
	accounts []BankAccount
	secret   []byte
	sha      [32]byte
	last     int64 // the statement that was kept last
	numbers  map[int64]bool
}

func (im *importer) name() string { return path.Base(strings.ReplaceAll(im.File.Name, "\\", "/")) }

// statement stores one statement with its new lines; one without new lines is not stored.
func (im *importer) statement(a BankAccount, st bank.Statement) (done ImportedStatement, err error) {
	done = ImportedStatement{Account: a.Name, Kind: st.Kind, From: st.From, To: st.To, OpeningCents: st.OpeningCents,
		ClosingCents: st.ClosingCents,
		Lines:        len(st.Lines), State: "unchecked", Similar: []int64{}, currency: a.Currency}
	var sum int64
	if im.numbers == nil {
		im.numbers = map[int64]bool{}
	}
	for _, l := range st.Lines {
		sum += l.AmountCents
		im.numbers[int64(l.Number)] = true
		if l.AmountCents > maxCents || l.AmountCents < -maxCents {
			return done, fault.Fieldf("file", "file: line %d: the amount %d is too large", l.Number, fault.Cents(l.AmountCents))
		}
	}
	if st.OpeningCents != nil && st.ClosingCents != nil {
		missing := *st.ClosingCents - *st.OpeningCents - sum
		done.MissingCents, done.State = &missing, "balanced"
		if missing != 0 && !im.AcceptUnbalanced {
			return done, fault.Fieldf("file",
				"file: the statement of %s does not add up: opening %d and its lines %d are %d, its closing is %d, so %d is "+
					"missing; to keep it so, say accept_unbalanced",
				a.Name, fault.CentsIn(*st.OpeningCents, a.Currency), fault.CentsIn(sum, a.Currency),
				fault.CentsIn(*st.OpeningCents+sum, a.Currency),
				fault.CentsIn(*st.ClosingCents, a.Currency), fault.CentsIn(missing, a.Currency)).At("accept_unbalanced")
		}
		if missing != 0 {
			done.State = "unbalanced"
		}
	}
	if err := im.keep(a, st, sum, &done); err != nil {
		return done, err
	}
	return done, im.compare(a, st, &done)
}

func (im *importer) keep(a BankAccount, st bank.Statement, sum int64, done *ImportedStatement) error {
	var kept []keptLine
	if st.From != nil && st.To != nil || len(st.Lines) > 0 {
		first, last := lineDays(st)
		var err error
		if kept, err = keptLines(&im.tx.Conn, a.ID, first, last); err != nil {
			return err
		}
	}
	key := func(l bank.Line) string { return string(payerKey(im.secret, l)) }
	sorted := sortLines(st.Lines, kept, st.Kind, im.Take, key)
	parts := 0
	for _, all := range sorted.parts {
		parts += len(all)
	}
	done.New, done.Same = len(sorted.fresh), len(sorted.same)+len(sorted.whole)+parts
	done.Similar = append(done.Similar, sorted.similar...)
	for _, l := range st.Lines {
		if slices.Contains(done.Similar, int64(l.Number)) {
			done.left = append(done.left, l)
		}
	}
	known, err := db.Number(&im.tx.Conn, `SELECT count(*) FROM bank_statements WHERE account_id = ?
		AND from_day IS ? AND to_day IS ? AND opening_cents IS ?
		AND closing_cents IS ? AND sum_cents = ?`, a.ID, st.From, st.To, st.OpeningCents, st.ClosingCents, sum)
	if err != nil || done.New == 0 && known > 0 && parts+len(sorted.whole) == 0 {
		return err
	}
	im.last, err = im.tx.Insert(`INSERT INTO bank_statements (account_id, kind, from_day, to_day, opening_cents,
		closing_cents, sum_cents, state, lines, file, sha256, imported_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, a.ID, st.Kind, st.From, st.To, st.OpeningCents, st.ClosingCents, sum,
		done.State, len(st.Lines), cutText(im.name(), maxName),
		hex.EncodeToString(im.sha[:]), im.tx.Now())
	if err != nil {
		return err
	}
	for _, l := range sorted.fresh {
		if _, err := im.insert(a, l, nil); err != nil {
			return err
		}
	}
	for _, l := range sorted.whole {
		if err := im.join(a, l); err != nil {
			return err
		}
	}
	for _, k := range kept {
		all := sorted.parts[k.id]
		if len(all) == 0 || k.state != lineFree {
			continue // a settled one stays
		}
		im.tx.Do("UPDATE bank_lines SET state = 'split' WHERE id = ?", k.id)
		for _, l := range all {
			if _, err := im.insert(a, l, &k.id); err != nil {
				return err
			}
		}
		done.New += len(all)
		done.Same -= len(all)
	}
	return nil
}

// join keeps a line whose parts were kept before it: they are what it was split into.
func (im *importer) join(a BankAccount, l wholeLine) error {
	id, err := im.insert(a, l.Line, nil)
	if err != nil {
		return err
	}
	im.tx.Do("UPDATE bank_lines SET state = 'split' WHERE id = ?", id)
	for _, part := range l.parts {
		im.tx.Do("UPDATE bank_lines SET parent_id = ? WHERE id = ?", id, part)
	}
	return nil
}

func (im *importer) insert(a BankAccount, l bank.Line, parent *int64) (int64, error) {
	state := lineFree
	if l.AmountCents == 0 {
		state = lineIgnored
	}
	text := func(s string) string { return cutText(s, 2000) }
	entry, cents := "", int64(0)
	if l.EntryCents != l.AmountCents {
		entry, cents = text(l.EntryReference), l.EntryCents
	}
	return im.tx.Insert(`INSERT INTO bank_lines (account_id, statement_id, parent_id, day, amount_cents, payer_name,
		payer_account,
		text, reference, bank_reference, returned, payer_key, state, entry_reference, entry_cents)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, a.ID, im.last, parent, l.Day, l.AmountCents, text(l.PayerName),
		text(l.PayerAccount),
		text(l.Text), text(l.Reference), text(l.BankReference), l.Returned, payerKey(im.secret, l), state, entry, cents)
}

// cutText is at most n characters of a text.
func cutText(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// lineDays are the first and the last day of a statement's lines.
func lineDays(st bank.Statement) (first, last exact.Day) {
	for i, l := range st.Lines {
		if i == 0 || l.Day < first {
			first = l.Day
		}
		if i == 0 || l.Day > last {
			last = l.Day
		}
	}
	return first, last
}
