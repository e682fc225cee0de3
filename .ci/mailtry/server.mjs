// npm's smtp-server, four times: TLS with LOGIN, STARTTLS with CRAM-MD5, STARTTLS with PLAIN and a small size, TLS that
// defers each first try. It keeps each message as a file, and prints the ports as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { SMTPServer } from "smtp-server";

const folder = process.argv[2];
const pair = { key: readFileSync("key.pem"), cert: readFileSync("cert.pem") };
const kept = (name) => ({
  ...pair,
  authOptional: false,
  disableReverseLookup: true,
  logger: false,
  onAuth(auth, session, done) {
    const good = auth.method === "CRAM-MD5" ? auth.validatePassword("sesame") : auth.password === "sesame";
    if (auth.username !== "shop" || !good) return done(Object.assign(new Error("5.7.8 no"), { responseCode: 535 }));
    done(null, { user: auth.username });
  },
  onData(stream, session, done) {
    const parts = [];
    stream.on("data", (b) => parts.push(b));
    stream.on("end", () => {
      if (stream.sizeExceeded) return done(Object.assign(new Error("5.3.4 too large"), { responseCode: 552 }));
      const to = session.envelope.rcptTo[0].address.replaceAll(/[^A-Za-z0-9@.-]/g, "_");
      writeFileSync(`${folder}/${name}-${to}-${Date.now()}.eml`, Buffer.concat(parts));
      done(null, "2.0.0 kept");
    });
  },
});
const seen = new Set();
const servers = {
  tls: new SMTPServer({ ...kept("tls"), secure: true, authMethods: ["LOGIN"] }),
  cram: new SMTPServer({ ...kept("cram"), authMethods: ["CRAM-MD5"] }),
  small: new SMTPServer({ ...kept("small"), authMethods: ["PLAIN"], size: 400 }),
  grey: new SMTPServer({
    ...kept("grey"),
    secure: true,
    authMethods: ["PLAIN"],
    onRcptTo(address, session, done) {
      if (seen.has(address.address)) return done();
      seen.add(address.address);
      done(Object.assign(new Error("4.7.1 greylisted, come again"), { responseCode: 451 }));
    },
  }),
};
const ports = {};
for (const [name, s] of Object.entries(servers)) {
  s.on("error", (e) => console.error(name, e.message));
  await new Promise((ready) => s.listen(0, "127.0.0.1", ready));
  ports[name] = s.server.address().port;
}
console.log(JSON.stringify(ports));
