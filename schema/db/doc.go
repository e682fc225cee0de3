// Package db is what is kept: one SQLite file with one writer and several query-only
// readers. Nothing above it knows the engine. Reading goes through View, writing
// through Update, the only way to change anything.
//
// # The way of a write
//
//	surface   Caller.Asking(Request)     key, route, body, version of the form, how the answer is kept
//	   |
//	Update    Caller.MayWrite            role and scope
//	   |      Request.enter              one Update a request, none inside another
//	queue     d.queue                    waits for the writer
//	   |
//	batch     batcher.next               all that wait share one transaction, each in a savepoint
//	   |      Tx.admit                   may the caller still? answered before? form still current?
//	   |      fn(tx)                     the rules: rows, tx.Audit, tx.Emit (event and deliveries)
//	   |      Tx.keep                    the answer for the idempotency key
//	commit    DB.commit                  one sync; a change without an audit entry was undone
//	   |
//	wake      DB.wakes                   the sender looks for deliveries, if anything was emitted
//	   |
//	answer    <-pending.done             Update returns; a panic of fn goes to its caller
//
// Whatever fails before the commit undoes that write alone; a commit that fails undoes the
// batch. When Update has returned, the change is on the disk.
//
// # Beside it
//
// Trial runs an act in one transaction of the writer and rolls it back; TrialAside does so
// in a private copy of the file, so that nobody waits. Together runs several Updates in one
// transaction. What they call is given a DB bound to the transaction, on which
// services are made again, and keeps nothing for an idempotency key.
//
// Work is an act of several transactions (Op.Several): an import, resending what failed. Its
// row says how far it came, and is read and moved in each of them:
//
//	Begin ----- Step ----- Step ----- Step+End
//	 row        row moved  row moved  row moved, answer kept
//
// A run that finds the row moved by another one stops. A run after a kill begins at the
// row's Position. One process has one run at a time; the next waits in Begin.
package db
