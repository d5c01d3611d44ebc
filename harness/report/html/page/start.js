// Keys, and the whole page.

const keyList = [["/", "filter"], ["j k", "next or previous cause"], ["Enter o", "open it, and read it"], ["Esc", "back to the list, then close it"], ["c", "copy the command that reproduces it"],
  ["x", "clear the filters"], ["t", "dark or light"], ["?", "this list"]];
const helpBox = el("dialog", { "aria-label": "keys" }, el("h2", {}, "Keys"),
  el("dl.facts", {}, keyList.map(([k, what]) => [el("dt", {}, k.split(" ").map((x) => [el("kbd", {}, x), " "])), el("dd", {}, what)])),
  button("close", "", () => helpBox.close()));
function help() { helpBox.open ? helpBox.close() : helpBox.showModal(); }
function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
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
// enter opens the cause that has the focus, and moves into it.
function enter() {
  const r = shown.find((r) => elements.has(r) && elements.get(r).firstChild === document.activeElement) || selected();
  if (!r) return;
  if (state.cause !== r.key) select(r, false);
  detailBox.focus({ preventScroll: wide.matches });
}
addEventListener("keydown", (event) => {
  const tag = event.target.tagName || "";
  if (event.ctrlKey || event.metaKey || event.altKey || helpBox.open) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(tag)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = {
    "/": () => search.focus(), j: () => move(1), k: () => move(-1), o: enter, Escape: close, x: clear, t: theme, "?": help,
    Enter: /^(BUTTON|SUMMARY)$/.test(tag) || (tag === "A" && !event.target.classList.contains("cause")) ? null : enter,
    c: () => {
      const r = selected(), command = r && detailBox.querySelector("[data-copy]");
      if (command) copy(command.textContent);
    },
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});
addEventListener("hashchange", () => { readAddress(); search.value = state.text; apply(); });

readAddress();
const page = document.getElementById("page");
const parts = [banner(), el("p.soft.heading", {}, run.heading.join(" · ")), share(), since(), facts(),
  el("section", { id: "findings" }, el("h2", {}, "Causes"), controls(), countBox, split), fixed(), coverage(), latency(), scenarios(), helpBox];
page.replaceChildren(...parts.filter(Boolean));
apply();
if (state.scenario && document.querySelector("tr.steps")) document.querySelector("tr.steps").scrollIntoView({ block: "center" });
document.documentElement.dataset.ready = "yes";
