package table

import (
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// preamble is the number of rows that are searched for the header: titles and dates of a report precede it.
const preamble = 20

// synonyms are other programs' and people's names of our columns.
var synonyms = map[string][]string{
	"meter":        {"meter name", "zähler", "compteur"},
	"part_number":  {"part no", "part #", "sku", "teilenummer"},
	"moq":          {"minimum order quantity", "min order", "min order qty", "mindestbestellmenge", "mindestmenge"},
	"priority":     {"priorität", "priorité"},
	"created_at":   {"created", "created on", "date created", "erstellt am"},
	"completed_at": {"completed", "completed on", "date completed", "erledigt am"},
	"category":     {"asset category", "asset type", "type", "typ", "kategorie", "catégorie"},
	"method":       {"payment method", "paid by", "zahlungsart", "mode de paiement"},
	"paid_date":    {"date", "datum", "paid on", "payment date", "date paid", "zahlungsdatum", "date de paiement"},
	"amount": {"betrag", "montant", "amount paid", "sum", "umsatz", "bedrag", "betrag (eur)", "betrag (€)",
		"value"},
	"read_date":   {"date", "reading date", "datum"},
	"reading":     {"value", "meter reading", "zählerstand", "odometer", "mileage", "kilometerstand"},
	"due_date":    {"due", "due by", "fällig"},
	"assigned_to": {"assignee", "technician"},
	"description": {"title", "task", "beschreibung", "task name"},
	"balance": {"balance due", "past due", "amount owed", "outstanding", "amount due", "saldo",
		"kontostand", "saldo nach buchung", "running balance", "offen", "offener betrag", "rückstand", "mietrückstand", "solde", "achterstand",
		"arrears", "solde", "openstaand"},
	"min_quantity": {"minimum quantity", "minimum", "min qty", "reorder level", "mindestbestand"},
	"quantity":     {"quantity in stock", "available quantity", "stock", "on hand", "bestand", "lagerbestand"},
	"sku": {"item", "item number", "item no", "article", "article number", "artikel", "artikelnummer",
		"variant sku", "product code", "code", "artikelnr", "artikel nr", "art nr", "artnr", "product variant sku", "part no",
		"item code", "référence"},
	"name": append([]string{"full name", "nom", "naam", "customer", "customer name", "tenant name"}, thingNames...),
	"email": {"e-mail", "mail", "email address", "e-mail address", "adresse e-mail", "adresse email", "e mail",
		"customer email", "buyer email", "e mailadres", "courriel", "resident email", "tenant email"},
	"phone": {"telephone", "telefon", "mobile", "phone number", "téléphone", "tel", "handy", "telefoon"},
	"qty": {"quantity", "menge", "anzahl", "units", "units sold", "net items sold", "quantity sold",
		"net quantity", "verkauft", "qty sold", "items sold", "quantité"},
	"current_stock": {"stock", "on hand", "in stock", "quantity", "bestand", "inventory", "qty on hand", "stock quantity",
		"quantity in stock", "lagerbestand"},
	"unit_cost": {"cost", "unit cost", "purchase price", "ek", "einkaufspreis", "cost per item", "ek preis",
		"supply price", "supplier price", "ek netto", "prix achat", "prix d'achat ht", "stückpreis"},
	"price":     {"unit price", "sale price", "preis", "verkaufspreis", "retail price", "regular price"},
	"supplier":  {"vendor", "lieferant", "supplier name", "vendors", "vendor name", "fournisseur"},
	"barcode":   {"ean", "gtin", "upc"},
	"date":      {"day", "datum", "sale date", "sold on"},
	"channel":   {"sales channel", "kanal", "verkaufskanal", "canal", "verkoopkanaal"},
	"pack_size": {"pack", "pack qty", "case pack", "units per case", "vpe", "verpackungseinheit", "colisage"},
	"asset_tag": {"tag", "asset", "asset id", "asset number", "asset code", "asset no", "equipment", "equipment no",
		"equipment number", "equipment id", "machine", "machine no", "inventarnummer", "inventarnr"},
	"serial_number": {"serial", "serial no", "vin", "seriennummer", "serien-nr", "seriennr"},
	"model":         {"modell", "modèle"},
	"manufacturer":  {"make", "brand", "hersteller"},
	"location":      {"place", "site", "standort"},
	"property": {"building", "house", "haus", "objekt", "property name", "building name", "immeuble", "liegenschaft",
		"pand"},
	"unit": {
		"apartment", "flat", "wohnung", "einheit", "unit number", "unit name", "apt", "unit of measure", "uom", "logement",
		"lot", "eenheid", "woning",
	},
	"tenant": {"renter", "mieter", "tenants", "tenant name", "resident", "residents", "lessee", "locataire", "huurder"},
	"rent":   {"monthly rent", "miete", "kaltmiete", "nettomiete", "grundmiete", "loyer", "rent amount", "huur", "huurprijs"},
	"start_date": {"start", "from", "lease start", "move-in", "beginn", "lease from", "lease start date", "mietbeginn",
		"move in", "ingangsdatum", "début"},
	"end_date": {"end", "until", "lease end", "ende", "lease to", "lease end date", "mietende", "einddatum", "fin"},
	"deposit": {"security deposit", "kaution", "deposit held", "deposits", "borg", "waarborgsom", "dépôt",
		"dépôt de garantie"},
	"notes":          {"note", "remarks", "comment", "notizen", "opmerking", "bemerkung", "bemerkungen"},
	"lead_time_days": {"lead time", "lieferzeit", "lead time days"},
	"supplier_sku":   {"vendor code", "supplier code"},
	"paid_up_to":     {"paid to", "paid until", "paid through", "bezahlt bis", "betaald tot", "payé jusqu'au"},
	"license_key":    {"key", "license", "license code", "licence key", "lizenzschlüssel"},
	"expires_at":     {"expires", "expiry", "expiry date", "expiration date", "valid until", "ablaufdatum"},
	"paid_at":        {"paid", "paid on", "payment date"},
	"address":        {"street address", "adresse"},
	"day": {"date", "datum", "buchungstag", "buchungsdatum", "buchung", "booking date", "transaction date",
		"posting date", "boekdatum", "date d'opération"},
	"in":  {"credit", "paid in", "money in", "haben", "eingang", "gutschrift", "bij", "crédit"},
	"out": {"debit", "paid out", "money out", "soll", "ausgang", "belastung", "af", "débit"},
	"payer_name": {"name", "payee", "counterparty", "auftraggeber", "auftraggeber/empfänger",
		"beguenstigter/zahlungspflichtiger", "begünstigter/zahlungspflichtiger", "name zahlungsbeteiligter",
		"zahlungsbeteiligter", "zahlungspflichtige*r", "naam tegenpartij"},
	"payer_account": {"iban", "kontonummer/iban", "iban zahlungsbeteiligter", "iban/kontonummer", "counterparty iban",
		"tegenrekening"},
	"text": {"verwendungszweck", "description", "details", "narrative", "memo", "omschrijving", "mededelingen",
		"libellé", "communication", "transaction description"},
	"bank_reference": {"transaction id", "transaktions id", "transactiereferentie"},
}

// thingNames are names of columns with what a thing is called: beside an e-mail, a name is a person's
// and a reference an order's.
var thingNames = []string{"title", "description", "bezeichnung", "désignation", "item name", "product", "product name",
	"asset name", "part name", "artikel name", "produit"}

// assetNames stand for an asset's tag where the file has no other name: an asset is found by its name too.
var assetNames = []string{"asset name", "machine name", "equipment name", "vehicle", "vehicle name"}

// numberNames are an asset's tag in a list of assets, and a record's own number in other files.
var numberNames = []string{"nr", "no", "number", "nummer", "maschinennummer", "maschinen nr", "inventar nr",
	"gerätenummer"}

// stateNames are an asset's status in a list of assets; in other files a state may be any word.
var stateNames = []string{"state", "condition", "zustand", "betriebszustand", "état", "statut"}

// plainName is a column's name without case and separators: "Asset_Tag" is "asset tag".
func plainName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return strings.ContainsRune(" _-.:*#", r) }), " ")
}

