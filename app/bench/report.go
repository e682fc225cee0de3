//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// figure is the result of a number of turns: medians over the turns; the processor time is the total divided by all
// operations, since its clock is coarse.
type figure struct {
	What   string  `json:"what"`
	PerSec float64 `json:"per_second"`
	P50us  float64 `json:"p50_us"`
	P99us  float64 `json:"p99_us"`
	MaxUs  float64 `json:"max_us"`
	CPUus  float64 `json:"cpu_us"`
	Ops    int     `json:"operations"`
	// the appliance's rate over this baseline's, the median over the turns
	Ratio   float64 `json:"per_second_ratio,omitempty"`
	CPUover float64 `json:"cpu_ratio,omitempty"` // the appliance's processor time over this baseline's

	turns []sample
}

// row is one case with its baselines.
type row struct {
	Case    string   `json:"case"`
	Clients int      `json:"clients"`
	Ours    figure   `json:"appliance"`
	Floors  []figure `json:"floors"`
}

// report is the result of a run.
type report struct {
	Size     string  `json:"size"`
	Rounds   int     `json:"rounds"`
	SyncMs   float64 `json:"sync_ms,omitempty"` // added to each sync
	Binary   float64 `json:"binary_mb"`
	Database float64 `json:"database_mb"`
	Start    float64 `json:"start_ms"`     // to the first 200, median
	Idle     float64 `json:"idle_mib"`     // resident, just started
	Loaded   float64 `json:"loaded_mib"`   // after the reads and writes
	Reports  float64 `json:"reports_mib"`  // after the complete reports
	Pages    float64 `json:"pages_mib"`    // after the pages
	Uploads  float64 `json:"uploads_mib"`  // after the uploads
	Peak     float64 `json:"peak_mib"`     // the maximum
	Load     string  `json:"machine_load"` // of the last minute, at the end
	Rows     []row   `json:"rows"`
}

// measure starts everything and runs the cases.
func (b *bench) measure(ctx context.Context) (rep report, err error) {
	rep = report{Size: b.size, Rounds: b.rounds, SyncMs: float64(b.sync) / 1e6}
	for range 4 { // for the startup time
		p, err := b.serve()
		if err != nil {
			return rep, err
		}
		p.stop()
	}
	p, err := b.serve()
	if err != nil {
		return rep, err
	}
	defer p.stop()
	time.Sleep(time.Second)
	if rep.Idle, err = p.memory("VmRSS"); err != nil {
		return rep, err
	}
	empty, err := b.empty()
	if err != nil {
		return rep, err
	}
	defer empty.stop()
	if err := b.all(ctx, &rep, p, empty); err != nil {
		return rep, err
	}
	slices.Sort(b.start)
	rep.Start = float64(b.start[len(b.start)/2]) / 1e6
	for path, size := range map[string]*float64{b.binary: &rep.Binary, b.path: &rep.Database} {
		st, err := os.Stat(path)
		if err != nil {
			return rep, err
		}
		*size = float64(st.Size()) / 1e6
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		rep.Load, _, _ = strings.Cut(string(load), " ")
	}
	rep.Peak, err = p.memory("VmHWM")
	return rep, err
}

func (b *bench) empty() (*process, error) {
	p, out, err := b.child("empty")
	if err != nil {
		return nil, err
	}
	line, err := out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	p.addrs = map[string]string{"empty": strings.TrimSpace(line)}
	for range 1000 {
		if c, err := dial(p.addrs["empty"]); err == nil {
			c.close()
			return p, nil
		}
		time.Sleep(time.Millisecond)
	}
	p.stop()
	return nil, errors.New("the empty handler does not listen")
}

