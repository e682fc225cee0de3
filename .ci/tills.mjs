// Sends events of Polar and Lemon Squeezy to a running store: shuffled, each twice.
import { createHmac } from "node:crypto";
import { validateEvent } from "@polar-sh/sdk/webhooks";
import { Webhook } from "standardwebhooks";

const url = process.argv[2];
const polarSecret = "polar_whs_demo", lemonSecret = "sunny-day-42";
const id = (n) => `1dbfc517-0bbf-4301-9ba8-555ca42b97${n}`;
const at = (days) => new Date(Date.now() + days * 86400e3).toISOString();

const customer = {
  id: id(10), created_at: at(-1), modified_at: null, metadata: {}, external_id: null, email: "sue@example.com", email_verified: true, type: "individual",
  name: "Sue", billing_name: null, billing_address: null, tax_id: null, organization_id: id(11), deleted_at: null, avatar_url: null, locale: null,
};
const product = {
  metadata: {}, id: id(37), created_at: at(-9), modified_at: null, trial_interval: null, trial_interval_count: null, name: "Tape Echo", description: null,
  visibility: "public", recurring_interval: "month", recurring_interval_count: 1, meter_interval: null, meter_interval_count: null, is_recurring: true,
  is_archived: false, organization_id: id(11), prices: [], benefits: [], medias: [], attached_custom_fields: [],
};
const subscription = (end, status = "active") => ({
  metadata: {}, created_at: at(0), modified_at: null, id: id(20), amount: 4900, currency: "usd", recurring_interval: "month", recurring_interval_count: 1, status,
  current_period_start: at(0), current_period_end: end, current_meter_period_start: null, current_meter_period_end: null, trial_start: null, trial_end: null,
  cancel_at_period_end: false, canceled_at: null, started_at: at(0), ends_at: null, ended_at: null, past_due_at: null, pause_at_period_end: false, paused_at: null,
  resumes_at: null, customer_id: id(10), product_id: id(37), discount_id: null, checkout_id: null, customer_cancellation_reason: null,
  customer_cancellation_comment: null, seats: null,
});
const order = (n, reason, end) => ({
  id: id(n), created_at: at(0), modified_at: null, status: "paid", paid: true, subtotal_amount: 4900, discount_amount: 0, net_amount: 4900, tax_amount: 931,
  total_amount: 5831, applied_balance_amount: 0, due_amount: 0, refunded_amount: 0, refunded_tax_amount: 0, currency: "usd", billing_reason: reason, billing_name: null,
  billing_address: null, invoice_number: null, is_invoice_generated: false, receipt_number: null, seats: null, customer_id: id(10), product_id: id(37), discount_id: null,
  subscription_id: id(20), checkout_id: null, metadata: {}, platform_fee_amount: 0, platform_fee_currency: null, customer, product, discount: null,
  subscription: subscription(end), items: [], description: "Tape Echo", refundable_amount: 4900, refundable_tax_amount: 931,
});
const whole = { ...subscription(at(60), "past_due"), customer, product, discount: null, prices: [], meters: [], pending_update: null };
const polar = [
  { type: "order.paid", timestamp: at(0), data: order(41, "subscription_create", at(30)) },
  { type: "order.paid", timestamp: at(0.001), data: order(42, "subscription_cycle", at(60)) },
  { type: "subscription.past_due", timestamp: at(0.002), data: whole },
];
const lemon = [
  { meta: { event_name: "order_created", test_mode: false }, data: { type: "orders", id: "9", attributes: {
    status: "paid", user_name: "Bo", user_email: "bo@example.com", currency: "EUR", subtotal: 4900, discount_total: 0, tax: 931, total: 5831, refunded_amount: 0,
    created_at: at(0), updated_at: at(0), test_mode: false,
    first_order_item: { id: 1, order_id: 9, product_id: 678, variant_id: 12345, product_name: "Tape Echo", variant_name: "Default", price: 4900, quantity: 1 } } } },
];

const sends = [];
for (const [n, event] of polar.entries()) {
  const body = JSON.stringify(event), name = `msg_${n}`, now = new Date();
  const signature = new Webhook(Buffer.from(polarSecret).toString("base64")).sign(name, now, body);
  const headers = { "webhook-id": name, "webhook-timestamp": String(Math.floor(now / 1000)), "webhook-signature": signature };
  validateEvent(body, headers, polarSecret); // throws at a body or signature that is none of Polar's
  sends.push(["polar", body, headers]);
}
for (const event of lemon) {
  const body = JSON.stringify(event);
  sends.push(["lemonsqueezy", body, { "X-Signature": createHmac("sha256", lemonSecret).update(body).digest("hex") }]);
}
const shuffled = [...sends, ...sends].sort(() => Math.random() - 0.5);
for (const [till, body, headers] of shuffled) {
  const answer = await fetch(`${url}/providers/${till}/webhook`, { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${till}: ${answer.status} ${text}`);
  const spoilt = await fetch(`${url}/providers/${till}/webhook`, { method: "POST", body: body + " ", headers: { "Content-Type": "application/json", ...headers } });
  if (spoilt.status !== 400) throw new Error(`${till}: a body that was changed is answered ${spoilt.status}`);
}
