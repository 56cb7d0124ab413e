// The controls of questions on the canvas.

import { h, icon, iconButton, t } from "./vdom.js";
import { hasProperty, kindOf, state, updateMember } from "./builder-state.js";

// Parts of the canvas. It loads this module, so this module cannot import it.
let optionInput, addOptionButton, textInput, kindSprite, focus;
export const setUp = (parts) => { ({ optionInput, addOptionButton, textInput, kindSprite, focus } = parts); };

// The controls are those of the public page, but they do nothing. A kind names its control,
// or its properties determine it.
const still = (name, props, ...children) => h(name, { inert: true, ...props }, children);
const input = (placeholder, props) => still("input", { placeholder, ...props });
const mark = (type) => still("input", { type });
const maxShownOptions = 20; // the panel shows all
const shown = (f, list) => f[list]?.slice(0, maxShownOptions) ?? [];
const optionEditor = (f, list, option) => h("span", optionInput(f._uid, list, option, "canvas", focus));
const removeButton = (f, list, option) => f[list].length > 1 && state.selectedId === f._uid
  && iconButton("close", t("Remove"), () => updateMember(f._uid, (m) => { m[list] = m[list].filter((o) => o._uid !== option._uid); }));
const addOption = (f, list) => h("div.choice.add-option", { key: `add ${list}` }, addOptionButton(f._uid, list, "canvas", focus, f[list]?.[maxShownOptions - 1]?._uid));
const more = (f, list) => f[list]?.length > maxShownOptions && h("p.muted", t("and {n} more", { n: f[list].length - maxShownOptions }));
const optionCards = (f, type) => [
  shown(f, "options").map((o, i) => h("div.choice", { key: o._uid }, type ? mark(type) : h("span.marker", { "aria-hidden": "true" }, `${i + 1}`), optionEditor(f, "options", o), o.price && h("span.price", `${o.price} ${f.unit ?? ""}`), removeButton(f, "options", o))),
  more(f, "options"), f.other && h("div.choice", mark(type), h("span", t("Other"))), addOption(f, "options"),
];
const buttons = (texts, className = "") => still(`span.radio-buttons${className}`, {}, texts.map((text) => h("span.radio-button", h("span", text))));
const scaleLabels = (low, high) => (low || high) && still("span.scale-labels", {}, h("span", low), h("span", high));
const steps = (min, max) => Array.from({ length: Math.min(11, max - min + 1) }, (_, i) => min + i);
const parts = (className, ...labels) => still(`span.${className}`, {}, labels.map((label) => h("label", label, h("input"))));
const date = () => parts("field-grid.date-grid", t("Day"), t("Month"), t("Year"));

const sketches = {
  textarea: (f) => still("textarea", { rows: 3, placeholder: f.placeholder }),
  yes_no: () => buttons([t("Yes"), t("No")]),
  checkbox: (f) => h("div.choice", mark("checkbox"), textInput(f)),
  stars: (f) => h("span.scale", buttons(steps(1, f.max ?? 5).map(() => "★"), ".stars"), scaleLabels(f.low, f.high)),
  scale: (f) => h("span.scale", buttons(steps(f.min ?? 0, f.max ?? 10)), scaleLabels(f.low && `${f.min ?? 0}: ${f.low}`, f.high && `${f.max ?? 10}: ${f.high}`)),
  slider: (f) => [scaleLabels(f.low || `${f.min ?? 0}`, `${f.high || (f.max ?? 100)} ${f.unit ?? ""}`), still("input", { type: "range" })],
  name: () => parts("field-grid", t("First name"), t("Last name")),
  address: () => parts("field-grid", t("Street address"), t("Address line 2"), t("Town or city"), t("Postal code")),
  country: (f) => still("select", {}, h("option", f.placeholder || t("Select…"))),
  hidden: (f) => h("p.muted", t("Set by the link"), " ", h("code", `?${f.key}=…`)),
  matrix: (f) => h("div.scroll-x", h("table.matrix",
    h("tr", h("td"), shown(f, "options").map((o) => h("th", { key: o._uid }, optionEditor(f, "options", o))), h("td", addOption(f, "options"))),
    shown(f, "rows").map((row) => h("tr", { key: row._uid }, h("th", optionEditor(f, "rows", row)), shown(f, "options").map(() => h("td", mark(f.several ? "checkbox" : "radio"))), h("td"))),
    h("tr", { key: "add" }, h("th", addOption(f, "rows"))))),
  file: () => still("div.drop", {}, icon("upload", kindSprite), t("Choose a file")),
  signature: () => still("div.drop.pad", {}, t("Signature")),
  pictures: (f) => h("div.pictures", shown(f, "options").map((o) => h("div.picture", { key: o._uid },
    o.image ? h("img", { src: `/pictures/${o.image}`, alt: "" }) : h("div.no-picture", icon("picture", kindSprite)), optionEditor(f, "options", o), removeButton(f, "options", o))), more(f, "options"), addOption(f, "options")),
  ranking: (f) => optionCards(f, ""),
  dropdown: (f) => [still("select", {}, h("option", f.placeholder || t("Select…"))), optionCards(f, "")],
};
export function controlOf(f) {
  const kind = kindOf(f);
  if (sketches[kind.sketch]) return sketches[kind.sketch](f);
  if (hasProperty(kind, "options")) return optionCards(f, kind.type === "list" ? "checkbox" : "radio");
  if (hasProperty(kind, "expression")) return h("p.formula", f.total ? f.total === "points" ? t("Sum of points") : t("Sum of prices") : h("code", f.expression), " ", f.unit);
  if (hasProperty(kind, "text")) return textInput(f);
  if (kind.type === "date" && kind.input !== "time") return date();
  return h("span.with-unit", input(f.placeholder), f.unit && h("span.muted", f.unit));
}
