// Reads a running appliance with the types that openapi-typescript generated of its four
// documents: it compiles only if they have every member that is used here. Arguments: for
// each service its address and its key.
import createClient from "openapi-fetch";
import type { paths as Store } from "./store";
import type { paths as Maintenance } from "./maintenance";
import type { paths as Rental } from "./rental";
import type { paths as Reorder } from "./reorder";

const [s, sKey, m, mKey, r, rKey, o, oKey] = process.argv.slice(2);
const by = (baseUrl: string, key: string) => ({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

function must<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

async function main() {
  const store = createClient<Store>(by(s, sKey));
  const orders = must(await store.GET("/api/orders", {}));
  const order = must(await store.GET("/api/orders/{ref}", { params: { path: { ref: orders.orders[0].order_ref } } }));
  const stats = must(await store.GET("/api/stats", {}));
  console.log("store", orders.orders.length, order.total_cents, order.items[0].sku, Object.keys(stats).length);

  const maintenance = createClient<Maintenance>(by(m, mKey));
  const due = must(await maintenance.GET("/api/pm-due", {}));
  const made = must(await maintenance.POST("/api/work-orders", { body: { asset_id: 1, description: "Tried", priority: "low" } }));
  const moved = must(await maintenance.POST("/api/work-orders/{id}/status", { params: { path: { id: made.id } }, body: { status: "cancelled" } }));
  console.log("maintenance", due.pm_due.length, made.id, moved.status, moved.total_cost_cents);

  const rental = createClient<Rental>(by(r, rKey));
  const arrears = must(await rental.GET("/api/arrears", {}));
  const ledger = must(await rental.GET("/api/leases/{id}/ledger", { params: { path: { id: 1 } } }));
  console.log("rental", arrears.total_cents, ledger.lease.tenant, ledger.charges.length);

  const reorder = createClient<Reorder>(by(o, oKey));
  const report = must(await reorder.GET("/api/reorder-report", {}));
  const stock = must(await reorder.POST("/api/skus/{sku}/stock", { params: { path: { sku: report.skus[0].sku } }, body: { delta: 2.5 } }));
  console.log("reorder", report.skus.length, stock.current_stock);
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
