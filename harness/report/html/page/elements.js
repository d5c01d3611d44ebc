// Elements of the page. Everything of a server goes into the document as text: by textContent, never as markup.

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
const button = (label, title, click) => el("button", { type: "button", title, click }, label);

// table labels each cell with its column's name, because on a phone a row becomes a card.
function table(head, rows) {
  return el("table", {}, el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c, i) => el("td", { "data-label": head[i] }, c))))));
}
const plural = (n, what) => n + " " + what + (n === 1 ? "" : "s");
const ms = (us) => us < 10000 ? (us / 1000).toFixed(1) + " ms" : us < 1e6 ? Math.round(us / 1000) + " ms" : (us / 1e6).toFixed(2) + " s";

// --- differences of texts

// common finds the pairs of equal elements of two lists, in order and as many as possible.
function common(a, b) {
  const w = b.length + 1, most = new Uint32Array((a.length + 1) * w);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      most[i * w + j] = a[i] === b[j] ? most[(i + 1) * w + j + 1] + 1 : Math.max(most[(i + 1) * w + j], most[i * w + j + 1]);
    }
  }
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (most[(i + 1) * w + j] >= most[i * w + j + 1]) i++;
    else j++;
  }
  return pairs;
}
// wordsOf compares two texts word by word. It returns the parts of both: [text, whether the other has it too].
function wordsOf(left, right) {
  const split = (s) => s.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) || [];
  const a = split(left), b = split(right);
  let from = 0, end = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  while (end < a.length - from && end < b.length - from && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const x = a.slice(from, a.length - end), y = b.slice(from, b.length - end);
  const pairs = x.length * y.length > 250000 ? [] : common(x, y);
  const parts = (all, middle, side) => {
    const out = [[all.slice(0, from).join(""), true]];
    const same = new Set(pairs.map((p) => p[side]));
    middle.forEach((word, i) => {
      const last = out[out.length - 1];
      if (last[1] === same.has(i)) last[0] += word;
      else out.push([word, same.has(i)]);
    });
    const tail = all.slice(all.length - end).join("");
    if (out[out.length - 1][1]) out[out.length - 1][0] += tail;
    else out.push([tail, true]);
    return out.filter(([text]) => text);
  };
  return [parts(a, x, 0), parts(b, y, 1)];
}
// marked shows parts; those that only one side has are marked. Long equal parts are cut when short is set.
function marked(parts, short) {
  const cut = (text, i) => {
    const kept = 16;
    if (!short || text.length <= 2 * kept) return text;
    const head = i === 0 ? "" : text.slice(0, kept), tail = i === parts.length - 1 ? "" : text.slice(-kept);
    return head + "…" + tail;
  };
  return parts.map(([text, same], i) => same ? cut(text, i) : el("mark", {}, short && text.length > 60 ? text.slice(0, 60) + "…" : text));
}
// unified shows two objects or lists, a line for each member, as one difference. What only one side has is marked with -
// or +, and so are members that findings are about. Other values that differ were generated, or a rule allows them: ≈.
function unified(l, r) {
  const name = (line) => line.match(/^ *("(?:[^"\\]|\\.)*"|[0-9]+): |^.*$/)[1] || line;
  const a = l.lines, b = r.lines, out = [];
  const pairs = [...common(a.map(name), b.map(name)), [a.length, b.length]];
  const only = (sign, lines) => lines.forEach((line) => out.push(el("span." + (sign === "-" ? "gone" : "come"), {}, sign + " ", line, "\n")));
  let i = 0, j = 0;
  for (const [m, n] of pairs) {
    only("-", a.slice(i, m));
    only("+", b.slice(j, n));
    if (m < a.length) {
      if (a[m] === b[n]) {
        out.push("  " + a[m] + "\n");
      } else if (![l.focus, ...(l.found || [])].includes(m) && ![r.focus, ...(r.found || [])].includes(n)) {
        out.push(el("span.alike", { title: "generated, or allowed by a rule: " + b[n].trim() }, "≈ ", a[m], "\n"));
      } else {
        const [left, right] = wordsOf(a[m], b[n]);
        out.push(el("span.gone", {}, "- ", marked(left), "\n"), el("span.come", {}, "+ ", marked(right), "\n"));
      }
    }
    [i, j] = [m + 1, n + 1];
  }
  return out;
}