// likely is the target that a file's column most likely means; "" for none.
func likely(targets []Target, name string) string {
	plain := plainName(name)
	for _, t := range targets {
		if plainName(t.Name) == plain {
			return t.Name
		}
	}
	is := func(name string) bool {
		return slices.ContainsFunc(targets, func(t Target) bool { return t.Name == name })
	}
	for _, t := range targets {
		if is("email") && (t.Name == "name" && slices.Contains(thingNames, plain) || t.Name == "sku" &&
			plain == "référence") {
			continue
		}
		if slices.ContainsFunc(synonyms[t.Name], func(s string) bool { return plainName(s) == plain }) {
			return t.Name
		}
		if t.Name == "current_stock" && strings.HasPrefix(plain, ofOutlet) {
			return t.Name
		}
	}
	if is("asset_tag") && (slices.Contains(assetNames, plain) || is("serial_number") &&
		slices.Contains(numberNames, plain)) {
		return "asset_tag"
	}
	switch {
	case is("asset_tag") && is("serial_number") && slices.Contains(stateNames, plain):
		return "status"
	case is("part_number") && is("unit_cost") && slices.Contains(synonyms["price"], plain):
		return "unit_cost"
	}
	return ""
}

// ofOutlet is the prefix of Lightspeed's columns of stock, one for each outlet of a shop.
const ofOutlet = "inventory "

