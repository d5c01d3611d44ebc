// The list of causes, and what is selected in it. On a wide window the detail is beside the list, on a narrow one below
// the selected cause.

const wide = matchMedia("(min-width: 1100px)");
const page_ = 100; // causes that are shown at first, and more each time
let shown = [], limit = page_;
const listBox = el("div", { id: "causes", role: "list", "aria-label": "causes" });
const detailBox = el("article", { id: "detail", tabindex: "-1", "aria-label": "the selected cause" });
const countBox = el("p.soft", { id: "count", "aria-live": "polite" });
const moreCauses = button("more", "", () => { limit += page_; drawList(); });
const elements = new Map(); // of the list, by what they show

function item(r) {
  if (!elements.has(r)) {
    const open = (event) => { event.preventDefault(); select(r, true); };
    const link = el("a.cause" + (r.verdict === "waived" ? ".accepted" : ""), { href: "#cause=" + encodeURIComponent(r.key), click: open }, r.doubt ? doubtLine(r) : causeLine(r));
    elements.set(r, el("div", { role: "listitem" }, link));
  }
  return elements.get(r);
}
function causeLine(r) {
  const g = r.first;
  const blames = [...new Set(r.causes.map((c) => c.blame))];
  return [
    el("span.times", { title: plural(r.in, "scenario") + ", " + plural(r.found, "finding") }, String(r.in)),
    el("span.what", {}, el("b", {}, g.up ? "upstream " + g.up : g.op || g.text), " ", el("span.place", {}, (g.stream ? "stream " + g.stream + ", " : "") + g.place)),
    el("span.change.mono", {}, change(g), r.n > 1 ? el("span.soft", {}, " and " + plural(r.n - 1, "other cause")) : ""),
    el("span.chips", {}, r.news === "new" ? el("span.chip.new", {}, r.new === r.found ? "new" : r.new + " new") : "", el("span.chip", {}, g.kind),
      blames.map((b) => el("span.chip", { title: "which side breaks the contract" }, b)), g.accepted ? el("span.chip", {}, g.accepted) : "")];
}
// change shows in one line what differs, word by word.
function change(g) {
  if (g.left + g.right === "") return g.says;
  const [left, right] = wordsOf(g.left.slice(0, 400), g.right.slice(0, 400));
  return [g.left ? marked(left, true) : "—", " → ", g.right ? marked(right, true) : "—"];
}
function doubtLine(d) {
  return [el("span.times", {}, d.also ? String(d.also + 1) : "?"), el("span.what", {}, el("b", {}, scenario(d.s).id)),
    el("span.change", {}, (d.target ? d.target + ": " : "") + d.text), el("span.chips", {}, el("span.chip", {}, scenario(d.s).v))];
}
function drawList() {
  listBox.replaceChildren(...shown.slice(0, limit).map(item));
  moreCauses.hidden = shown.length <= limit;
  moreCauses.textContent = "show more of " + (shown.length - limit);
  placeDetail();
}
const selected = () => shown.find((r) => r.key === state.cause) || (wide.matches ? shown[0] : undefined);

// select shows a cause. jump moves the focus or the view to it.
function select(r, jump) {
  const again = r && r.key === state.cause;
  if (jump && !again) history.pushState(null, "", location.href); // so that Back leads to what was selected before
  state.cause = r && !(again && jump && !wide.matches) ? r.key : "";
  state.change = "";
  drawDetail();
  if (r) item(r).firstChild.focus({ preventScroll: true });
  if (r && jump) item(r).scrollIntoView({ block: "nearest" });
}
function drawDetail() {
  const r = selected();
  for (const [other, e] of elements) {
    if (other === r) e.firstChild.setAttribute("aria-current", "true");
    else e.firstChild.removeAttribute("aria-current");
  }
  detailBox.replaceChildren(...(r ? [r.doubt ? doubtBody(r) : rowBody(r)] : []));
  detailBox.hidden = shown.length === 0;
  detailBox.scrollTop = 0;
  placeDetail();
  writeAddress();
}
// placeDetail puts the detail beside the list, or below the selected cause.
function placeDetail() {
  const r = selected();
  if (wide.matches) split.append(detailBox);
  else if (r && elements.has(r) && elements.get(r).isConnected) elements.get(r).append(detailBox);
  else detailBox.remove();
}
const split = el("div.split", {}, el("div.list", {}, listBox, moreCauses));
wide.addEventListener("change", () => drawDetail());
// fit lets the list and the detail end with the window, so that the end of both can be scrolled into view.
function fit() {
  const top = Math.max(64, split.getBoundingClientRect().top);
  split.style.setProperty("--room", Math.max(320, innerHeight - top - 8) + "px");
}
addEventListener("scroll", fit, { passive: true });
addEventListener("resize", fit);
addEventListener("toggle", fit, true);

