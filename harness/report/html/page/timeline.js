// The time line of a scenario: a lane for each exchange and stream, of both targets, one below the other. Times in which
// nothing happens are cut.

const idle = 0.12; // of the whole: longer pauses are cut
function timeScale(evidence, width) {
  const times = evidence.tracks.flatMap((t) => [...(t.spans || []).flatMap((s) => s.stream ? [s.from, s.to] : [s.from, s.to]), ...(t.marks || []).map((m) => m.at)]);
  const end = Math.max(1, ...times), sorted = [...new Set([0, ...times.map((t) => Math.max(0, t)), end])].sort((a, b) => a - b);
  const busy = (from, to) => evidence.tracks.some((t) => (t.spans || []).some((s) => s.result && s.from < to && s.to > from));
  const cuts = [];
  let length = 0;
  const points = sorted.map((t, i) => {
    const gap = i ? t - sorted[i - 1] : 0;
    if (gap > end * idle && !busy(sorted[i - 1], t)) {
      cuts.push([length, sorted[i - 1], t]);
      length += end * idle / 4;
    } else {
      length += gap;
    }
    return [t, length];
  });
  const x = (t) => {
    let i = points.findIndex(([at]) => at >= t);
    if (i < 0) i = points.length - 1;
    if (i <= 0) return points[0][1] / length * width;
    const [[t0, x0], [t1, x1]] = [points[i - 1], points[i]];
    return (x0 + (x1 - x0) * Math.min(1, Math.max(0, (t - t0) / (t1 - t0)))) / length * width;
  };
  return { x, points, cuts: cuts.map(([at, from, to]) => [(at + end * idle / 8) / length * width, to - from]) };
}
function timeline(evidence, g) {
  if (!evidence || !evidence.tracks || !evidence.tracks.length) return null;
  const box = el("div.zoom", { tabindex: "0", role: "group", "aria-label": "time line" });
  let zoom = 1;
  const draw = () => box.replaceChildren(picture(evidence, g, zoom));
  const change = (by) => () => { zoom = Math.min(16, Math.max(1, zoom * by)); draw(); };
  draw();
  return [el("h4", {}, "time line ", button("−", "smaller", change(1 / 2)), " ", button("+", "larger", change(2))), box];
}
function picture(evidence, g, zoom) {
  const gutter = 300, plot = 650 * zoom, width = gutter + plot + 10, lane = 15;
  const scale = timeScale(evidence, plot), x = (us) => gutter + scale.x(us);
  const parts = [];
  let y = 18;
  for (const [i, track] of evidence.tracks.entries()) {
    const side = i === 0 && !run.alone ? "left" : "right";
    parts.push(svg("text." + side, { x: 6, y: y }, track.target));
    y += 6;
    const lanes = {};
    const spans = track.spans || [], most = 60, left = Math.max(0, spans.length - most) + (track.left || 0);
    for (const span of spans.slice(0, most)) {
      const here = span.step === g.step;
      const kind = span.stub ? ".upstream" : span.stream ? ".stream" : span.result ? "" : ".wait";
      const label = ((span.stub ? "↗ " : "") + span.step + "  " + span.text).slice(0, 40) + (span.result ? "  " + span.result : "");
      parts.push(svg("rect." + side + kind + (span.failed ? ".broken" : ""), { x: x(span.from), y: y + 2, width: Math.max(2, x(span.to) - x(span.from)), height: lane - 5, rx: 2 },
        svg("title", {}, span.text + " · " + ms(span.from) + " to " + ms(span.to) + (span.failed ? " · " + span.failed : ""))));
      parts.push(svg("text" + (here ? "" : ".soft"), { x: 6, y: y + lane - 4 }, label));
      if (here) parts.push(svg("rect.here", { x: x(span.from) - 2, y: y, width: Math.max(6, x(span.to) - x(span.from) + 4), height: lane - 1, rx: 3 }));
      if (span.stream && !(span.stream in lanes)) lanes[span.stream] = y;
      y += lane;
    }
    if (left) {
      parts.push(svg("text.soft", { x: 6, y: y + lane - 4 }, "and " + left + " more in run.jsonl"));
      y += lane;
    }
    let free = 0; // where the next label of an event has room
    for (const mark of track.marks || []) {
      if (!(mark.stream in lanes)) continue;
      const at = x(mark.at), wide = mark.name.length * 6.7 + 6, top = lanes[mark.stream], look = (mark.sent ? ".sent" : "") + (mark.dim ? ".dim" : "");
      parts.push(svg("line.event" + look, { x1: at, x2: at, y1: top + 1, y2: top + lane - 2 }, svg("title", {}, (mark.sent ? "sent: " : "") + mark.name + " · " + ms(mark.at))));
      // What was sent points down, to the target; what came from it points up.
      if (mark.way) parts.push(svg("path.way" + look, { d: mark.sent ? "M" + (at - 3) + " " + (top + lane - 5) + "h6l-3 4z" : "M" + (at - 3) + " " + (top + 4) + "h6l-3 -4z" }));
      if (at >= free && at + wide < width) {
        parts.push(svg("text.label", { x: at + 3, y: lanes[mark.stream] + lane - 4 }, mark.name));
        free = at + wide;
      }
    }
    y += lane + 6;
  }
  let last = -100, label = "";
  for (const [at] of scale.points) {
    const here = x(at);
    if (here - last < 70 || ms(at) === label) continue;
    label = ms(at);
    parts.unshift(svg("line.grid", { x1: here, x2: here, y1: 4, y2: y - 14 }));
    parts.push(svg("text.soft", { x: Math.min(here, width - 60), y: y - 2 }, label));
    last = here;
  }
  for (const [at, length] of scale.cuts) {
    parts.push(svg("line.cut", { x1: gutter + at, x2: gutter + at, y1: 4, y2: y - 14 }, svg("title", {}, "nothing happens for " + ms(length))));
    parts.push(svg("text.soft", { x: gutter + at - 3, y: 12 }, "⋯"));
  }
  const drawn = svg("svg", { viewBox: "0 0 " + width + " " + (y + 6), role: "img", "aria-label": "what each target did when" }, parts);
  if (zoom > 1) drawn.setAttribute("width", String(width));
  return drawn;
}
