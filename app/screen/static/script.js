// What saves steps. Every page works without this file.
"use strict";
{
  const $ = (q, e = document) => e.querySelector(q), $$ = (q, e = document) => [...e.querySelectorAll(q)];
  const make = (tag, text, into) => { const e = document.createElement(tag); e.textContent = text; into?.append(e); return e; };
  const keys = "keys" in document.body.dataset;

  // The menu shows where one is.
  const nav = $(".menu"), now = nav && $("[aria-current]", nav);
  if (now) nav.scrollLeft = now.offsetLeft + now.offsetWidth / 2 - nav.clientWidth / 2;

  // Controls that only work here are hidden without it.
  $$("[data-print]").forEach(b => { b.hidden = false; b.onclick = () => print(); });
  $$("[data-help]").forEach(b => { b.hidden = false; b.onclick = help; });

  // A filter is asked for when it is chosen: a select at once, what is typed with Enter or when the
  // filters are left, or by the button that then appears. The page of the search keeps its button.
  $$("form.filters:not([role=search])").forEach(f => {
    const button = hidden => $$("button", f).forEach(b => { b.hidden = hidden; });
    button(true);
    f.addEventListener("input", e => { if (e.target.matches("input:not([type=checkbox])")) button(false); });
    f.addEventListener("change", e => { if (e.target.matches("select")) f.requestSubmit(); });
    f.addEventListener("focusout", e => { if (!f.contains(e.relatedTarget) && $$("input:not([type=checkbox])", f).some(i => i.value !== i.defaultValue)) f.requestSubmit(); });
    f.addEventListener("keydown", e => { if (e.key === "Enter" && e.target.matches("input")) { e.preventDefault(); f.requestSubmit(); } });
  });

  // What was changed about a file's columns is shown once more before it is written.
  const how = $("form[data-reading]");
  how?.addEventListener("change", () => $$("form[data-writes] .main").forEach(b => {
    b.textContent = "Preview again";
    b.onclick = e => { e.preventDefault(); how.requestSubmit(); };
  }));

  // What is typed is looked for among all that may be chosen.
  $$("input[data-find]").forEach(i => {
    let asked;
    i.addEventListener("input", () => {
      clearTimeout(asked);
      asked = setTimeout(async () => {
        const r = await fetch(i.dataset.find + encodeURIComponent(i.value));
        if (r.ok) i.list.innerHTML = await r.text();
      }, 150);
    });
  });

  // What is shown once, and a license key, can be copied.
  $$("[data-copy]").forEach(b => {
    b.hidden = !navigator.clipboard;
    b.onclick = async () => { await navigator.clipboard.writeText($("#" + b.dataset.copy).value); b.textContent = "Copied"; };
  });
  $$(".once dd, .once pre, dd:has(> code.strong)").forEach(e => {
    const text = e.innerText.trim();
    if (!text || !navigator.clipboard) return;
    const b = make("button", "Copy", e);
    b.type = "button"; b.className = "btn quiet copy";
    b.onclick = async () => { await navigator.clipboard.writeText(text); b.textContent = "Copied"; };
  });

  // One box marks all rows.
  $$("th.mark").forEach(th => {
    const boxes = () => $$("td.mark input[type=checkbox]", th.closest("table"));
    if (!boxes().length) return;
    const all = document.createElement("input");
    all.type = "checkbox";
    all.setAttribute("aria-label", "Mark all rows");
    const say = () => {
      all.checked = boxes().every(b => b.checked);
      all.indeterminate = !all.checked && boxes().some(b => b.checked);
    };
    say();
    all.onchange = () => boxes().forEach(b => { b.checked = all.checked; });
    addEventListener("change", e => e.target !== all && say());
    th.append(all);
  });

  // Who types beside a row's box means the row.
  addEventListener("input", e => {
    const box = e.target.matches("td:not(.mark) input") && $("td.mark input[type=checkbox]", e.target.closest("tr"));
    if (box && !box.checked) { box.checked = true; box.dispatchEvent(new Event("change", { bubbles: true })); }
  });

  // The bar below a list says how many rows are marked, and their sum.
  $$("form[data-sum]").forEach(f => {
    const out = make("output", ""), say = () => {
      const rows = [...f.elements].filter(e => e.checked && e.closest("td.mark")).map(e => e.closest("tr"));
      const sums = rows.map(r => $("[data-sum]", r)?.dataset.sum ?? "0"), digits = Math.max(...sums.map(v => (v.split(".")[1] ?? "").length));
      const sum = sums.reduce((n, v) => n + Number(v), 0);
      const all = f.elements.match;
      out.textContent = all?.checked ? all.labels[0].textContent : !rows.length ? "Nothing is marked" : rows.length + " marked" + (sum ? ", " +
        sum.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + " " + f.dataset.sum : "");
    };
    f.prepend(out); say();
    addEventListener("change", say);
  });

  // The bar below a count says how many are counted, and each box how far it is off.
  $$(".bulk.bar").forEach(f => {
    const all = [...f.elements].filter(i => "next" in i.dataset), out = make("output", "");
    if (!all.length) return;
    const say = () => {
      all.forEach(i => {
        const had = $(".b data", i.closest("tr")).value, off = Math.round((i.value.replace(",", ".") - had) * 1e3) / 1e3;
        const out = $(".off output", i.closest("tr")), size = i.value.trim() && Math.abs(off);
        out.textContent = size === "" || isNaN(off) ? "" : (off > 0 ? "+" : "") + off.toLocaleString("en").replace("-", "−");
        out.className = size > 1 && size >= had / 10 ? "state warn" : "";
      });
      out.textContent = all.filter(i => i.value.trim()).length + " of " + all.length + " counted";
    };
    f.prepend(out); all.forEach(i => make("output", "", $(".off", i.closest("tr")))); say();
    addEventListener("input", say);
  });

  // What is open beside a form is that of the chosen record.
  $$("[data-beside]").forEach(list => {
    const field = $("select[name=" + (list.dataset.beside || "none") + "]");
    const say = () => [...list.children].forEach(li => { li.hidden = field.value && li.dataset.of !== field.value; });
    if (field) { say(); field.addEventListener("change", say); }
  });

  // The browser asks before what is typed into the rows of a list is left.
  $$("form.bulk").forEach(f => {
    let saves = false;
    f.addEventListener("submit", () => { saves = true; });
    addEventListener("beforeunload", e => {
      if (!saves && [...f.elements].some(i => i.matches(".qty") && (i.value !== i.defaultValue || i.ariaInvalid))) e.preventDefault();
    });
  });

  // A second click does not send again what is on its way: the answer of the first would be lost.
  const posts = f => f.getAttribute("method") === "post";
  let sent = new WeakMap();
  addEventListener("submit", e => {
    if (!posts(e.target)) return;
    if (Date.now() - (sent.get(e.target) ?? 0) < 3e3) { e.preventDefault(); e.stopImmediatePropagation(); }
    sent.set(e.target, Date.now());
  }, true);
  addEventListener("pageshow", () => { sent = new WeakMap(); });

  // Nor does it press what the answer has in the same place: the first click of two was on the page before.
  let clicked = false;
  addEventListener("click", e => {
    if (e.detail > 1 && !clicked) { e.preventDefault(); e.stopImmediatePropagation(); }
    clicked ||= e.detail < 2;
  }, true);

  // After an act one is back at the same place of the page.
  const here = () => location.pathname + location.search, left = JSON.parse(sessionStorage.left ?? "null");
  delete sessionStorage.left;
  if (left && left.at === here() && Date.now() - left.on < 2e4 && !$("main [role=alert]")) scrollTo(0, left.y);
  addEventListener("submit", e => {
    if (posts(e.target)) sessionStorage.left = JSON.stringify({ at: here(), y: scrollY, on: Date.now() });
  });

  // A question that comes before an act stands over the page.
  addEventListener("submit", async e => {
    const form = e.target, by = e.submitter;
    if (!("ask" in form.dataset) || by?.name || !window.HTMLDialogElement) return;
    e.preventDefault();
    try {
      const r = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual", headers: { Accept: "text/html" } });
      const doc = new DOMParser().parseFromString(await r.text(), "text/html"), main = $("main", doc);
      if (r.status !== 200 || !main || !$("[name=confirm]", main)) throw 0;
      const d = make("dialog", "", document.body), h = $("h1", main), h2 = make("h2", h.textContent);
      h2.id = "asked"; h.replaceWith(h2); d.setAttribute("aria-labelledby", "asked");
      d.append(...main.childNodes);
      $$("a.btn.quiet", d).forEach(a => { a.onclick = ev => { ev.preventDefault(); d.close(); }; });
      d.onclose = () => { d.remove(); sent.delete(form); };
      d.showModal();
    } catch { delete form.dataset.ask; form.submit(); }
  });

  // Photos are made smaller before they travel.
  addEventListener("change", async e => {
    const i = e.target, file = i.files?.[0];
    if (!("shrink" in (i.dataset ?? {})) || !file?.type.startsWith("image/") || file.size < 3e5) return;
    try {
      const m = await createImageBitmap(file), s = Math.min(1, 2000 / Math.max(m.width, m.height));
      const c = document.createElement("canvas");
      c.width = m.width * s; c.height = m.height * s;
      c.getContext("2d").drawImage(m, 0, 0, c.width, c.height);
      const b = await new Promise(ok => c.toBlob(ok, "image/jpeg", .85));
      if (!b || b.size >= file.size) return;
      const t = new DataTransfer();
      t.items.add(new File([b], file.name.replace(/\.\w+$/, "") + ".jpg", { type: "image/jpeg" }));
      i.files = t.files;
    } catch { /* it travels as it is */ }
  });

  // Enter goes on to the next box of a count.
  addEventListener("keydown", e => {
    if (e.key !== "Enter" || e.ctrlKey || e.metaKey || !("next" in (e.target.dataset ?? {}))) return;
    const all = $$("[data-next]"), next = all[all.indexOf(e.target) + 1];
    if (next) { e.preventDefault(); next.focus(); }
  });

  // A card is dragged to another lane by pressing the button that leads there.
  let card;
  $$(".lane[data-status] .card").forEach(c => {
    if (!$("form [name=status]", c)) return;
    c.draggable = true;
    c.ondragstart = () => { card = c; };
  });
  $$(".lane[data-status]").forEach(lane => {
    const way = () => card && $$("form", card).find(f => $("[name=status]", f)?.value === lane.dataset.status);
    lane.ondragover = e => { if (way()) { e.preventDefault(); lane.classList.add("over"); } };
    lane.ondragleave = () => lane.classList.remove("over");
    lane.ondrop = e => { e.preventDefault(); way()?.requestSubmit(); };
  });
  $$(".drophere").forEach(z => {
    z.ondragover = () => z.classList.add("over");
    z.ondragleave = z.ondrop = () => z.classList.remove("over");
  });

  // Keys.
  const rows = () => $$("main [data-id]").filter(r => $("a[href]", r));
  let at = -1, went = false;
  const walk = n => {
    const all = rows();
    if (!all.length) return;
    all[at]?.classList.remove("here");
    at = Math.max(0, Math.min(all.length - 1, at + n));
    all[at].classList.add("here");
    $("a[href]", all[at]).focus();
  };
  function help() {
    const d = make("dialog", "", document.body), h = make("h2", "Shortcuts", d), l = make("dl", "", d);
    h.id = "keylist"; d.setAttribute("aria-labelledby", "keylist");
    const line = (k, t) => { make("kbd", k, make("dt", "", l)); make("dd", t, l); };
    line("/ or Ctrl K", "Search"); line("j k", "Next row, row before"); line("Enter", "Open the row"); line("Ctrl Enter", "Send the form"); line("?", "This list");
    $$("[data-key]").forEach(e => { if (!"/?".includes(e.dataset.key)) line(e.dataset.key, e.firstChild.textContent.trim()); });
    $$("[data-go]").forEach(e => { if (e.dataset.go) line("g " + e.dataset.go, e.textContent.trim()); });
    const b = make("button", "Close", d);
    b.className = "btn"; b.onclick = () => d.close();
    d.onclose = () => d.remove();
    d.showModal();
  }
  addEventListener("keydown", e => {
    const t = e.target, field = t.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
    if (e.key === "k" && (e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey) {
      const q = $("[data-key='/']");
      if (q) { e.preventDefault(); q.focus(); q.select?.(); }
      return;
    }
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && t.form) { e.preventDefault(); t.form.requestSubmit(); return; }
    if (!keys || field || e.ctrlKey || e.metaKey || e.altKey || $("dialog[open]")) return;
    const press = e.key;
    if (went) {
      went = false;
      const a = $$("[data-go]").find(a => a.dataset.go === press);
      if (a) { e.preventDefault(); a.click(); }
      return;
    }
    switch (press) {
      case "g": went = true; setTimeout(() => { went = false; }, 1500); return;
      case "j": return walk(1);
      case "k": return walk(-1);
    }
    const b = $$("[data-key]").find(b => b.dataset.key === press);
    if (b) { e.preventDefault(); b.matches("input") ? b.focus() : b.click(); }
  });

  // What was refused is read first, if it is of no field: the first wrong one has the focus.
  const alert = $("main [role=alert]");
  if (alert && !$("main [aria-invalid=true]")) { alert.tabIndex = -1; alert.focus(); }
}
