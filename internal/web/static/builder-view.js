// What every part of the builder draws with. A view is a function of the draft: h
// says what should be there, draw makes it so and leaves alone what is there
// already, with its focus.

export const data = JSON.parse(document.getElementById("data").textContent);
const words = data.words ?? {};

// say puts an English text into the owner's language.
export const say = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

export const h = (tag, props, ...kids) => ({
  tag, props: props ?? {}, kids: kids.flat(Infinity).filter((kid) => kid || kid === 0).map((kid) => typeof kid === "number" ? `${kid}` : kid),
});

const sprite = document.querySelector(".brand use")?.getAttribute("href").split("#")[0] ?? "/static/icons.svg";
export const icon = (name) => h("svg", { class: "icon", "aria-hidden": "true" }, h("use", { href: `${sprite}#${name}` }));

// tool is a button that is an icon, with its name for those who do not see it.
export const tool = (name, label, props) => h("button", { type: "button", class: "tool", "aria-label": label, title: label, ...props }, icon(name));

const own = new Set(["checked", "indeterminate", "disabled", "readOnly"]);

function set(el, name, value) {
  if (name === "key" || name === "value") return;
  if (name.startsWith("on")) el[name] = value ?? null;
  else if (own.has(name)) { if (el[name] !== Boolean(value)) el[name] = Boolean(value); }
  else if (value === undefined || value === null || value === false) el.removeAttribute(name);
  else el.setAttribute(name, value === true ? "" : value);
}

// A number is not rewritten under the fingers of who types it: 1.0 may become 1.05.
function setValue(el, value) {
  const text = `${value ?? ""}`;
  const typing = el === document.activeElement;
  if (el.value === text || typing && (gentle || el.type === "number" && el.value !== "" && Number(el.value) === Number(text))) return;
  el.value = text;
}

let gentle = false;
const nameOf = (v) => typeof v === "object" ? `${v.tag} ${v.props.key ?? ""}` : "text";

export function make(v) {
  if (typeof v !== "object") return document.createTextNode(v);
  const el = v.tag === "svg" || v.tag === "use" ? document.createElementNS("http://www.w3.org/2000/svg", v.tag) : document.createElement(v.tag);
  patch(el, { props: {}, kids: [] }, v);
  return el;
}

function patch(el, was, v) {
  if (was === v) return;
  for (const name in was.props) if (!(name in v.props)) set(el, name, undefined);
  for (const name in v.props) if (was.props[name] !== v.props[name] || own.has(name)) set(el, name, v.props[name]);
  fill(el, was.kids, v.kids);
  if ("value" in v.props) setValue(el, v.props.value);
}

function fill(el, was, kids) {
  const olds = new Map();
  [...el.childNodes].slice(0, was.length).forEach((node, i) => {
    const name = nameOf(was[i]);
    if (!olds.has(name)) olds.set(name, []);
    olds.get(name).push([was[i], node]);
  });
  const nodes = kids.map((v) => {
    const [old, node] = olds.get(nameOf(v))?.shift() ?? [];
    if (!node) return make(v);
    if (typeof v === "object") patch(node, old, v);
    else if (node.data !== v) node.data = v;
    return node;
  });
  for (const rest of olds.values()) for (const [, node] of rest) node.remove();
  nodes.forEach((node, i) => { if (el.childNodes[i] !== node) el.insertBefore(node, el.childNodes[i] ?? null); });
}

// Where the browser does not let a text field grow with its text, this does.
const grows = CSS.supports("field-sizing", "content");
export function grow(root) {
  if (grows) return;
  for (const el of root.querySelectorAll("textarea")) {
    el.style.height = "auto";
    if (el.scrollHeight) el.style.height = `${el.scrollHeight + 2}px`;
  }
}

// mount returns a function that draws into an element. Gently means that what is
// being typed stays, as when the server has filled something in.
export function mount(el) {
  let was = [];
  return (kids, gently = false) => {
    const active = document.activeElement;
    const range = "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
    gentle = gently;
    kids = [kids].flat(Infinity).filter(Boolean);
    fill(el, was, kids);
    was = kids;
    gentle = false;
    if (active !== document.activeElement && active.isConnected && el.contains(active)) {
      active.focus({ preventScroll: true });
      if (range?.[0] != null) active.setSelectionRange(...range);
    }
    grow(el);
  };
}

// dialog asks something and promises the value of the button that was chosen, or
// nothing. The first button is the one that the person probably wants.
export function dialog(title, body, buttons) {
  return new Promise((resolve) => {
    const box = make(h("dialog", { class: "ask", "aria-labelledby": "ask-title" },
      h("form", { method: "dialog" },
        h("h2", { id: "ask-title" }, title), body,
        h("div", { class: "row" }, buttons.map(([value, label, props]) => h("button", { value, ...props }, label))))));
    box.onclose = () => { resolve(box.returnValue); box.remove(); };
    document.body.append(box);
    box.showModal();
  });
}

const live = document.body.appendChild(make(h("p", { class: "unseen", role: "status", "aria-live": "polite" })));
export function announce(text) { live.textContent = text; }

export const sentenceOf = (text) => text && text[0].toUpperCase() + text.slice(1).replace(/([^.])$/, "$1.");
