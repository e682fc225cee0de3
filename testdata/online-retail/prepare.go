// Prepare makes skus.csv and sales.csv, as quartermaster imports them, out of the
// invoice lines beside it. The dates are shifted so that the last is yesterday.
//
//	go run ./testdata/online-retail -out DIR
package main

import (
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

func main() {
	log.SetFlags(0)
	in := flag.String("in", filepath.Join("testdata", "online-retail", "lines.csv"), "the invoice lines")
	out := flag.String("out", ".", "the folder for skus.csv and sales.csv")
	today := flag.String("today", time.Now().Format(time.DateOnly), "the day after the last sale")
	flag.Parse()
	if err := prepare(*in, *out, *today); err != nil {
		log.Fatal(err)
	}
}

// line is one invoice line; price is in pounds as written.
type line struct {
	day        time.Time
	sku, name  string
	qty        int
	priceCents int
}

func prepare(in, out, today string) error {
	lines, err := read(in)
	if err != nil {
		return err
	}
	end, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return err
	}
	last := slices.MaxFunc(lines, func(a, b line) int { return a.day.Compare(b.day) }).day
	shift := end.AddDate(0, 0, -1).Sub(last)
	sales := [][]string{{"date", "sku", "qty"}}
	for _, l := range lines {
		sales = append(sales, []string{l.day.Add(shift).Format(time.DateOnly), l.sku, strconv.Itoa(l.qty)})
	}
	if err := write(filepath.Join(out, "sales.csv"), sales); err != nil {
		return err
	}
	return write(filepath.Join(out, "skus.csv"), catalogue(lines, last))
}

// catalogue has one row a SKU, in the order of first sale. What the lines lack is
// made up from the SKU's place in that order.
func catalogue(lines []line, last time.Time) [][]string {
	type product struct {
		name        string
		cents, sold int
	}
	products := map[string]*product{}
	var order []string
	for _, l := range lines {
		p := products[l.sku]
		if p == nil {
			p = &product{}
			products[l.sku] = p
			order = append(order, l.sku)
		}
		if l.qty > 0 && l.name != "" {
			p.name = l.name
		}
		if l.priceCents > 0 {
			p.cents = l.priceCents
		}
		if l.qty > 0 && last.Sub(l.day) < 30*24*time.Hour {
			p.sold += l.qty
		}
	}
	rows := [][]string{{"sku", "name", "supplier", "unit", "unit_cost_cents", "current_stock", "lead_time_days", "safety_stock_days", "pack_size", "moq", "active"}}
	for i, sku := range order {
		p := products[sku]
		p.name = cmp.Or(p.name, sku)
		stock := p.sold * (i % 6) / 4
		if p.sold == 0 {
			stock = i % 12
		}
		rows = append(rows, []string{
			sku, p.name, supplier(sku), "piece", strconv.Itoa((p.cents + 1) / 2), strconv.Itoa(stock),
			strconv.Itoa(5 + i%10), strconv.Itoa(2 + i%4), strconv.Itoa([]int{1, 6, 12}[i%3]), strconv.Itoa([]int{0, 0, 24}[i/3%3]), active(sku),
		})
	}
	return rows
}

// supplier is made up, one for each first digit of the SKU.
func supplier(sku string) string {
	names := map[byte]string{'1': "Albion Gifts", '2': "Brightside Ltd", '3': "Corner House", '4': "Danvers & Co", '5': "Danvers & Co", '7': "Eastgate", '8': "Fairlight", '9': "Grange Crafts"}
	return names[sku[0]]
}

// active is 0 for postage, fees and other lines that are no goods: their codes do
// not begin with a digit.
func active(sku string) string {
	if sku[0] >= '0' && sku[0] <= '9' {
		return "1"
	}
	return "0"
}

func read(path string) ([]line, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	lines := make([]line, 0, len(rows)-1)
	for i, r := range rows[1:] { // invoice, date, sku, name, qty, unit_price, country
		l := line{sku: r[2], name: r[3]}
		price, err3 := strconv.ParseFloat(r[5], 64)
		day, err1 := time.Parse(time.DateOnly, r[1])
		qty, err2 := strconv.Atoi(r[4])
		for _, err := range []error{err1, err2, err3} {
			if err != nil {
				return nil, fmt.Errorf("%s line %d: %w", path, i+2, err)
			}
		}
		l.day, l.qty, l.priceCents = day, qty, int(price*100+.5)
		lines = append(lines, l)
	}
	return lines, nil
}

func write(path string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return f.Close()
}