// move selects the next or the previous cause.
function move(by) {
  if (!shown.length) return;
  const focused = shown.findIndex((r) => elements.has(r) && elements.get(r).firstChild === document.activeElement);
  const at = focused >= 0 ? focused : shown.indexOf(selected());
  const to = Math.max(0, Math.min(shown.length - 1, at + by));
  if (to >= limit) {
    limit += page_;
    drawList();
  }
  if (wide.matches) select(shown[to], false);
  else item(shown[to]).firstChild.focus({ preventScroll: true });
  item(shown[to]).scrollIntoView({ block: "nearest" });
}
function close() {
  const r = selected();
  if (r && detailBox.contains(document.activeElement)) item(r).firstChild.focus();
  else select(null, false);
}

// --- filters

function apply() {
  const all = words();
  shown = [...run.rows.filter((r) => rowFits(r, all)), ...doubts.filter((d) => doubtFits(d, all))];
  limit = page_;
  const at = shown.findIndex((r) => r.key === state.cause);
  if (at >= limit) limit = at + 1;
  if (at < 0) state.cause = "";
  const findings = shown.reduce((n, r) => n + (r.found || 0), 0);
  countBox.textContent = run.rows.length + doubts.length === 0 ? "Nothing was found." : shown.length === 0 ? "No cause fits the filters."
    : plural(shown.length, "place") + " with " + plural(shown.reduce((n, r) => n + (r.n || 0), 0), "cause") + ", " + plural(findings, "finding") +
      (run.left ? " · " + plural(run.left, "cause") + " more, or their evidence, are only in report.json and run.jsonl" : "");
  drawList();
  drawDetail();
  drawScenarios(all);
  for (const b of document.querySelectorAll(".since button")) b.setAttribute("aria-pressed", String(state.news === "new" && b.textContent.includes("new")));
  for (const b of document.querySelectorAll(".legend button")) b.setAttribute("aria-pressed", String(state.verdict === b.dataset.verdict));
  for (const select of document.querySelectorAll("select[data-filter]")) select.value = state[select.dataset.filter];
  fit();
  document.getElementById("clear").hidden = !filterNames.some((key) => state[key]);
}
const search = el("input", { type: "search", placeholder: "filter  ( / )", "aria-label": "filter by text", input: () => { state.text = search.value; later(); } });
let timer = 0;
function later() { clearTimeout(timer); timer = setTimeout(apply, 80); }
function choice(key, label, values) {
  const select = el("select", { "aria-label": label, "data-filter": key, change: () => { state[key] = select.value; apply(); } },
    el("option", { value: "" }, label), values.map((v) => el("option", { value: v }, v)));
  return values.length > 1 || state[key] ? select : null;
}
const distinct = (all) => [...new Set(all.filter(Boolean))].sort();
function controls() {
  search.value = state.text;
  return el("div.filters", { role: "search" }, search,
    choice("verdict", "any verdict", distinct(run.scenarios.map((s) => s.v))), choice("blame", "any blame", distinct(run.groups.map((g) => g.blame))),
    choice("operation", "any operation", distinct(run.groups.map((g) => g.op))), choice("news", "new or known", distinct(run.rows.map((r) => r.news))),
    choice("tag", "any tag", [...run.tags].sort()), el("button", { type: "button", id: "clear", click: clear }, "clear"));
}
function clear() {
  for (const key of filterNames) state[key] = "";
  search.value = "";
  apply();
}
