// One response: its marks and notes change without leaving the page.

// post sends a form of the response. It returns a message if that failed.
async function post(action, body) {
  const answer = await fetch(action, { method: "POST", body: new URLSearchParams(body), headers: { Accept: "application/json" } });
  if (answer.ok) return "";
  return (await answer.json().catch(() => ({}))).message ?? answer.statusText;
}

// isSame finds a control again in the new state of the response. A star has another value then.
const isSame = (a, b) => a.name === b.name && a.form?.className === b.form?.className && (a.value === b.value || a.name === "star" || !a.name);

// reloadResponse replaces a response by its current state, and keeps the focus where it was.
export async function reloadResponse(detail) {
  const answer = await fetch(detail.dataset.address);
  if (!answer.ok) return location.reload();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-response]");
  const focused = detail.contains(document.activeElement) && document.activeElement;
  detail.replaceWith(fresh);
  prepare(fresh);
  if (focused) ([...fresh.querySelectorAll(focused.tagName)].find((control) => isSame(control, focused)) ?? fresh.querySelector("h2")).focus();
  fresh.dispatchEvent(new CustomEvent("response-changed", { bubbles: true, detail: { id: fresh.dataset.response, status: statusOf(fresh) } }));
}

const statusOf = (detail) => detail.querySelector("[name=status][aria-pressed=true]")?.value;

function showProblem(detail, message) {
  const problem = detail.querySelector("[data-problem]");
  problem.hidden = false;
  problem.querySelector("span").textContent = message;
}

async function submitQuietly(event) {
  const form = event.target.closest("[data-response] form[data-quiet]");
  if (!form) return;
  event.preventDefault();
  event.stopImmediatePropagation(); // the form can be sent again
  const detail = form.closest("[data-response]");
  const message = await post(form.action, new FormData(form, event.submitter)).catch((error) => error.message);
  if (message) showProblem(detail, message);
  else await reloadResponse(detail);
}

// openResponse notes that a person sees the response. It is read from then on.
export async function openResponse(detail) {
  prepare(detail);
  if (!detail.hasAttribute("data-new")) return;
  if (document.prerendering) await new Promise((resolve) => { document.addEventListener("prerenderingchange", resolve, { once: true }); });
  if (document.hidden) await new Promise((resolve) => { document.addEventListener("visibilitychange", resolve, { once: true }); });
  if (!detail.isConnected || await post(detail.dataset.mark, { response: detail.dataset.response, opened: "1" }).catch(() => "offline")) return;
  detail.removeAttribute("data-new");
  for (const button of detail.querySelectorAll("[name=status]")) button.ariaPressed = button.value === "read";
  detail.dispatchEvent(new CustomEvent("response-changed", { bubbles: true, detail: { id: detail.dataset.response, status: "read" } }));
}

function prepare(detail) {
  const print = detail.querySelector("[data-print]");
  print.hidden = false;
  print.onclick = () => window.print();
}

// isTyping reports whether a key belongs to a control.
export const isTyping = ({ target, ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey || target.closest?.("input, textarea, select, [contenteditable]");

document.addEventListener("submit", submitQuietly, true);

// On the page of one response: J and K go to others, E marks it as done. The list has its own.
const alone = document.querySelector("main > [data-response]");
if (alone) {
  openResponse(alone);
  document.addEventListener("keydown", (event) => {
    if (isTyping(event)) return;
    const detail = document.querySelector("main > [data-response]");
    if (event.key === "e") detail.querySelector("[name=status][value=done]").click();
    else document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`)?.click();
  });
}
