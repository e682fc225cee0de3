// lighthouse.mjs LIST [FILTER]: runs Lighthouse on every page of the list that app/pictures -list
// wrote (an address and its cookies a line), in one browser, as a phone. Prints each page
// that has less than 100 in performance, accessibility, best practices or SEO, with what it
// lacks; fails if there is one. FILTER is a regular expression of addresses, CATEGORIES in the
// environment takes some of the four. Performance wants a machine that does nothing else.
import { readFileSync } from "node:fs";
import lighthouse from "lighthouse";
import * as chrome from "chrome-launcher";

const [list, filter = "."] = process.argv.slice(2);
const categories = (process.env.CATEGORIES ?? "performance,accessibility,best-practices,seo").split(",");
const pages = readFileSync(list, "utf8").trim().split("\n").map(l => l.split("\t")).filter(([a]) => new RegExp(filter).test(a));
const browser = await chrome.launch({ chromePath: process.env.CHROME_PATH, chromeFlags: ["--headless", "--no-sandbox"] });
let short = 0;
for (const [address, cookie] of pages) {
  const { lhr } = await lighthouse(address, { port: browser.port, output: "json", logLevel: "error", disableStorageReset: true,
    onlyCategories: categories, disableFullPageScreenshot: true, extraHeaders: { Cookie: cookie } });
  const low = Object.values(lhr.categories).filter(c => c.score < 1);
  if (!low.length) continue;
  short++;
  for (const c of low) {
    const lacks = c.auditRefs.filter(r => r.weight > 0 && lhr.audits[r.id].score !== null && lhr.audits[r.id].score < 1).map(r => `${r.id} ${lhr.audits[r.id].displayValue ?? ""}`);
    console.log(`${address}: ${c.id} ${Math.round(c.score * 100)}: ${lacks.join(", ")}`);
  }
}
console.log(`${pages.length} pages, ${short} below 100`);
await browser.kill();
process.exit(short ? 1 : 0);