// outlets counts the columns of outlets' stock: of several a person must choose.
func outlets(columns []string) (n int) {
	for _, name := range columns {
		if strings.HasPrefix(plainName(name), ofOutlet) {
			n++
		}
	}
	return n
}

// looked is a source with some rows read ahead.
type looked struct {
	source
	ahead []record
}

func (l *looked) next() (record, bool, error) {
	if len(l.ahead) == 0 {
		return l.source.next()
	}
	r := l.ahead[0]
	l.ahead = l.ahead[1:]
	return r, true, nil
}

// header finds the row of column names: the one at line, or among the first the one with the most known names. A row
// with a number or a date is none.
func (r *reader) header(t schema.Table, line int, known func(string) bool) error {
	var rows []record
	for len(rows) < preamble || line > 0 {
		rec, more, err := r.src.next()
		if err != nil {
			return err
		}
		if !more || line > 0 && rec.line > line {
			break
		}
		if line > 0 && rec.line < line {
			continue
		}
		rec.cells, rec.kinds = slices.Clone(rec.cells), slices.Clone(rec.kinds)
		if rows = append(rows, rec); line > 0 {
			break
		}
	}
	switch {
	case len(rows) == 0 && line > 0:
		return fault.Fieldf("header_line", "header-line: line %d of the file is empty", line)
	case len(rows) == 0:
		return fault.Invalidf("the file is empty: its first line names the columns; %s", listed(t, t.Columns()))
	}
	at := bestHeader(rows, known)
	if e := rows[at].refusal; e != nil {
		return fault.Invalidf("the header on line %d cannot be read: %s", rows[at].line, e.Detail)
	}
	r.found.HeaderLine, r.found.Columns = rows[at].line, trimmed(rows[at].cells)
	r.src = &looked{r.src, rows[at+1:]}
	return nil
}

// bestHeader finds the header among the first rows. If no row has enough known names, it is the first that is about as
// wide as the widest: titles precede it.
func bestHeader(rows []record, known func(string) bool) int {
	best, most, widest := -1, 0, 0
	filled := make([]int, len(rows))
	for i, rec := range rows {
		if rec.refusal != nil {
			if i == 0 {
				return 0
			}
			continue
		}
		names, data := 0, false
		for j, cell := range rec.cells {
			cell = strings.TrimSpace(unquoted(strings.TrimSpace(cell)))
			if cell == "" {
				continue
			}
			filled[i]++
			if known(cell) {
				names++
			} else {
				data = data || rec.kind(j) != isText || strings.Trim(cell, "0123456789.,:/-+$€£% ") == ""
			}
		}
		widest = max(widest, filled[i])
		if names > most && !data && 2*names >= min(filled[i], 4) {
			best, most = i, names
		}
	}
	if best >= 0 {
		return best
	}
	return max(0, slices.IndexFunc(filled, func(n int) bool { return 2*n > widest }))
}

// trimmed returns the names of a header without empty ones at the end.
func trimmed(cells []string) []string {
	names := schema.Map(cells, func(c string) string { return strings.TrimSpace(unquoted(strings.TrimSpace(c))) })
	for len(names) > 0 && names[len(names)-1] == "" {
		names = names[:len(names)-1]
	}
	return names
}
