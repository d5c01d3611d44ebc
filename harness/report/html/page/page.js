"use strict";
// Everything of a server goes into the document as text: by textContent, never as markup.
(() => {
  const run = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  const svgSpace = "http://www.w3.org/2000/svg";

  // el makes an element; attributes first, then children, which are elements or texts.
  function el(name, attributes, ...children) {
    const [tag, ...classes] = name.split(".");
    const e = document.createElement(tag);
    if (classes.length) e.className = classes.join(" ");
    return fill(e, attributes, children);
  }
  function svg(name, attributes, ...children) {
    const [tag, ...classes] = name.split(".");
    const e = document.createElementNS(svgSpace, tag);
    if (classes.length) e.setAttribute("class", classes.join(" "));
    return fill(e, attributes, children);
  }
  function fill(e, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") e.addEventListener(key, value);
      else if (value !== false && value !== undefined) e.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== "") e.append(child);
    }
    return e;
  }
  const plural = (n, what) => n + " " + what + (n === 1 ? "" : "s");
  const scenario = (i) => run.scenarios[i] || { id: "?", line: 0, v: "unknown" };

  // The state of the filters, in the address too, so that a view can be sent to somebody.
  const filters = { verdict: "", tag: "", operation: "", blame: "", text: "" };
  function readAddress() {
    for (const part of location.hash.slice(1).split("&")) {
      const [key, value] = part.split("=");
      try {
        if (key in filters) filters[key] = decodeURIComponent(value || "");
      } catch { /* an address that somebody has cut */ }
    }
  }
  function writeAddress() {
    const parts = Object.entries(filters).filter(([, v]) => v).map(([k, v]) => k + "=" + encodeURIComponent(v));
    history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search);
  }

  // --- what is filtered

  for (const s of run.scenarios) s.find = (s.id + " " + (s.why || "")).toLowerCase();
  for (const g of run.groups) {
    g.places = [{ s: g.s, line: g.line, step: g.step }, ...(g.also || [])];
    g.verdict = g.accepted ? "waived" : "differ";
    const ids = g.places.slice(0, 50).map((p) => scenario(p.s).id).join(" ");
    g.find = [ids, g.kind, g.place, g.says, g.text, g.op || "", g.left, g.right, g.print || "", g.accepted || ""].join(" ").toLowerCase();
    g.tags = new Set(g.places.flatMap((p) => scenario(p.s).t || []));
  }
  for (const d of run.doubts || []) d.find = (scenario(d.s).id + " " + d.text).toLowerCase();

  const words = () => filters.text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text, all) => all.every((w) => text.includes(w));
  const tagged = (tags) => filters.tag === "" || tags.has(run.tags.indexOf(filters.tag));
  function groupFits(g, all) {
    return (!filters.verdict || filters.verdict === g.verdict) && (!filters.blame || filters.blame === g.blame) &&
      (!filters.operation || filters.operation === g.op) && tagged(g.tags) && has(g.find, all);
  }
  function scenarioFits(s, all) {
    return (!filters.verdict || filters.verdict === s.v) && tagged(new Set(s.t || [])) && has(s.find, all);
  }

  // --- the head of the page

  function banner() {
    return el("div.banner." + run.verdict, {}, el("h1", {}, run.verdict), el("p", {}, run.conclusion),
      el("button", { type: "button", title: "dark or light (t)", click: theme }, "◐"),
      el("button", { type: "button", title: "keys (?)", click: help }, "?"));
  }
  // share shows how many scenarios have which verdict, as one bar.
  function share() {
    const all = run.verdicts.reduce((n, v) => n + v.n, 0);
    if (!all) return null;
    const tone = (v) => v.name.replace(" ", "-");
    const least = 6; // of a thousand, so that one scenario among many is seen
    const widths = run.verdicts.map((v) => Math.max(least, v.n / all * 1000));
    const whole = widths.reduce((n, w) => n + w, 0);
    let x = 0;
    const rects = run.verdicts.map((v, i) => {
      const r = svg("rect." + tone(v), { x, y: 0, width: widths[i] / whole * 1000, height: 10 }, svg("title", {}, v.n + " " + v.name));
      x += widths[i] / whole * 1000;
      return r;
    });
    return el("div.share", {},
      svg("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img", "aria-label": run.verdicts.map((v) => v.n + " " + v.name).join(", ") }, rects),
      el("p.legend", {}, run.verdicts.map((v) => [el("span.chip." + tone(v), {}, v.n + " " + v.name), " "])));
  }
  function facts() {
    return el("details", {}, el("summary.soft", {}, "about this run"),
      el("dl.facts", {}, run.facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      run.waivers ? table(["waiver", "state", "findings", "reason"], run.waivers.map((w) => [w.id, w.state, String(w.n), w.reason])) : "");
  }
  // since says in the head of the page what has changed, and leads to the lists.
  function since() {
    if (!run.changes) return null;
    const n = run.change_counts;
    const parts = ["new", "changed", "fixed"].filter((name) => n[name]).map((name) => el("span.chip" + (name === "new" ? ".new" : ""), {}, (name === "new" ? "+" : "") + n[name] + " " + name));
    return el("p.since", {}, el("button", { type: "button", click: () => document.getElementById("changes").scrollIntoView() }, "since " + run.changes.against), " ",
      parts.length ? parts.map((part) => [part, " "]) : "nothing has changed");
  }
  function changes() {
    const c = run.changes;
    if (!c) return null;
    const few = 20;
    const list = (name, items) => {
      const all = run.change_counts[name];
      if (!all) return null;
      return el("details", { open: all <= few }, el("summary", {}, el("b", {}, all + " " + name)),
        el("ul", {}, items.map((i) => el("li", {}, el("code", {}, i.scenario), " ", i.at, ": ", i.text, " ", el("span.chip", {}, i.target)))),
        all > items.length ? el("p.soft", {}, "and " + (all - items.length) + " more in report.json") : null);
    };
    const any = Object.values(run.change_counts).some(Boolean);
    return el("section", { id: "changes" }, el("h2", {}, "Since " + c.against),
      any || (c.apart && !c.unchanged) ? null : el("p.soft", {}, "Nothing has changed: " + plural(c.unchanged, "finding") + "."),
      list("new", c.new), list("changed", c.changed), list("fixed", c.fixed),
      any && c.unchanged ? el("p.soft", {}, c.unchanged + " unchanged") : null,
      c.apart ? el("p.soft", {}, plural(c.apart, "finding") + " in scenarios that were not judged then") : null);
  }

  // --- findings

  const sides = () => [run.targets[0] || "reference", run.targets[1] || "candidate"];
  function names(g) {
    return g.class === "difference" ? ["reference (" + sides()[0] + ")", "candidate (" + g.targets.join(", ") + ")"]
      : g.class === "shortfall" ? ["want", "got (" + g.targets.join(", ") + ")"] : null;
  }
  function summaryOf(g) {
    const s = scenario(g.s);
    const places = g.places.length > 1 ? " and " + plural(g.places.length - 1, "other place") : "";
    return el("summary", {},
      el("span.times", {}, g.n + "×"),
      el("span.what", {}, (g.stream ? "stream " + g.stream + ", " : "") + g.place + ": " + g.says, glance(g)),
      el("span.chips", {}, g.new ? el("span.chip.new", {}, "new") : "", el("span.chip", {}, g.kind),
        el("span.chip", { title: "which side breaks the contract" }, g.blame), g.accepted ? el("span.chip", {}, g.accepted) : ""),
      el("span.where", {}, s.id + ":" + g.line + " · " + g.text + places));
  }
  // glance shows two short values in the line itself.
  function glance(g) {
    if (g.left.length + g.right.length > 80 || g.left + g.right === "") return "";
    return el("span.glance.mono", {}, " ", g.left || "—", " → ", g.right || "—");
  }
  // bodyOf is made when a group is opened: a page of thousands holds only what is looked at.
  function bodyOf(g) {
    const evidence = run.evidence[g.s];
    const behind = evidence && evidence.behind[g.f];
    const [left, right] = (behind && behind.sides) || [];
    const both = names(g);
    return el("div.body", {},
      both ? values(both, g.left, g.right) : null,
      g.names ? el("p.soft", {}, g.names.map((n) => [el("b", {}, n.name), ": reference ", el("code", {}, n.left || "—"), ", candidate ", el("code", {}, n.right || "—"), ". "])) : null,
      g.note ? el("p", {}, g.note) : null,
      contractOf(g),
      pair("around the value", left && left.around && aroundOf(left.around), right && right.around && aroundOf(right.around), left, right),
      step(g, evidence),
      timeline(evidence, g),
      messages(left, right),
      reproduce(g, left, right),
      rules(evidence),
      places(g));
  }
  function values(both, left, right) {
    const [l, r] = differing(left, right);
    return el("div.sides", {},
      el("div.left", {}, el("h3", {}, both[0]), el("pre", {}, l)), el("div.right", {}, el("h3", {}, both[1]), el("pre", {}, r)));
  }
  // differing marks what stands between the common beginning and the common end of two texts.
  function differing(a, b) {
    const x = Array.from(a), y = Array.from(b);
    let from = 0, end = 0;
    while (from < x.length && from < y.length && x[from] === y[from]) from++;
    while (end < x.length - from && end < y.length - from && x[x.length - 1 - end] === y[y.length - 1 - end]) end++;
    const parts = (all) => [all.slice(0, from).join(""), el("mark", {}, all.slice(from, all.length - end).join("")), all.slice(all.length - end).join("")];
    return from + end === 0 ? [[a], [b]] : [parts(x), parts(y)];
  }
  function contractOf(g) {
    if (g.up) return null; // it does not speak of what servers ask others
    const items = (g.words || []).map((w) => el("li", {}, el("b", {}, w.target), " breaks it at " + w.place + ": " + w.text,
      w.line ? el("span.soft", {}, " (" + run.contract + ":" + w.line + ")") : ""));
    const s = g.silent;
    if (s) items.push(el("li", {}, "It allows both: " + s.admits, el("span.soft", {}, " (" + run.contract + (s.line ? ":" + s.line : "") + ", " + s.schema + ")"),
      s.pin ? "; " + s.pin + " would decide" : ""));
    return [el("h3", {}, "the contract"), items.length ? el("ul", {}, items)
      : el("p.soft", {}, { "contract silent": "It is silent: neither side breaks it.", "not in the contract": "Nothing there is judged by a contract." }[g.blame] || "broken by: " + g.blame)];
  }
  function pair(title, left, right, l, r) {
    if (!left && !right) return null;
    return el("div.sides", {}, left ? el("div.left", {}, el("h3", {}, title + ", " + l.target), left) : el("div"),
      right ? el("div.right", {}, el("h3", {}, title + ", " + r.target), right) : null);
  }
  function aroundOf(a) {
    return el("pre", {}, a.lines.map((line, i) => i === a.focus ? el("span.focus", {}, line) : line + "\n"));
  }
  function step(g, evidence) {
    const lines = evidence && evidence.excerpts && evidence.excerpts[g.line];
    return [el("h3", {}, (scenario(g.s).file || scenario(g.s).id) + ":" + g.line), el("pre", {}, lines ? lines.join("\n") : g.text)];
  }
  function messages(left, right) {
    const one = (s) => s && (s.request || s.answer) ? el("div", {}, el("h3", {}, s.target), el("pre", {}, [s.request, s.answer].filter(Boolean).join("\n\n"))) : null;
    const l = one(left), r = one(right);
    return l || r ? el("details", {}, el("summary.soft", {}, "the messages"), el("div.sides", {}, l, r)) : null;
  }
  function reproduce(g, left, right) {
    const commands = g.rerun ? [["on all targets", g.rerun]] : [];
    for (const side of [left, right]) {
      if (!side) continue;
      const flag = run.flags[run.targets.indexOf(side.target)];
      if (g.rerun && flag && !run.alone) commands.push(["on " + side.target + " alone", g.rerun + " " + flag]);
      if (side.curl) commands.push(["this request, at " + side.target, side.curl]);
    }
    return [el("h3", {}, "reproduce"), commands.map(([what, text]) => el("div.row", {},
      el("pre", { "data-copy": true }, text), el("button", { type: "button", title: what, click: () => copy(text) }, "copy")))];
  }
  function rules(evidence) {
    const all = evidence && evidence.rules;
    return all && all.length ? el("details", {}, el("summary.soft", {}, "rules that apply"), el("ul", {}, all.map((r) => el("li.mono", {}, r)))) : null;
  }
  function places(g) {
    if (g.places.length < 2) return null;
    const most = 200;
    return el("details", {}, el("summary.soft", {}, plural(g.places.length, "place")),
      el("ul", {}, g.places.slice(0, most).map((p) => el("li.mono", {}, scenario(p.s).id + ":" + p.line)),
        g.places.length > most ? el("li", {}, "and " + (g.places.length - most) + " more in report.json") : null));
  }

  // --- the time line of a scenario: a lane for each exchange and stream, of both targets, one below the other

  function timeline(evidence, g) {
    if (!evidence || !evidence.tracks || !evidence.tracks.length) return null;
    const width = 960, gutter = 300, lane = 15;
    const end = Math.max(1, ...evidence.tracks.map((t) => Math.max(t.took, ...(t.spans || []).map((s) => s.to))));
    const x = (us) => gutter + (Math.max(0, us) / end) * (width - gutter - 10);
    const parts = [];
    let y = 18;
    for (const [i, track] of evidence.tracks.entries()) {
      const side = i === 0 && !run.alone ? "left" : "right";
      parts.push(svg("text." + side, { x: 6, y: y }, track.target));
      y += 6;
      const lanes = {};
      for (const span of (track.spans || []).slice(0, 60)) {
        const here = span.step === g.step || (g.stream && span.stream === g.stream);
        const kind = span.stub ? ".upstream" : span.stream ? ".stream" : span.status ? "" : ".wait";
        const label = ((span.stub ? "↗ " : "") + span.step + "  " + span.text).slice(0, 40) + (span.status ? "  " + span.status : "");
        parts.push(svg("rect." + side + kind + (span.failed ? ".broken" : ""), { x: x(span.from), y: y + 2, width: Math.max(2, x(span.to) - x(span.from)), height: lane - 5, rx: 2 },
          svg("title", {}, span.text + " · " + ms(span.from) + " to " + ms(span.to) + (span.failed ? " · " + span.failed : ""))));
        parts.push(svg("text" + (here ? "" : ".soft"), { x: 6, y: y + lane - 4 }, label));
        if (here) parts.push(svg("rect.here", { x: x(span.from) - 2, y: y, width: Math.max(6, x(span.to) - x(span.from) + 4), height: lane - 1, rx: 3 }));
        if (span.stream && !(span.stream in lanes)) lanes[span.stream] = y;
        y += lane;
      }
      for (const mark of track.marks || []) {
        if (!(mark.stream in lanes)) continue;
        parts.push(svg("line.event", { x1: x(mark.at), x2: x(mark.at), y1: lanes[mark.stream] + 1, y2: lanes[mark.stream] + lane - 2 },
          svg("title", {}, mark.name + " · " + ms(mark.at))));
      }
      y += lane + 6;
    }
    for (let i = 0; i <= 4; i++) {
      const at = (end * i) / 4;
      parts.unshift(svg("line.grid", { x1: x(at), x2: x(at), y1: 4, y2: y - 14 }));
      parts.push(svg("text.soft", { x: Math.min(x(at), width - 60), y: y - 2 }, ms(at)));
    }
    return [el("h3", {}, "time line"), svg("svg", { viewBox: "0 0 " + width + " " + (y + 6), role: "img", "aria-label": "what each target did when" }, parts)];
  }
  const ms = (us) => us < 10000 ? (us / 1000).toFixed(1) + " ms" : us < 1e6 ? Math.round(us / 1000) + " ms" : (us / 1e6).toFixed(2) + " s";

  // --- lists that grow when they are asked to

  const step_ = 100;
  let shown = [], shownScenarios = [], limit = step_, scenarioLimit = step_, here = -1;
  const groupList = el("div", { id: "groups" }), groupCount = el("p.soft", { id: "count", "aria-live": "polite" });
  const scenarioBody = el("tbody"), scenarioCount = el("span.soft");
  const moreGroups = el("button", { type: "button", click: () => { limit += step_; drawGroups(); } }, "more");
  const moreScenarios = el("button", { type: "button", click: () => { scenarioLimit += 5 * step_; drawScenarios(); } }, "more");

  function groupElement(g) {
    if (g.element) return g.element;
    const details = el("details.group" + (g.accepted ? ".accepted" : ""), {}, summaryOf(g));
    details.body = () => {
      if (!details.querySelector(".body")) details.append(bodyOf(g));
    };
    details.addEventListener("toggle", () => {
      if (details.open) details.body();
    });
    g.element = details;
    return details;
  }
  function drawGroups() {
    groupList.replaceChildren(...shown.slice(0, limit).map((g) => g.verdict ? groupElement(g) : doubtElement(g)));
    moreGroups.hidden = shown.length <= limit;
    moreGroups.textContent = "show more of " + (shown.length - limit);
  }
  function doubtElement(d) {
    return el("details.group", {}, el("summary", {}, el("span.times", {}, "?"),
      el("span.what", {}, (d.target ? d.target + ": " : "") + d.text), el("span.chips", {}, el("span.chip", {}, scenario(d.s).v)),
      el("span.where", {}, scenario(d.s).id + (d.also ? " and " + plural(d.also, "other scenario") : ""))),
    el("div.body", {}, d.log && d.log.length ? [el("h3", {}, "last lines of its output"), el("pre", {}, d.log.join("\n"))] : el("p.soft", {}, "no log")));
  }
  function drawScenarios() {
    scenarioBody.replaceChildren(...shownScenarios.slice(0, scenarioLimit).map((s) => el("tr", {},
      el("td", {}, el("span.verdict." + s.v, {}, s.v)), el("td.mono", {}, s.id), el("td.number", {}, s.n ? String(s.n) : ""),
      el("td.number", {}, s.ms + " ms"), el("td.soft", {}, (s.t || []).map((i) => run.tags[i]).join(" ")))));
    moreScenarios.hidden = shownScenarios.length <= scenarioLimit;
    moreScenarios.textContent = "show more of " + (shownScenarios.length - scenarioLimit);
  }
  function apply() {
    const all = words();
    const doubts = (run.doubts || []).filter((d) => (!filters.verdict || filters.verdict === "unknown" || filters.verdict === scenario(d.s).v) && !filters.blame && !filters.operation &&
      tagged(new Set(scenario(d.s).t || [])) && has(d.find, all));
    shown = [...run.groups.filter((g) => groupFits(g, all)), ...doubts];
    shownScenarios = run.scenarios.filter((s) => scenarioFits(s, all)).sort((a, b) => order[a.v] - order[b.v]);
    limit = scenarioLimit = step_;
    here = -1;
    const findings = shown.reduce((n, g) => n + (g.n || 0), 0);
    groupCount.textContent = run.groups.length + (run.doubts || []).length === 0 ? "Nothing was found."
      : plural(shown.length, "cause") + ", " + plural(findings, "finding") + (run.left ? " · the page holds evidence for the first of them; report.json and run.jsonl have the rest" : "");
    scenarioCount.textContent = " " + shownScenarios.length + " of " + run.scenarios.length;
    drawGroups();
    drawScenarios();
    writeAddress();
  }
  const order = { differ: 0, unknown: 1, waived: 2, match: 3, "not-applicable": 4 };

  // --- controls

  const search = el("input", { type: "search", placeholder: "filter  ( / )", "aria-label": "filter by text", input: () => { filters.text = search.value; later(); } });
  let timer = 0;
  function later() { clearTimeout(timer); timer = setTimeout(apply, 80); }
  function choice(key, label, values) {
    const select = el("select", { "aria-label": label, "data-filter": key, change: () => { filters[key] = select.value; apply(); } },
      el("option", { value: "" }, label), values.map((v) => el("option", { value: v }, v)));
    if (values.includes(filters[key])) select.value = filters[key];
    return values.length > 1 || filters[key] ? select : null;
  }
  const distinct = (all) => [...new Set(all.filter(Boolean))].sort();
  function controls() {
    search.value = filters.text;
    return el("div.filters", { role: "search" }, search,
      choice("verdict", "any verdict", distinct(run.scenarios.map((s) => s.v))), choice("blame", "any blame", distinct(run.groups.map((g) => g.blame))),
      choice("operation", "any operation", distinct(run.groups.map((g) => g.op))), choice("tag", "any tag", [...run.tags].sort()),
      el("button", { type: "button", id: "clear", click: clear }, "clear"));
  }
  function clear() {
    for (const key of Object.keys(filters)) filters[key] = "";
    search.value = "";
    for (const select of document.querySelectorAll("select[data-filter]")) select.value = "";
    apply();
  }

  // --- coverage and latency

  function coverage() {
    if (!run.coverage.length) return null;
    const cell = (c) => el("span.cell" + (c.n ? "" : ".none"), { title: c.n ? c.n + " times" : "never" }, c.name + (c.n ? " " + c.n : ""));
    return el("section", { id: "coverage" }, el("h2", {}, "Coverage of the contract"), run.gate ? el("pre", {}, run.gate) : null, table(["operation", "responses", "events"], run.coverage.map((op) => [
      el("code.nowrap" + (op.n ? "" : ".verdict.differ"), {}, op.name), el("div.map", {}, op.statuses.map(cell)), el("div.map", {}, (op.events || []).map(cell))])),
    (run.never || []).map((m) => m.names
      ? el("details", {}, el("summary", {}, m.measure + " " + m.reached, el("span.soft", {}, ", never " + m.names.length)), el("ul", {}, m.names.map((n) => el("li.mono", {}, n))))
      : el("p.soft", {}, m.measure + " " + m.reached)),
    run.unnamed && run.unnamed.length ? el("p.soft", {}, "header fields that differ and are not named in any rule: " + run.unnamed.join(", ")) : null);
  }
  function latency() {
    if (!run.latency || !run.latency.length) return null;
    const most = Math.max(2, ...run.latency.map((l) => l.high));
    const at = (ratio) => (Math.min(1, Math.log(1 + ratio) / Math.log(1 + most)) * 100).toFixed(1) + "%";
    const bar = (l) => {
      const range = el("i"), median = el("b"), one = el("s");
      range.style.left = at(l.low);
      range.style.right = (100 - parseFloat(at(l.high))) + "%";
      median.style.left = at(l.ratio);
      one.style.left = at(1);
      return el("div.bar", { title: "the thin line is 1: as fast as the reference" }, range, one, median);
    };
    return el("section", { id: "latency" }, el("h2", {}, "Response times, candidate relative to reference"),
      table(["operation", "candidate", "pairs", "reference", "candidate", "ratio", "10th – 90th percentile", ""], run.latency.map((l) =>
        [el("code", {}, l.operation), l.target, String(l.pairs), ms(l.reference_us), ms(l.candidate_us), l.ratio.toFixed(2), l.low.toFixed(2) + " – " + l.high.toFixed(2), bar(l)])));
  }
  function table(head, rows) {
    return el("table", {}, el("thead", {}, el("tr", {}, head.map((h) => el("th", {}, h)))),
      el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c) => el("td", {}, c))))));
  }

  // --- keys

  const keys = [["/", "filter"], ["j k", "next or previous cause"], ["Enter o", "open or close it"], ["c", "copy the command that reproduces it"],
    ["x", "clear the filters"], ["t", "dark or light"], ["?", "this list"]];
  const helpBox = el("dialog", { "aria-label": "keys" }, el("h2", {}, "Keys"),
    el("dl.facts", {}, keys.map(([k, what]) => [el("dt", {}, k.split(" ").map((x) => [el("kbd", {}, x), " "])), el("dd", {}, what)])),
    el("button", { type: "button", click: () => helpBox.close() }, "close"));
  function help() { helpBox.open ? helpBox.close() : helpBox.showModal(); }
  function theme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  }
  function move(by) {
    const all = groupList.children;
    if (!all.length) return;
    if (all[here]) all[here].classList.remove("here");
    here = Math.max(0, Math.min(all.length - 1, here + by));
    all[here].classList.add("here");
    all[here].querySelector("summary").focus({ preventScroll: true });
    all[here].scrollIntoView({ block: "nearest" });
  }
  function copy(text) {
    const done = () => toast("copied");
    const byHand = () => {
      const area = el("textarea", {});
      area.value = text;
      document.body.append(area);
      area.select();
      const ok = document.execCommand("copy");
      area.remove();
      ok ? done() : toast("the browser does not allow copying");
    };
    navigator.clipboard ? navigator.clipboard.writeText(text).then(done, byHand) : byHand();
  }
  function toast(text) {
    const t = el("div.toast", { role: "status" }, text);
    document.body.append(t);
    setTimeout(() => t.remove(), 1500);
  }
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName || "");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const current = groupList.children[here];
    const act = {
      "/": () => search.focus(), j: () => move(1), k: () => move(-1), o: () => { if (current) current.open = !current.open; },
      c: () => {
        if (!current || !current.body) return;
        current.body();
        const command = current.querySelector("[data-copy]");
        if (command) copy(command.textContent);
      },
      x: clear, t: theme, "?": help,
    }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });

  // --- the page

  readAddress();
  page.replaceChildren(...[banner(), el("p.soft.heading", {}, run.heading.join(" · ")), share(), since(), facts()].filter(Boolean));
  for (const section of [
    el("section", { id: "findings" }, el("h2", {}, "Findings"), controls(), groupCount, groupList, moreGroups),
    changes(), coverage(), latency(),
    el("section", { id: "scenarios" }, el("h2", {}, "Scenarios", scenarioCount),
      el("table", {}, el("thead", {}, el("tr", {}, ["verdict", "scenario", "findings", "took", "tags"].map((h) => el("th", {}, h)))), scenarioBody), moreScenarios),
    helpBox]) {
    if (section) page.append(section);
  }
  apply();
  document.documentElement.dataset.ready = "yes";
})();
