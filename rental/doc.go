// Package rental is the rental service: what each tenant owes, what was paid, and
// who is behind. Properties hold units, a lease lets a unit to a tenant, and its
// billing periods are posted as charges when somebody asks; every amount is an
// integer number of cents.
package rental
