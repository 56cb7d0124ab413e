// A small virtual DOM. h describes elements; mount renders them into an element and
// patches only what changed, so that the focus and the selection stay.

export const data = JSON.parse(document.getElementById("data").textContent);

// t translates an English text into the owner's language.
export const t = (text, values = {}) => (data.translations?.[text] ?? text).replace(/\{(\w+)\}/g, (match, name) => values[name] ?? match);
export const quote = (text) => t("“") + text + t("”");

// h("p.muted", { id }, "text") returns a virtual node. Props are optional; falsy children
// are left out.
export function h(name, ...children) {
  const [tag, ...classes] = name.split(".");
  const hasProps = children[0]?.constructor === Object && !children[0].tag;
  const ownProps = hasProps ? children.shift() : {};
  const props = { ...classes[0] && { class: classes.join(" ") }, ...tag === "button" && ownProps.value === undefined && { type: "button" }, ...ownProps };
  return { tag, props, children: children.flat(Infinity).filter((child) => child || child === 0).map((child) => child.tag ? child : `${child}`) };
}

const sprite = document.querySelector(".icon use")?.getAttribute("href").split("#")[0] ?? "/static/icons.svg";
export const icon = (name, file = sprite) => h("svg.icon", { "aria-hidden": "true" }, h("use", { href: `${file}#${name}` }));

export const iconButton = (name, label, onclick, props) => h("button.icon-button", { "aria-label": label, title: label, onclick, ...props }, icon(name));
export const linkButton = (name, label, onclick, props) => h("button.link-button", { onclick, ...props }, name && icon(name), label);
export const select = (value, options, onSelect, props) => h("select", { value: value ?? "", onchange: (e) => onSelect(e.target.value), ...props },
  options.map(([v, label]) => h("option", { key: v, value: `${v}` }, label)));

let keepTyped = false;
const booleanProps = ["checked", "disabled"]; // set as properties, not as attributes
const keyOf = (vnode) => vnode.tag ? `${vnode.tag} ${vnode.props.key ?? ""}` : "";

function setProp(el, name, value) {
  if (name.startsWith("on")) el[name] = value;
  else if (booleanProps.includes(name)) el[name] = Boolean(value);
  else if (name === "value" && el.tagName !== "OPTION" && el.tagName !== "BUTTON") setValue(el, `${value ?? ""}`);
  else if (value === undefined || value === null || value === false) el.removeAttribute(name);
  else if (name !== "key") el.setAttribute(name, value === true ? "" : value);
}

// A number is not rewritten while the user types it: 1.0 may become 1.05.
function setValue(el, text) {
  const isTyping = el === document.activeElement && (keepTyped || el.type === "number" && el.value && Number(el.value) === Number(text));
  if (el.value !== text && !isTyping) el.value = text;
}

export function createNode(vnode) {
  if (!vnode.tag) return document.createTextNode(vnode);
  const el = ["svg", "use"].includes(vnode.tag) ? document.createElementNS("http://www.w3.org/2000/svg", vnode.tag) : document.createElement(vnode.tag);
  patch(el, { props: {}, children: [] }, vnode);
  return el;
}

function patch(el, old, vnode) {
  if (old === vnode) return;
  for (const name in old.props) if (!(name in vnode.props)) setProp(el, name, null);
  patchChildren(el, old.children, vnode.children); // before the value, which may be a new option
  for (const [name, value] of Object.entries(vnode.props)) {
    if (old.props[name] !== value || name === "value" || booleanProps.includes(name)) setProp(el, name, value);
  }
}

function patchChildren(el, oldChildren, children) {
  const oldByKey = Map.groupBy(oldChildren.map((old, i) => [old, el.childNodes[i]]), ([old]) => keyOf(old));
  const nodes = children.map((vnode) => {
    const [old, node] = oldByKey.get(keyOf(vnode))?.shift() ?? [];
    if (!node) return createNode(vnode);
    if (vnode.tag) patch(node, old, vnode);
    else if (node.data !== vnode) node.data = vnode;
    return node;
  });
  for (const unused of oldByKey.values()) for (const [, node] of unused) node.remove();
  nodes.forEach((node, i) => { if (el.childNodes[i] !== node) el.insertBefore(node, el.childNodes[i] ?? null); });
}

// mount returns a function that renders children into an element. With keepFocused, the
// focused input keeps its text.
export function mount(el) {
  let rendered = [];
  return (children, keepFocused = false) => {
    const active = document.activeElement;
    keepTyped = keepFocused;
    ({ children } = h("", children));
    patchChildren(el, rendered, children);
    rendered = children;
    keepTyped = false;
    if (active !== document.activeElement && el.contains(active)) active.focus({ preventScroll: true }); // moving an element blurs it
    // Browsers without field-sizing do not fit text areas to their text.
    if (!CSS.supports("field-sizing", "content")) for (const area of el.querySelectorAll("textarea")) {
      area.style.height = "auto";
      area.style.height = `${area.scrollHeight + 2}px`;
    }
  };
}

// showDialog resolves to the value of the pressed button, or to "" if it was dismissed.
export function showDialog(title, body, buttons) {
  return new Promise((resolve) => {
    const dialog = createNode(h("dialog", { "aria-labelledby": "dialog-title" }, h("form", { method: "dialog" },
      h("h2", { id: "dialog-title" }, title), body, h("div.row", buttons.map(([value, label, props]) => h("button", { value, ...props }, label))))));
    dialog.onclose = () => { resolve(dialog.returnValue); dialog.remove(); };
    document.body.append(dialog);
    dialog.showModal();
  });
}

const liveRegion = document.body.appendChild(createNode(h("p.visually-hidden", { role: "status" })));
export const announce = (text) => { liveRegion.textContent = text; };

// problemText shows a server message as a sentence.
export const problemText = (message, id) => h("p.problem-text", { id },
  icon("warn"), h("span", message[0].toUpperCase(), message.slice(1).replace(/([^.])$/, "$1.")));
