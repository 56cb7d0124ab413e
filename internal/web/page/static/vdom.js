// A view is a function of the draft: h says what should be there, mount makes it so
// and leaves alone what is there already, with its focus.

export const data = JSON.parse(document.getElementById("data").textContent);

// say puts an English text into the owner's language.
export const quote = (text) => say("“") + text + say("”");
export const say = (text, values = {}) => (data.words?.[text] ?? text).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

// h("p.muted", { id }, "text"): properties may be left out; what is falsy is not there.
export function h(name, ...kids) {
  const [tag, ...classes] = name.split(".");
  const given = kids[0]?.constructor === Object && !kids[0].tag ? kids.shift() : {};
  const props = { ...classes[0] && { class: classes.join(" ") }, ...tag === "button" && given.value === undefined && { type: "button" }, ...given };
  return { tag, props, kids: kids.flat(Infinity).filter((kid) => kid || kid === 0).map((kid) => kid.tag ? kid : `${kid}`) };
}

const sprite = document.querySelector(".icon use")?.getAttribute("href").split("#")[0] ?? "/static/icons.svg";
export const icon = (name) => h("svg.icon", { "aria-hidden": "true" }, h("use", { href: `${sprite}#${name}` }));

export const tool = (name, label, onclick, props) => h("button.tool", { "aria-label": label, title: label, onclick, ...props }, icon(name));
export const small = (name, label, onclick, props) => h("button.small", { onclick, ...props }, name && icon(name), label);
export const select = (value, choices, set, props) => h("select", { value: value ?? "", onchange: (e) => set(e.target.value), ...props },
  choices.map(([v, label]) => h("option", { key: v, value: `${v}` }, label)));

let gentle = false;
const own = ["checked", "disabled"]; // properties, where others are attributes
const nameOf = (v) => v.tag ? `${v.tag} ${v.props.key ?? ""}` : "";

function set(el, name, value) {
  if (name.startsWith("on")) el[name] = value;
  else if (own.includes(name)) el[name] = Boolean(value);
  else if (name === "value" && el.tagName !== "OPTION" && el.tagName !== "BUTTON") setValue(el, `${value ?? ""}`);
  else if (value === undefined || value === null || value === false) el.removeAttribute(name);
  else if (name !== "key") el.setAttribute(name, value === true ? "" : value);
}

// A number is not rewritten under the fingers of who types it: 1.0 may become 1.05.
function setValue(el, text) {
  const typing = el === document.activeElement && (gentle || el.type === "number" && el.value && Number(el.value) === Number(text));
  if (el.value !== text && !typing) el.value = text;
}

export function make(v) {
  if (!v.tag) return document.createTextNode(v);
  const el = ["svg", "use"].includes(v.tag) ? document.createElementNS("http://www.w3.org/2000/svg", v.tag) : document.createElement(v.tag);
  patch(el, { props: {}, kids: [] }, v);
  return el;
}

function patch(el, was, v) {
  if (was === v) return;
  for (const name in was.props) if (!(name in v.props)) set(el, name, null);
  fill(el, was.kids, v.kids); // before a value, which may be one of them
  for (const [name, value] of Object.entries(v.props)) if (was.props[name] !== value || name === "value" || own.includes(name)) set(el, name, value);
}

function fill(el, was, kids) {
  const olds = Map.groupBy(was.map((v, i) => [v, el.childNodes[i]]), ([v]) => nameOf(v));
  const nodes = kids.map((v) => {
    const [old, node] = olds.get(nameOf(v))?.shift() ?? [];
    if (!node) return make(v);
    if (v.tag) patch(node, old, v);
    else if (node.data !== v) node.data = v;
    return node;
  });
  for (const rest of olds.values()) for (const [, node] of rest) node.remove();
  nodes.forEach((node, i) => { if (el.childNodes[i] !== node) el.insertBefore(node, el.childNodes[i] ?? null); });
}

// mount returns a function that draws into an element; gently leaves what is being typed.
export function mount(el) {
  let was = [];
  return (kids, gently = false) => {
    const active = document.activeElement;
    gentle = gently;
    ({ kids } = h("", kids));
    fill(el, was, kids);
    was = kids;
    gentle = false;
    if (active !== document.activeElement && el.contains(active)) active.focus({ preventScroll: true }); // moving took it
    // Where the browser does not let a text grow with its words, this does.
    if (!CSS.supports("field-sizing", "content")) for (const text of el.querySelectorAll("textarea")) {
      text.style.height = "auto";
      text.style.height = `${text.scrollHeight + 2}px`;
    }
  };
}

// dialog promises the value of the button that was chosen, or nothing.
export function dialog(title, body, buttons) {
  return new Promise((resolve) => {
    const box = make(h("dialog", { "aria-labelledby": "asked" }, h("form", { method: "dialog" },
      h("h2", { id: "asked" }, title), body, h("div.row", buttons.map(([value, label, props]) => h("button", { value, ...props }, label))))));
    box.onclose = () => { resolve(box.returnValue); box.remove(); };
    document.body.append(box);
    box.showModal();
  });
}

const live = document.body.appendChild(make(h("p.visually-hidden", { role: "status" })));
export const announce = (text) => { live.textContent = text; };

export const wrong = (message, id) => h("p.wrong", { id }, icon("warn"), h("span", message[0].toUpperCase(), message.slice(1).replace(/([^.])$/, "$1.")));
