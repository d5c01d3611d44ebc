// The detail of a cause: what differs, what the contract says, both messages, and what to do next.

function rowBody(r) {
  const at = Math.min(Math.max(0, Number(state.change) || 0), r.causes.length - 1);
  const g = r.causes[at], first = r.first, most = 100;
  const choose = (i) => () => { state.change = i ? String(i) : ""; drawDetail(); detailBox.focus({ preventScroll: true }); };
  return el("div.body", {},
    el("h3", {}, (first.up ? "upstream " + first.up + ", " : "") + (first.op || first.text) + " ", el("span.place", {}, (first.stream ? "stream " + first.stream + ", " : "") + first.place)),
    r.causes.length > 1 ? el("div.causes", {}, el("p.soft", {}, plural(r.n, "cause") + " at this place:"),
      r.causes.slice(0, most).map((c, i) => el("button.mono", { type: "button", "aria-pressed": String(i === at), click: choose(i) }, c.n + "× ", change(c))),
      r.causes.length > most ? el("p.soft", {}, "and " + (r.causes.length - most) + " more in report.json") : null) : null,
    causeBody(g));
}
function names(g) {
  return g.class === "difference" ? ["reference (" + sides[0] + ")", "candidate (" + g.targets.join(", ") + ")"]
    : g.class === "shortfall" ? ["want", "got (" + g.targets.join(", ") + ")"] : null;
}
function causeBody(g) {
  const evidence = run.evidence[g.s];
  const all = (evidence && evidence.sides && evidence.sides[g.f]) || [];
  const [left, right] = all.length > 1 || g.class !== "difference" ? all : [undefined, all[0]];
  const both = names(g);
  return [
    el("p", {}, g.says, " ", el("span.chip", {}, g.kind), " ", el("span.chip", {}, "blame: " + g.blame), g.accepted ? [" ", el("span.chip", {}, g.accepted)] : ""),
    g.rerun ? command("run it again", g.rerun) : null,
    both ? values(both, g.left, g.right) : null,
    g.names ? el("p.soft", {}, g.names.map((n) => [el("b", {}, n.name), ": reference ", el("code", {}, n.left || "—"), ", candidate ", el("code", {}, n.right || "—"), ". "])) : null,
    g.note ? el("p", {}, g.note) : null,
    contractOf(g),
    around(left, right),
    streams(evidence, g),
    messages(left, right),
    step(g, evidence),
    timeline(evidence, g),
    next(g, left, right),
    rules(evidence),
    places(g)];
}
function values(both, left, right) {
  const [l, r] = wordsOf(left, right);
  return el("div.sides", {}, el("div.left", {}, el("h4", {}, both[0]), el("pre", {}, left ? marked(l) : "—")), el("div.right", {}, el("h4", {}, both[1]), el("pre", {}, right ? marked(r) : "—")));
}
function contractOf(g) {
  if (g.up) return null; // it does not speak of what servers ask others
  const items = (g.words || []).map((w) => el("li", {}, el("b", {}, w.target), " breaks it at " + w.place + ": " + w.text,
    w.line ? el("span.soft", {}, " (" + run.contract + ":" + w.line + ")") : ""));
  const s = g.silent;
  if (s) items.push(el("li", {}, "It allows both: " + s.admits, el("span.soft", {}, " (" + run.contract + (s.line ? ":" + s.line : "") + ", " + s.schema + ")"),
    s.pin ? "; " + s.pin + " would decide" : ""));
  return [el("h4", {}, "the contract"), items.length ? el("ul", {}, items)
    : el("p.soft", {}, { "contract silent": "It is silent: neither side breaks it.", "not in the contract": "Nothing there is judged by a contract." }[g.blame] || "broken by: " + g.blame)];
}
// around shows the JSON around the place: as one difference when both sides have it.
function around(left, right) {
  const l = left && left.around, r = right && right.around;
  if (l && r) return [el("h4", {}, "around the value: - " + left.target + ", + " + right.target), el("pre.unified", {}, unified(l, r))];
  const one = l || r;
  if (!one) return null;
  return [el("h4", {}, "around the value, " + (l ? left : right).target), el("pre", {}, one.lines.map((line, i) => i === one.focus ? el("span.focus", {}, line) : line + "\n"))];
}
// streams shows the stream that the cause is about as two columns, event beside event.
function streams(evidence, g) {
  const stream = g.stream && evidence && (evidence.streams || []).find((s) => s.name === g.stream);
  if (!stream || !stream.rows) return null;
  const event = (e) => e ? el("div" + (e.w ? "." + e.w : "") + (e.d ? ".dim" : ""), {}, way(e), el("b", {}, e.n), " ", el("span.soft", {}, [e.l, ms(e.at)].filter(Boolean).join(" · ")),
    e.k ? [" ", el("span.note", {}, e.k)] : null, e.h ? [el("br"), e.h] : null) : "—";
  const way = (e) => e.w ? [el("span.way", { "aria-hidden": "true" }, e.w === "sent" ? "→" : "←"), el("span.hidden", {}, e.w + " ")] : null;
  const compared = (r) => r.f || (r.l || r.r).w !== "sent" && !(r.l || r.r).d;
  const kind = (r) => !compared(r) ? "" : !r.l ? ".extra" : !r.r ? ".missing" : r.f ? ".differs" : "";
  const sign = (r) => !compared(r) ? "" : !r.l ? "+" : !r.r ? "−" : r.f ? "≠" : r.s ? "=" : "≈";
  return [el("h4", {}, "stream " + stream.name), el("table.events", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, sides[0]), el("th", { scope: "col" }, el("span.hidden", {}, "compared")), el("th", { scope: "col" }, sides[1]))),
    el("tbody", {}, stream.rows.map((r) => el("tr" + kind(r), {}, el("td.mono", { "data-label": sides[0] }, event(r.l)), el("td", { "data-label": "" }, sign(r)), el("td.mono", { "data-label": sides[1] }, event(r.r))))),
    stream.ends ? el("tfoot", {}, el("tr", {}, el("td.soft", { "data-label": sides[0] }, stream.ends[0]), el("td"), el("td.soft", { "data-label": sides[1] }, stream.ends[1]))) : null),
  stream.more ? el("p.soft", {}, "and " + plural(stream.more, "more row") + " in run.jsonl") : null];
}
const message = (i) => i >= 0 ? run.messages[i] : "";
function messages(left, right) {
  const texts = (s) => s ? [message(s.request), message(s.answer)].map((m) => m.trimEnd()).filter(Boolean) : [];
  const sent = [left, right].map((s) => texts(s).join("\n\n")), read = [left, right].map((s) => texts(s).map(indented).join("\n\n"));
  const boxes = read.map((text) => el("pre.whole", {}, text));
  const raw = button("as sent", "bodies as they were sent, or indented", () => {
    const on = raw.getAttribute("aria-pressed") !== "true";
    raw.setAttribute("aria-pressed", String(on));
    boxes.forEach((box, i) => { box.textContent = (on ? sent : read)[i]; });
  });
  const one = (s, i) => sent[i] ? el("div." + ["left", "right"][i], {}, el("h4", {}, s.target), boxes[i]) : null;
  return sent.some(Boolean) ? [el("details", { open: true }, el("summary", {}, sent.every(Boolean) ? "both messages" : "the message"),
    el("div.sides", {}, one(left, 0), one(right, 1)), sent.join() === read.join() ? null : el("p", {}, raw))] : null;
}
// indented inserts lines and spaces into the JSON of a message, and changes nothing else. Text that is no JSON, or was
// cut, stays as it is.
function indented(text) {
  const at = text.indexOf("\n\n") + 2, body = text.slice(at);
  if (at < 2 || !/^[[{]/.test(body)) return text;
  try {
    JSON.parse(body);
  } catch {
    return text;
  }
  let out = "", depth = 0, last = "";
  const line = () => "\n" + "  ".repeat(depth);
  for (const token of body.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g)) {
    const closes = /^[\]}]$/.test(token);
    if (closes) depth--;
    if (closes ? !/^[[{]$/.test(last) : /^[[{,]$/.test(last)) out += line();
    out += token + (token === ":" ? " " : "");
    if (/^[[{]$/.test(token)) depth++;
    last = token;
  }
  return text.slice(0, at) + out;
}
function step(g, evidence) {
  const lines = evidence && evidence.excerpts && evidence.excerpts[g.line];
  return [el("h4", {}, (scenario(g.s).file || scenario(g.s).id) + ":" + g.line), el("pre", {}, lines ? lines.join("\n") : g.text)];
}
// next says what can be done: commands to paste, and a waiver to fill in.
function next(g, left, right) {
  const commands = [];
  for (const side of [left, right]) {
    if (!side) continue;
    const flag = run.flags[run.targets.indexOf(side.target)];
    if (g.rerun && flag && !run.alone) commands.push(["on " + side.target + " alone", g.rerun + " " + flag]);
    if (side.curl >= 0) commands.push(["this request, at " + side.target, message(side.curl)]);
  }
  if (g.rule) commands.push(["if the servers generate this value, say so: compare: volatile:", g.rule]);
  if (g.waive) commands.push(["accept it: write a waiver to fill in", g.waive]);
  if (g.waiver) commands.push(["or paste this into waivers.yaml", g.waiver]);
  return commands.length ? [el("h4", {}, "what to do next"), commands.map(([what, text]) => [el("p.soft", {}, what), command(what, text)])] : null;
}
const command = (what, text) => el("div.row", {}, el("pre", { "data-copy": true }, text), button("copy", what, () => copy(text)));
function rules(evidence) {
  const all = evidence && evidence.rules;
  return all && all.length ? el("details", {}, el("summary.soft", {}, "rules that apply"), el("ul", {}, all.map((r) => el("li.mono", {}, r)))) : null;
}
function places(g) {
  const most = 200;
  const link = (p) => el("a", { href: "#scenario=" + encodeURIComponent(scenario(p.s).id), click: (event) => { event.preventDefault(); openScenario(p.s); } }, scenario(p.s).id + ":" + p.line);
  return el("details", {}, el("summary.soft", {}, plural(g.places.length, "place")),
    el("ul", {}, g.places.slice(0, most).map((p) => el("li.mono", {}, link(p))),
      g.places.length > most ? el("li", {}, "and " + (g.places.length - most) + " more in report.json") : null));
}
function doubtBody(d) {
  return el("div.body", {}, el("h3", {}, scenario(d.s).id), el("p", {}, (d.target ? d.target + ": " : "") + d.text, d.also ? " (and " + plural(d.also, "other scenario") + ")" : ""),
    d.log && d.log.length ? [el("h4", {}, "last lines of its output"), el("pre", {}, d.log.join("\n"))] : el("p.soft", {}, "There is no output of the target."));
}
