// The response beside the list. It is the page of that response: its forms are submitted
// here, and what the server answers replaces it.
const pane = () => document.querySelector(".detail-pane");
const rows = () => [...(document.querySelector("[data-live-rows]")?.children ?? [])];
const linkOf = (row) => row?.querySelector("a[data-open]");
const wide = matchMedia("(min-width: 60rem)");
let request = null;
let showMore = async () => false;

const isActive = () => Boolean(pane()) && wide.matches;
const currentRow = () => rows().find((row) => linkOf(row)?.hasAttribute("aria-current"));

// mark highlights the search terms in the response.
function mark(root, terms) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest("script, style, textarea, select, mark, button")) nodes.push(walker.currentNode);
  }
  for (let node of nodes) {
    for (const term of terms) {
      for (let at; node && (at = node.data.toLowerCase().indexOf(term.toLowerCase())) >= 0;) {
        const hit = node.splitText(at);
        node = hit.splitText(term.length);
        const element = document.createElement("mark");
        hit.replaceWith(element);
        element.append(hit);
      }
    }
  }
}

// show takes over the content of a response's page. It returns false if it is another page.
function show(page) {
  const content = page.querySelector("[data-response], article.response");
  if (!content) return false;
  const main = page.querySelector("#main");
  for (const part of main.querySelectorAll(".breadcrumb, .form-head, [data-outside-only]")) part.remove();
  pane().replaceChildren(...main.childNodes);
  mark(pane(), pane().dataset.terms.split("\n").map((term) => term.trim()).filter(Boolean));
  return true;
}

async function load(address, options = {}) {
  request?.abort();
  request = new AbortController();
  const box = pane();
  box.hidden = false;
  box.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, { headers: { Accept: "text/html" }, signal: request.signal, ...options });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (!response.ok || !show(page)) location.assign(response.url);
    box.scrollTop = 0;
    return page;
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  } finally {
    box.removeAttribute("aria-busy");
  }
}

// refreshRow loads the list again and takes over the row of a response that has changed.
async function refreshRow(row) {
  const id = row.querySelector("input[name=response]").value;
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.querySelector(`input[name=response][value="${id}"]`)?.closest("[data-live-rows] > *");
  if (!fresh) return;
  row.className = fresh.className;
  const [link, freshLink] = [linkOf(row), linkOf(fresh)];
  link.replaceChildren(...freshLink.childNodes);
}

async function open(row, focus) {
  const link = linkOf(row);
  if (!link) return;
  for (const other of rows()) linkOf(other)?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  row.scrollIntoView({ block: "nearest" });
  if (focus) link.focus({ preventScroll: true });
  history.replaceState(history.state, "", `#${row.querySelector("input[name=response]").value}`);
  const wasNew = row.classList.contains("is-new");
  await load(link.href);
  if (wasNew) refreshRow(row);
}

async function move(step) {
  const list = rows();
  const at = list.indexOf(currentRow()) + (currentRow() ? step : step > 0 ? 1 : 0);
  if (at >= list.length && await showMore()) return open(rows()[at], true);
  if (list[at]) open(list[at], true);
}

// press presses a button of the response, such as the one that marks it as done.
const press = (selector) => pane().querySelector(selector)?.click();

function onKey(event) {
  const { target, key } = event;
  const isTyping = target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const inList = target === document.body || target.closest?.("[data-live-rows]");
  const actions = {
    j: () => move(1), k: () => move(-1),
    ArrowDown: inList && (() => move(1)), ArrowUp: inList && (() => move(-1)),
    e: () => press("button[name=status][value=done]"), s: () => press("button[name=starred]"),
    x: () => currentRow()?.querySelector("input[name=response]").click(),
    "/": () => document.querySelector("input[name=search]").focus(),
  };
  const action = actions[key];
  if (!action || !isActive()) return;
  event.preventDefault();
  action();
}

function onClick(event) {
  const link = event.target.closest("a[data-open]");
  if (!link || !isActive() || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  open(link.closest("[data-live-rows] > *"), false);
}

// Links to other responses in the pane, and its forms, stay in the pane.
function onPaneClick(event) {
  const link = event.target.closest("a[rel=prev], a[rel=next]");
  if (!link) return;
  event.preventDefault();
  load(link.href);
}

async function onSubmit(event) {
  const { target: form, submitter } = event;
  if (!pane()?.contains(form) || form.method !== "post" || submitter?.formTarget) return;
  event.preventDefault();
  const row = currentRow();
  const body = new FormData(form, submitter);
  const address = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  const isFile = form.enctype === "multipart/form-data";
  await load(address, { method: "POST", body: isFile ? body : new URLSearchParams(body) });
  if (row) refreshRow(row);
}

export function initDetail(more) {
  showMore = more;
  if (!pane()) return;
  pane().hidden = false;
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onClick);
  pane().addEventListener("click", onPaneClick);
  document.addEventListener("submit", onSubmit);
  const id = location.hash.slice(1);
  const start = rows().find((row) => row.querySelector("input[name=response]").value === id);
  if (start && isActive()) open(start, false);
}
