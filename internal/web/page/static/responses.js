import "./live.js";
import { continueScan } from "./responses-scan.js";
import { initDetail } from "./responses-detail.js";
import "./responses-filter.js";

// The list of responses. Without this script the same page works with links and buttons.
const find = (selector) => document.querySelector(selector);
const rows = () => find("[data-live-rows]");

function countSelected() {
  const count = document.querySelectorAll("input[name=response]:checked").length;
  for (const label of document.querySelectorAll("[data-count]")) label.textContent = label.dataset.count.replace("{n}", count);
}

// prepare also runs when the first response replaces the empty state.
function prepare() {
  for (const hidden of document.querySelectorAll("[data-select-all], [data-clear], .keys")) hidden.hidden = false;
  for (const button of document.querySelectorAll(".order-form button")) button.hidden = true;
  countSelected();
}

// moveColumn changes the order in place; it is stored with "Apply".
function moveColumn(event) {
  const button = event.target.closest("button[name=move]");
  if (!button) return;
  const item = button.closest("li");
  const other = button.value.startsWith("up:") ? item.previousElementSibling : item.nextElementSibling;
  event.preventDefault();
  if (!other) return;
  if (button.value.startsWith("up:")) other.before(item);
  else other.after(item);
  button.focus();
}

// showMore adds the next page to the list instead of replacing it.
export async function showMore() {
  const link = find(".panes [rel=next]");
  if (!link) return false;
  const response = await fetch(link.href, { headers: { Accept: "text/html" } });
  if (!response.ok || response.redirected) return false;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const more = page.querySelector("[data-live-rows]");
  if (!more) return false;
  rows().dataset.more = "";
  rows().append(...more.children);
  const next = page.querySelector("[rel=next]");
  if (next) link.href = next.getAttribute("href");
  else link.remove();
  return true;
}

prepare();
document.addEventListener("live-replaced", prepare);
document.addEventListener("change", ({ target }) => {
  if (target.name === "sort") target.form.requestSubmit();
  else if (target.closest("[data-select-all]")) {
    for (const checkbox of document.querySelectorAll("input[name=response]")) checkbox.checked = target.checked;
  }
  countSelected();
});
document.addEventListener("reset", () => setTimeout(countSelected));
document.addEventListener("click", (event) => {
  moveColumn(event);
  const next = event.target.closest(".panes [rel=next]");
  if (next && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    showMore();
  }
});
initDetail(showMore);
continueScan();
