// The head of the page: the verdict, what ran, and what has changed.

function banner() {
  return el("header.banner." + run.verdict, {}, el("h1", {}, run.verdict), el("p", {}, run.conclusion),
    button("◐", "dark or light (t)", theme), button("?", "keys (?)", help));
}
// share shows how many scenarios have which verdict, as one bar.
function share() {
  const all = run.verdicts.reduce((n, v) => n + v.n, 0);
  if (!all) return null;
  const tone = (v) => v.name.replace(" ", "-");
  const choose = (name) => {
    state.verdict = state.verdict === name ? "" : name;
    apply();
    if (!shown.length) document.getElementById("scenarios").scrollIntoView();
  };
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
    el("p.legend", {}, run.verdicts.map((v) => [el("button.chip." + tone(v), { type: "button", title: "show only these scenarios", "data-verdict": tone(v), click: () => choose(tone(v)) }, v.n + " " + v.name), " "])));
}
function facts() {
  return el("details", {}, el("summary.soft", {}, "about this run"),
    el("dl.facts", {}, run.facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    run.waivers ? table(["waiver", "state", "findings", "reason"], run.waivers.map((w) => [w.id, w.state, String(w.n), w.reason])) : "");
}
// since counts what has changed. New and changed findings are a filter on the causes; fixed ones have a list.
function since() {
  const c = run.changes, n = run.change_counts;
  if (!c) return null;
  const parts = [];
  if (n.new + n.changed) {
    const label = [n.new ? "+" + n.new + " new" : "", n.changed ? n.changed + " changed" : ""].filter(Boolean).join(", ");
    parts.push(button(label, "show their causes", () => { state.news = state.news === "new" ? "" : "new"; apply(); }));
  }
  if (n.fixed) parts.push(button(n.fixed + " fixed", "show the list", () => { const list = document.getElementById("fixed"); list.open = true; list.scrollIntoView(); }));
  if (!parts.length && !c.apart) parts.push("nothing has changed");
  return el("p.since", {}, "since " + c.against + ": ", parts.map((p) => [p, " "]),
    el("span.soft", {}, [c.unchanged ? plural(c.unchanged, "unchanged finding") : "", c.apart ? plural(c.apart, "finding") + " in scenarios that were not judged then" : ""].filter(Boolean).join(", ")));
}
function fixed() {
  if (!run.changes || !run.change_counts.fixed) return null;
  const items = run.changes.fixed || [], all = run.change_counts.fixed;
  return el("details", { id: "fixed" }, el("summary", {}, el("h2", {}, all + " fixed since " + run.changes.against)),
    el("ul", {}, items.map((i) => el("li", {}, el("code", {}, i.scenario), " ", i.at, ": ", i.text, " ", el("span.chip", {}, i.target)))),
    all > items.length ? el("p.soft", {}, "and " + (all - items.length) + " more in report.json") : null);
}
