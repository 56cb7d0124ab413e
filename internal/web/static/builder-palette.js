// The palette: the kinds of question, to choose from.

import { data, h, icon, make, mount, say } from "./builder-view.js";
import { groupIcon } from "./builder-canvas.js";

const order = [...new Set(data.kinds.map((k) => k.group))];

function found(search) {
  const wanted = search.trim().toLowerCase();
  return data.kinds.filter((k) => [k.title, k.hint, say(k.title), say(k.hint), k.name].some((text) => text.toLowerCase().includes(wanted)));
}

// best is what Enter takes: titles count before hints.
const best = (search) => found(search).find((k) => say(k.title).toLowerCase().startsWith(search.trim().toLowerCase())) ?? found(search)[0];

// kindList shows kinds in their groups.
export function kindList(choose, search = "") {
  const list = found(search);
  return h("div", { class: "kinds", key: "kinds" },
    order.filter((g) => list.some((k) => k.group === g)).map((g) => h("section", { key: g },
      h("h3", null, say(g)),
      h("ul", null, list.filter((k) => k.group === g).map((k) => h("li", { key: k.name },
        h("button", { type: "button", class: "kind", onclick: () => choose(k) }, groupIcon(k), h("span", null, say(k.title), h("small", null, say(k.hint))))))))),
    !list.length && h("p", { class: "faint" }, say("Nothing is called that.")));
}

export function openPalette(choose) {
  const box = make(h("dialog", { class: "palette", "aria-label": say("Add a question") }));
  const draw = mount(box);
  const pick = (kind) => { box.close(); choose(kind); };
  const show = (search) => draw([
    h("div", { class: "pair", key: "top" },
      h("input", {
        type: "search", "aria-label": say("Search the kinds"), placeholder: say("Search the kinds"), autofocus: true, value: search, oninput: (e) => show(e.target.value),
        onkeydown: (e) => { if (e.key === "Enter" && best(e.target.value)) { e.preventDefault(); pick(best(e.target.value)); } },
      }),
      h("button", { type: "button", class: "tool", "aria-label": say("Close"), onclick: () => box.close() }, icon("close"))),
    kindList(pick, search),
  ]);
  // Arrows go through what can be chosen, as they are read.
  box.onkeydown = (e) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!step) return;
    e.preventDefault();
    const all = [...box.querySelectorAll("input, .kind")];
    all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))].focus();
  };
  box.onclick = (e) => { if (e.target === box) box.close(); };
  box.onclose = () => box.remove();
  document.body.append(box);
  show("");
  box.showModal();
}
