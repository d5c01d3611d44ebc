// The run, and what of it is shown.

const run = JSON.parse(document.getElementById("data").textContent);
const scenario = (i) => run.scenarios[i] || { id: "?", line: 0, v: "unknown" };
const sides = [run.targets[0] || "reference", run.targets[1] || "candidate"];

for (const [i, s] of run.scenarios.entries()) {
  s.index = i;
  s.find = (s.id + " " + (s.why || "")).toLowerCase();
}
for (const g of run.groups) g.places = [{ s: g.s, line: g.line, step: g.step }, ...(g.also || [])];

// A row has the causes at one place of an operation's answers.
for (const [i, r] of run.rows.entries()) {
  r.causes = run.groups.slice(r.i, r.i + r.n);
  r.first = r.causes[0];
  r.key = r.first.print || "row-" + i;
  r.scenarios = new Set(r.causes.flatMap((g) => g.places.map((p) => p.s)));
  r.news = r.first.accepted ? "known" : r.new ? "new" : "seen before";
  r.verdict = r.first.accepted ? "waived" : "differ";
  r.tags = new Set([...r.scenarios].flatMap((s) => scenario(s).t || []));
}
const keys = new Set();
for (const [i, r] of run.rows.entries()) {
  if (keys.has(r.key)) r.key += "-" + i;
  keys.add(r.key);
}
const rowsOf = new Map(); // by scenario
for (const r of run.rows) {
  for (const s of r.scenarios) rowsOf.set(s, [...(rowsOf.get(s) || []), r]);
}
// findIn returns the text that the filter looks into. It is made when it is first needed.
function findIn(r) {
  if (r.find === undefined) {
    r.find = [...[...r.scenarios].slice(0, 50).map((s) => scenario(s).id),
      ...r.causes.slice(0, 50).flatMap((g) => [g.kind, g.place, g.says, g.text, g.op || "", g.left, g.right, g.print || "", g.accepted || ""])].join(" ").toLowerCase();
  }
  return r.find;
}
const doubts = (run.doubts || []).map((d, i) => ({ ...d, key: "unknown-" + i, find: (scenario(d.s).id + " " + d.text).toLowerCase(), doubt: true }));

// The state is in the address, so that a view can be sent to somebody.
const state = { verdict: "", tag: "", operation: "", blame: "", news: "", text: "", cause: "", change: "", scenario: "" };
const filterNames = ["verdict", "tag", "operation", "blame", "news", "text"];
function readAddress() {
  for (const key of Object.keys(state)) state[key] = "";
  for (const part of location.hash.slice(1).split("&")) {
    const [key, value] = part.split("=");
    try {
      if (Object.hasOwn(state, key)) state[key] = decodeURIComponent(value || "");
    } catch { /* an address that somebody has cut */ }
  }
}
function writeAddress() {
  const parts = Object.entries(state).filter(([, v]) => v).map(([k, v]) => k + "=" + encodeURIComponent(v));
  history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search);
}

const words = () => state.text.toLowerCase().split(/\s+/).filter(Boolean);
const has = (text, all) => all.every((w) => text.includes(w));
const tagged = (tags) => state.tag === "" || tags.has(run.tags.indexOf(state.tag));
function rowFits(r, all) {
  return (!state.verdict || state.verdict === r.verdict) && (!state.blame || r.causes.some((g) => g.blame === state.blame)) &&
    (!state.operation || state.operation === r.first.op) && (!state.news || state.news === r.news) && tagged(r.tags) && (!all.length || has(findIn(r), all));
}
function doubtFits(d, all) {
  return (!state.verdict || state.verdict === "unknown" || state.verdict === scenario(d.s).v) && !state.blame && !state.operation && !state.news &&
    tagged(new Set(scenario(d.s).t || [])) && has(d.find, all);
}
function scenarioFits(s, all) {
  return (!state.verdict || state.verdict === s.v) && tagged(new Set(s.t || [])) && has(s.find, all);
}
