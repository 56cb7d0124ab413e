// Rich text on the canvas: answers that are inserted in texts as chips, and Markdown with a
// small toolbar. It is loaded when a form needs it.

import { createNode, h, iconButton, select, showDialog, t } from "./vdom.js";
import { kindOf, pipesIn, state } from "./builder-state.js";
import { displayName, fieldByKey } from "./builder-logic.js";

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/builder-text.css" }));

const filler = "\u200b"; // lets the cursor stand after a chip

// RichText is a text with chips. It has the interface of a text area.
class RichText extends HTMLElement {
  connectedCallback() {
    this.contentEditable = "plaintext-only";
    this.addEventListener("blur", () => this.#show(this.value));
    this.addEventListener("keydown", (event) => { if (event.key === "Backspace" && this.#removeChip()) event.preventDefault(); });
    this.addEventListener("click", (event) => {
      const chip = event.target.closest(".answer");
      if (chip) editChip(this, chip);
    });
  }

  get value() { return valueOf(this); }
  set value(text) { if (text !== this.value || !this.firstChild) this.#show(text); }

  #show(text) {
    let at = 0;
    const nodes = [];
    for (const pipe of pipesIn(text).filter(({ key }) => fieldByKey(key))) {
      nodes.push(text.slice(at, pipe.index), chipOf(pipe), filler);
      at = pipe.index + pipe.text.length;
    }
    this.replaceChildren(...nodes, text.slice(at));
    this.normalize();
  }

  // removeChip removes the chip before the cursor.
  #removeChip() {
    const { anchorNode, anchorOffset, isCollapsed } = getSelection();
    const [node, offset] = anchorNode === this && anchorOffset ? [this.childNodes[anchorOffset - 1], Infinity] : [anchorNode, anchorOffset];
    const chip = node?.dataset?.pipe ? node : node?.nodeType === Node.TEXT_NODE && ["", filler].includes(node.data.slice(0, offset)) ? node.previousSibling : null;
    if (!isCollapsed || !chip?.dataset?.pipe) return false;
    const at = valueOf({ childNodes: [...this.childNodes].slice(0, [...this.childNodes].indexOf(chip)) }).length;
    chip.remove();
    this.#show(this.value);
    this.setSelectionRange(at, at);
    this.dispatchEvent(new Event("input", { bubbles: true }));
    return true;
  }

  #offset(node, offset) {
    const range = document.createRange();
    range.setStart(this, 0);
    range.setEnd(node, offset);
    return valueOf(range.cloneContents()).length;
  }
  get selectionStart() { return this.#selection((range) => this.#offset(range.startContainer, range.startOffset)); }
  get selectionEnd() { return this.#selection((range) => this.#offset(range.endContainer, range.endOffset)); }
  #selection(offset) {
    const selection = getSelection();
    return selection.rangeCount && this.contains(selection.anchorNode) ? offset(selection.getRangeAt(0)) : this.value.length;
  }
  setSelectionRange(start, end) {
    const selection = getSelection();
    selection.setBaseAndExtent(...this.#position(start), ...this.#position(end));
  }
  #position(offset) {
    for (const [i, node] of [...this.childNodes].entries()) {
      const { length } = valueOf({ childNodes: [node] });
      if (offset <= length && node.nodeType === Node.TEXT_NODE) return [node, offset + (node.data.startsWith(filler) ? 1 : 0)];
      if (offset < length) return [this, i];
      offset -= length;
    }
    return [this, this.childNodes.length];
  }
  select() { getSelection().selectAllChildren(this); }
}

function valueOf({ childNodes }) {
  return [...childNodes].map((node) => node.dataset?.pipe ?? (node.nodeType === Node.TEXT_NODE ? node.data.replaceAll(filler, "") : node.tagName === "BR" ? "\n" : valueOf(node))).join("");
}

const chipOf = ({ text, key, fallback }) => createNode(h("span.answer", { contenteditable: "false", "data-pipe": text, title: t("Inserted answer. Click to change it.") },
  displayName(fieldByKey(key)), fallback && h("span.or", ` ${t("or")} ${fallback}`)));

// editChip asks for the text that stands in for a missing answer.
async function editChip(element, clicked) {
  const [{ key, fallback = "" }] = pipesIn(clicked.dataset.pipe);
  const index = [...element.querySelectorAll(".answer")].indexOf(clicked);
  const input = createNode(h("input", { type: "text", maxlength: 200, value: fallback }));
  const dialog = showDialog(t("Inserted answer"), [h("p", displayName(fieldByKey(key))), h("label", t("Text if there is no answer"), h("div.fallback"))],
    [["save", t("Save"), { class: "primary" }], ["remove", t("Remove")], ["", t("Cancel")]]);
  document.querySelector("dialog .fallback").replaceWith(input);
  input.focus();
  const choice = await dialog;
  const chip = element.querySelectorAll(".answer")[index]; // a text shows its chips again when it loses the focus
  const text = input.value.replace(/[{}|\n]/g, "").trim();
  if (choice === "save") chip.replaceWith(chipOf({ text: pipe(key, text), key, fallback: text }));
  else if (choice === "remove") chip.remove();
  else return;
  element.focus();
  element.dispatchEvent(new Event("input", { bubbles: true }));
}
const pipe = (key, fallback) => `{{${key}${fallback ? `|${fallback}` : ""}}}`;

customElements.define("rich-text", RichText);

// replaceSelection replaces the selected part of a text and selects a part of the new text.
function replaceSelection(element, replace) {
  const { value, selectionStart: start, selectionEnd: end } = element;
  const [text, from = text.length, to = from] = replace(value.slice(start, end), value.slice(0, start));
  element.focus();
  element.value = value.slice(0, start) + text + value.slice(end);
  element.setSelectionRange(start + from, start + to);
  element.dispatchEvent(new Event("input", { bubbles: true }));
}
const wrap = (mark) => (text) => [`${mark}${text}${mark}`, mark.length, mark.length + text.length];
const formats = {
  bold: wrap("**"),
  italic: wrap("_"),
  link: (text) => [`[${text || t("Link text")}](https://)`, (text || t("Link text")).length + 3, (text || t("Link text")).length + 11],
  list: (text, before) => [(!before || before.endsWith("\n") ? "" : "\n") + (text || t("Item")).split("\n").map((line) => `- ${line}`).join("\n")],
};
export const format = (element, name) => replaceSelection(element, formats[name]);

// textTools is the toolbar of the text that has or had the focus in a card.
export function textTools(member, { isMarkdown, element }) {
  const button = (name, label) => iconButton(name, label, () => format(element(true), name), { class: "k", onmousedown: (e) => e.preventDefault() });
  const { fields, endings } = state.form;
  const answers = (endings.includes(member) ? fields : fields.slice(0, fields.indexOf(member))).filter((f) => kindOf(f).has_answer && f.key);
  if (!isMarkdown && !answers.length) return null;
  return h("div.text-tools.tools", { key: "text-tools", role: "toolbar", "aria-label": t("Text") },
    isMarkdown && [button("bold", t("Bold")), button("italic", t("Italic")), button("link", t("Link")), button("list", t("List"))],
    answers.length > 0 && select("", [["", t("Insert answer")], ...answers.map((f) => [f.key, displayName(f)])], (key) => {
      const target = element();
      replaceSelection(target, () => [pipe(key, "")]);
    }, { class: "insert-answer", "aria-label": t("Insert answer") }));
}

// rendered shows Markdown as on the page. It knows what the toolbar makes, headings and quotes.
const inline = (text) => {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(/\*\*([^*]+)\*\*|_([^_]+)_|\*([^*]+)\*|\[([^\]]+)\]\(([^)\s]+)\)|\{\{[^{}]*\}\}/g)) {
    const [all, strong, em, star, link] = match;
    const [found] = pipesIn(all);
    parts.push(text.slice(at, match.index), strong ? h("strong", inline(strong)) : em || star ? h("em", inline(em ?? star)) : link ? h("u", inline(link))
      : found && fieldByKey(found.key) ? h("span.answer", displayName(fieldByKey(found.key)), found.fallback && h("span.or", ` ${t("or")} ${found.fallback}`)) : all);
    at = match.index + all.length;
  }
  return [...parts, text.slice(at)];
};
const lines = (block) => block.split("\n").flatMap((line, i) => i ? [h("br"), inline(line)] : [inline(line)]);
function blockOf(block) {
  const items = (pattern) => block.split("\n").every((line) => pattern.test(line)) && block.split("\n").map((line) => h("li", inline(line.replace(pattern, ""))));
  const bullets = items(/^\s*[-*+]\s+/), numbers = items(/^\s*\d+[.)]\s+/);
  if (bullets) return h("ul", bullets);
  if (numbers) return h("ol", numbers);
  if (/^#{1,6}\s/.test(block)) return h("p", h("strong", inline(block.replace(/^#+\s+/, ""))));
  return block.startsWith("> ") ? h("blockquote", lines(block.replace(/^> ?/gm, ""))) : h("p", lines(block));
}
export const rendered = (text, props) => h("div.prose.rendered", props, text.split(/\n{2,}/).filter((block) => block.trim()).map((block) => blockOf(block.trim())));

