// The preview: the public page of the saved draft, in a frame.

import { h, say, tool } from "./builder-view.js";
import { find, isEnding, pageOf, state } from "./builder-draft.js";

let width = "desk";
let shown = -1; // the page in the frame
const frame = () => document.querySelector(".preview iframe");

// showPreview brings the frame to the page of what is chosen, anew if it was saved.
export function showPreview(again) {
  const el = frame();
  if (!el?.offsetParent) return;
  const page = pageOf(state.chosen);
  if (!again && shown === page) return toQuestion(el);
  const top = shown === page ? el.contentWindow.scrollY : 0;
  shown = page;
  el.onload = () => { el.contentWindow.scrollTo(0, top); if (!top) toQuestion(el); };
  el.contentWindow.location.replace(`/forms/${state.meta.id}/preview?page=${page}`);
}

function toQuestion(el) {
  const member = find(state.chosen);
  const at = member && !isEnding(member) && el.contentDocument?.getElementById(member.key);
  at?.closest(".question")?.scrollIntoView({ block: "nearest" });
}

export function preview(draw) {
  const size = (name, label) => tool(name, label, { "aria-pressed": `${width === name}`, onclick: () => { width = name; draw(); } });
  return h("section", { class: `preview ${width}`, key: "preview", "aria-label": say("Preview") },
    h("div", { class: "pair" }, h("span", { class: "faint" }, say("As people will see it. Nothing that you send here is stored.")),
      size("desk", say("As on a desk")), size("phone", say("As on a phone")), tool("again", say("From the start of this page"), { onclick: () => showPreview(true) })),
    h("iframe", { title: say("Preview") }));
}
