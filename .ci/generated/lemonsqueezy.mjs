// Lemon Squeezy's own client library against the License API of a running store: the host alone is another.
import { activateLicense, deactivateLicense, validateLicense } from "@lemonsqueezy/lemonsqueezy.js";

const [base, key] = process.argv.slice(2);
const real = globalThis.fetch;
globalThis.fetch = (url, init) => real(String(url).replace("https://api.lemonsqueezy.com", base), init);

const check = (what, is, want) => {
  if (JSON.stringify(is) !== JSON.stringify(want)) throw new Error(`${what}: ${JSON.stringify(is)}, want ${JSON.stringify(want)}`);
};
const first = await activateLicense(key, "Test");
check("activate", [first.statusCode, first.error, first.data.activated, first.data.error, first.data.instance.name], [200, null, true, null, "Test"]);
check("a seat is taken", first.data.license_key.status, "active");
const id = first.data.instance.id;
const valid = await validateLicense(key, id);
check("validate", [valid.statusCode, valid.data.valid, valid.data.instance.id, valid.data.meta.store_id], [200, true, id, 1]);
check("validate without an instance", (await validateLicense(key)).data.instance, null);
const unknown = await validateLicense("no-such-key");
check("unknown key", [unknown.statusCode, unknown.data?.error ?? unknown.error.cause?.error ?? unknown.error.message], [404, "license_key not found."]);
const gone = await deactivateLicense(key, id);
check("deactivate", [gone.statusCode, gone.data.deactivated, gone.data.error], [200, true, null]);
const twice = await deactivateLicense(key, id);
check("deactivate twice", twice.statusCode, 404);
console.log("lemonsqueezy.js: good");
