//go:build linux

package main

import (
	"maps"
	"slices"
)

// size is the content of the data set.
type size struct {
	skus, saleDays   int // each SKU has a sale every day
	leases, years    int // each lease has run so many years
	assets, readings int // so many readings per asset
	orders           int // each with a license; and a fifth as many work orders
}

// sizes of the data set; comparing two of them shows growth.
var sizes = map[string]size{
	"tiny":  {skus: 60, saleDays: 40, leases: 20, years: 1, assets: 70, readings: 10, orders: 100},
	"small": {skus: 1000, saleDays: 365, leases: 1000, years: 5, assets: 1000, readings: 100, orders: 10_000},
	"pages": {skus: 10_000, saleDays: 30, leases: 500, years: 5, assets: 10_000, readings: 10, orders: 100_000},
	"full":  {skus: 10_000, saleDays: 365, leases: 10_000, years: 5, assets: 10_000, readings: 100, orders: 100_000},
	"huge":  {skus: 100_000, saleDays: 365, leases: 100_000, years: 5, assets: 100_000, readings: 100, orders: 1_000_000},
}

func sizeNames() []string { return slices.Sorted(maps.Keys(sizes)) }