// all runs the cases group by group and measures the memory after each.
func (b *bench) all(ctx context.Context, rep *report, p, empty *process) error {
	nothing := func(clients int) floor {
		return floor{"empty handler", b.ask(empty, "empty", clients, always(request("GET", "/", "", "")))}
	}
	reads := b.reads(p, nothing(readers))
	light := slices.DeleteFunc(slices.Clone(reads), func(c oneCase) bool { return c.clients == 1 })
	heavy := slices.DeleteFunc(reads, func(c oneCase) bool { return c.clients != 1 })
	pages, err := b.pages(p, nothing(1))
	if err != nil {
		return err
	}
	groups := []struct {
		cases []oneCase
		after *float64
	}{
		{slices.Concat(light, b.agents(p), b.writes(p)), &rep.Loaded},
		{heavy, &rep.Reports},
		{pages, &rep.Pages},
		{b.ingestion(p), &rep.Uploads},
	}
	for _, g := range groups {
		for _, c := range g.cases {
			if !b.only.MatchString(c.name) {
				continue
			}
			r, err := b.turns(ctx, c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			rep.Rows = append(rep.Rows, r)
			fmt.Fprintf(b.log, "%s: %.0f/s\n", r.Case, r.Ours.PerSec)
		}
		if *g.after, err = p.memory("VmRSS"); err != nil {
			return err
		}
	}
	return nil
}

// turns runs the case and its baselines in turn in each round, after a first round that does not count.
func (b *bench) turns(ctx context.Context, c oneCase) (row, error) {
	r := row{Case: c.name, Clients: c.clients, Ours: figure{What: "appliance"}}
	for _, f := range c.floors {
		r.Floors = append(r.Floors, figure{What: f.name})
	}
	for round := range b.rounds + 1 {
		figures, runners := []*figure{&r.Ours}, []runner{c.ours}
		for i, f := range c.floors {
			figures, runners = append(figures, &r.Floors[i]), append(runners, f.run)
		}
		for i, run := range runners {
			if err := ctx.Err(); err != nil {
				return r, err
			}
			s, err := run()
			if err != nil {
				return r, err
			}
			if round > 0 {
				figures[i].turns = append(figures[i].turns, s)
			}
		}
	}
	r.Ours.summarize()
	for i := range r.Floors {
		f := &r.Floors[i]
		f.summarize()
		f.Ratio = median(f.turns, func(k int, s sample) float64 { return perSecond(r.Ours.turns[k]) / perSecond(s) })
		if f.CPUus > 0 {
			f.CPUover = r.Ours.CPUus / f.CPUus
		}
	}
	return r, nil
}

func perSecond(s sample) float64 { return float64(s.Ops) / s.Wall.Seconds() }

func (f *figure) summarize() {
	us := func(q float64) float64 {
		return median(f.turns, func(_ int, s sample) float64 { return float64(s.quantile(q)) / 1e3 })
	}
	f.PerSec = median(f.turns, func(_ int, s sample) float64 { return perSecond(s) })
	f.P50us, f.P99us = us(.5), us(.99)
	var cpu time.Duration
	for _, s := range f.turns {
		cpu += s.CPU
		f.Ops += s.Ops
		f.MaxUs = max(f.MaxUs, float64(s.quantile(1))/1e3)
	}
	f.CPUus = float64(cpu) / 1e3 / float64(f.Ops)
}

func median(turns []sample, of func(int, sample) float64) float64 {
	all := make([]float64, len(turns))
	for i, s := range turns {
		all[i] = of(i, s)
	}
	slices.Sort(all)
	return (all[len(all)/2] + all[(len(all)-1)/2]) / 2
}

func (r report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// writeTable prints a line for the appliance and one for each baseline below it. The ratios are the appliance's to the
// baseline's.
func (r report) writeTable(w io.Writer) error {
	out := bufio.NewWriter(w)
	r.head(out)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	r.table(t)
	return errors.Join(t.Flush(), out.Flush())
}

func (r report) head(out io.Writer) {
	fmt.Fprintf(out, "data set %s (%.0f MB), %d rounds, machine load %s\n", r.Size, r.Database, r.Rounds, r.Load)
	if r.SyncMs > 0 {
		fmt.Fprintf(out, "each sync takes %g ms longer\n", r.SyncMs)
	}
	fmt.Fprintf(out, "binary %.1f MB; start to first 200 in %.1f ms\n", r.Binary, r.Start)
	fmt.Fprintf(out,
		"resident: idle %.1f MiB, after reads and writes %.1f, after complete reports %.1f, after pages %.1f, after "+
			"uploads %.1f; peak %.1f\n\n",
		r.Idle, r.Loaded, r.Reports, r.Pages, r.Uploads, r.Peak)
}

func (r report) table(out io.Writer) {
	line := func(cells ...string) { fmt.Fprintln(out, strings.Join(cells, "\t")+"\t") }
	line("path", "measured", "clients", "per second", "p50 us", "p99 us", "max us", "CPU us", "x rate", "x CPU")
	whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	for _, row := range r.Rows {
		for i, f := range append([]figure{row.Ours}, row.Floors...) {
			name, clients, rate, cpu := row.Case, fmt.Sprint(row.Clients), "", ""
			if i > 0 {
				name, clients, rate = "", "", fmt.Sprintf("%.2f", f.Ratio)
				if f.CPUover > 0 {
					cpu = fmt.Sprintf("%.2f", f.CPUover)
				}
			}
			line(name, f.What, clients, whole(f.PerSec), whole(f.P50us), whole(f.P99us), whole(f.MaxUs),
				fmt.Sprintf("%.1f", f.CPUus), rate, cpu)
		}
	}
}
