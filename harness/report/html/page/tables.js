// Coverage, response times and scenarios.

function coverage() {
  if (!run.coverage.length) return null;
  const cell = (c) => el("span.cell" + (c.n ? "" : ".none"), { title: c.n ? c.n + " times" : "never" }, c.name + (c.n ? " " + c.n : ""));
  return el("section", { id: "coverage" }, el("h2", {}, "Coverage of the contract"), run.gate ? el("pre", {}, run.gate) : null, table(["operation", "responses", "events and messages"], run.coverage.map((op) => [
    el("code.nowrap" + (op.n ? "" : ".verdict.differ"), {}, op.name), el("div.map", {}, op.statuses.map(cell)), op.events ? el("div.map", {}, op.events.map(cell)) : ""])),
  (run.never || []).map((m) => m.names
    ? el("details", {}, el("summary", {}, m.measure + " " + m.reached, el("span.soft", {}, ", never " + (m.names.length + (m.left || 0)))), el("ul", {}, m.names.map((n) => el("li.mono", {}, n)), m.left ? el("li", {}, "and " + m.left + " more: lockstep coverage lists them") : null))
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
    table(["operation", "candidate", "pairs", "reference took", "candidate took", "ratio", "10th – 90th percentile", "range"], run.latency.map((l) =>
      [el("code", {}, l.operation), l.target, String(l.pairs), ms(l.reference_us), ms(l.candidate_us), l.ratio.toFixed(2), l.low.toFixed(2) + " – " + l.high.toFixed(2), bar(l)])));
}

// --- scenarios; each can be opened

const order = { differ: 0, unknown: 1, waived: 2, match: 3, "not-applicable": 4 };
const byVerdict = [...run.scenarios].sort((a, b) => order[a.v] - order[b.v]);
let listed = [], scenarioLimit = page_;
const scenarioBody = el("tbody"), scenarioCount = el("span.soft");
const moreScenarios = button("more", "", () => { scenarioLimit += 5 * page_; drawRows(); });

function scenarioRows(s) {
  const open = state.scenario === s.id;
  const toggle = () => { state.scenario = open ? "" : s.id; drawRows(); writeAddress(); document.getElementById("scenario-" + s.index).focus(); };
  const cells = [el("span.verdict." + s.v, {}, s.v), el("button.plain.mono", { type: "button", id: "scenario-" + s.index, "aria-expanded": String(open), click: toggle }, s.id, s.again ? [" ", el("span.chip", {}, s.again)] : ""),
    s.n ? String(s.n) : "", s.ms + " ms", (s.t || []).map((i) => run.tags[i]).join(" ")];
  const tr = el("tr" + (open ? ".open" : ""), {}, cells.map((c, i) => el("td" + cellClass(i), { "data-label": scenarioHead[i] }, c)));
  return open ? [tr, el("tr.steps", {}, el("td", { colspan: "5" }, stepsOf(s)))] : [tr];
}
const scenarioHead = ["verdict", "scenario", "findings", "took", "tags"];
const cellClass = (column) => ["", "", ".number", ".number", ".soft"][column];
const outcomes = { 1: "ok", 2: "error" }; // of what a driver was told to do
function stepsOf(s) {
  const causes = rowsOf.get(s.index) || [];
  return el("div.body", {}, s.why ? el("p", {}, s.why) : null,
    s.steps ? table(["line", "step", ...run.targets, "took"], s.steps.map((st) => [String(st[0]), el("code", {}, run.texts[st[1]]),
      ...run.targets.map((_, i) => st[3 + i] ? el(st[3 + i] === st[3] ? "span" : "span.verdict.differ", {}, outcomes[st[3 + i]] || String(st[3 + i])) : ""), ms(st[2])]))
      : el("p.soft", {}, s.ms ? "The page has no room for its steps; run.jsonl has them." : s.not_run ? "Not applicable: " + s.not_run + "." : "Its steps did not run."),
    causes.length ? el("ul", {}, causes.map((r) => el("li", {}, el("a", { href: "#cause=" + encodeURIComponent(r.key), click: (event) => { event.preventDefault(); showCause(r); } },
      (r.first.op || r.first.text) + " " + r.first.place), " ", el("span.mono", {}, change(r.first))))) : null);
}
function drawRows() {
  scenarioBody.replaceChildren(...listed.slice(0, scenarioLimit).flatMap(scenarioRows));
  moreScenarios.hidden = listed.length <= scenarioLimit;
  moreScenarios.textContent = "show more of " + (listed.length - scenarioLimit);
}
function drawScenarios(all) {
  listed = byVerdict.filter((s) => scenarioFits(s, all));
  scenarioLimit = page_;
  const at = listed.findIndex((s) => s.id === state.scenario);
  if (at >= scenarioLimit) scenarioLimit = at + 1;
  scenarioCount.textContent = " " + listed.length + " of " + run.scenarios.length;
  drawRows();
}
function openScenario(i) {
  state.scenario = scenario(i).id;
  if (!listed.includes(scenario(i))) clear();
  else drawScenarios(words());
  writeAddress();
  const b = document.getElementById("scenario-" + i);
  b.focus();
  b.scrollIntoView({ block: "start" });
}
function showCause(r) {
  if (!shown.includes(r)) clear();
  if (shown.indexOf(r) >= limit) {
    limit = shown.indexOf(r) + 1;
    drawList();
  }
  select(r, false);
  item(r).scrollIntoView({ block: "nearest" });
}
function scenarios() {
  return el("section", { id: "scenarios" }, el("h2", {}, "Scenarios", scenarioCount),
    el("table", {}, el("thead", {}, el("tr", {}, scenarioHead.map((h, i) => el("th" + cellClass(i), { scope: "col" }, h)))), scenarioBody), moreScenarios);
}
