// Reads the kept messages with npm's mailparser: one text and one HTML part each, which say the same.
import { readdirSync, readFileSync } from "node:fs";
import { simpleParser } from "mailparser";

let read = 0;
for (const folder of process.argv.slice(2)) {
  for (const file of readdirSync(folder)) {
    const m = await simpleParser(readFileSync(`${folder}/${file}`));
    const bad = (why) => {
      console.error(`${file}: ${why}`);
      process.exitCode = 1;
    };
    if (!m.subject || !m.text || !m.html || !m.messageId || !m.date) bad("it lacks a part");
    if (m.attachments.length) bad("it has attachments");
    if (m.from.value[0].address !== "shop@example.com" || m.from.value[0].name !== "Bäckerei Größe & Søn") bad(`from ${JSON.stringify(m.from.value)}`);
    const words = (s) => s.split(/[\s|]+/).filter(Boolean);
    const shown = m.html
      .replaceAll(/<title[\s\S]*?<\/title>|<[^>]*>/g, " ")
      .replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&#34;", '"').replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
    const inHTML = new Set(words(shown));
    const lost = words(m.text).filter((w) => !inHTML.has(w) && !w.startsWith("http"));
    if (lost.length) bad(`words of the text that are not in the HTML: ${lost}`);
    if (/<script/i.test(m.html)) bad("a script stands in the HTML");
    read++;
  }
}
console.log(`mailparser read ${read} messages`);
