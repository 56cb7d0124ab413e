import { isTyping, openResponse } from "./response.js";

// The response beside the list. response.js submits its forms.
const pane = () => document.querySelector(".detail-pane");
const rows = () => [...(document.querySelector("[data-live-rows]")?.children ?? [])];
const linkOf = (row) => row?.querySelector("a[data-open]");
const idOf = (row) => row.querySelector("input[name=response]").value;
const wide = matchMedia("(min-width: 60rem)");
let request = null;
let isOpened = false; // the user opened a response
let showMore = async () => false;

const isActive = () => Boolean(pane()) && wide.matches;
const currentRow = () => rows().find((row) => linkOf(row)?.hasAttribute("aria-current"));

// highlight marks the search terms in the answers.
function highlight() {
  const terms = pane().dataset.terms.split("\n").map((term) => term.trim().toLowerCase()).filter(Boolean);
  const answers = pane().querySelector(".answers");
  if (!answers || terms.length === 0) return;
  const walker = document.createTreeWalker(answers, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) if (walker.currentNode.parentElement.closest("dd")) nodes.push(walker.currentNode);
  for (let node of nodes) {
    for (let at = 0; at < node.data.length;) {
      const term = terms.find((text) => node.data.toLowerCase().startsWith(text, at));
      if (!term) {
        at++;
        continue;
      }
      const hit = node.splitText(at);
      node = hit.splitText(Math.min(term.length, hit.data.length));
      const mark = document.createElement("mark");
      hit.replaceWith(mark);
      mark.append(hit);
      at = 0;
    }
  }
}

function markRow(row) {
  for (const other of rows()) linkOf(other)?.removeAttribute("aria-current");
  linkOf(row)?.setAttribute("aria-current", "true");
}

// refreshRow takes over the row of a response that has changed from a fresh list.
async function refreshRow(id) {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!response.ok || response.redirected) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const same = (row) => idOf(row) === id;
  const fresh = [...(page.querySelector("[data-live-rows]")?.children ?? [])].find(same);
  const row = rows().find(same);
  if (!row || !fresh) return;
  row.className = fresh.className;
  linkOf(row).replaceChildren(...linkOf(fresh).childNodes);
}

// open shows a response beside the list.
async function open(row, focus) {
  const link = linkOf(row);
  if (!link) return;
  isOpened = true;
  request?.abort();
  request = new AbortController();
  markRow(row);
  if (focus) link.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  history.replaceState(history.state, "", `#${idOf(row)}`);
  const box = pane();
  box.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(`${link.pathname}/detail`, { signal: request.signal });
    if (!response.ok || response.redirected) return location.assign(link.href);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    box.replaceChildren(...page.body.childNodes);
    box.scrollTop = 0;
    highlight();
    openResponse(box.querySelector("[data-response]"));
  } catch (error) {
    if (error.name !== "AbortError") throw error;
    return;
  }
  box.removeAttribute("aria-busy");
}

// move goes to the next or the previous response. The first key opens the one that is shown.
async function move(step) {
  const list = rows();
  const current = currentRow();
  const at = isOpened ? list.indexOf(current) + step : Math.max(list.indexOf(current), 0);
  if (at >= list.length && await showMore()) return open(rows()[at], true);
  if (list[at]) open(list[at], true);
}

const press = (selector) => pane().querySelector(selector)?.click();

function onKey(event) {
  if (isTyping(event) && event.target.type !== "checkbox" || !isActive()) return;
  const inList = event.target === document.body || event.target.closest("[data-live-rows]");
  const actions = {
    j: () => move(1), k: () => move(-1),
    ArrowDown: inList && (() => move(1)), ArrowUp: inList && (() => move(-1)),
    e: () => press("[name=status][value=done]"), s: () => press("[name=star]"),
    x: () => currentRow()?.querySelector("input[name=response]").click(),
    "/": () => document.querySelector("input[name=search]").focus(),
  };
  const action = actions[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}

function onClick(event) {
  const link = event.target.closest("a[data-open]");
  if (!link || !isActive() || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link.closest("[data-live-rows] > *"), false);
}

export function initDetail(more) {
  showMore = more;
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onClick);
  document.addEventListener("response-changed", ({ detail }) => {
    if (pane()) highlight();
    refreshRow(detail.id);
  });
  if (!pane()) return;
  const wanted = rows().find((row) => idOf(row) === location.hash.slice(1));
  if (wanted && isActive()) return open(wanted, false);
  // The first response is shown, and not marked as read until the user opens it.
  markRow(rows()[0]);
  highlight();
  const print = pane().querySelector("[data-print]");
  if (!print) return;
  print.hidden = false;
  print.onclick = () => window.print();
}
