import "./live.js";
import "./responses-filter.js";

// The summary. Without this script the same page works with links and buttons.
const find = (selector, root = document) => root.querySelector(selector);
const parse = (text) => new DOMParser().parseFromString(text, "text/html");

// countAll lets the server count all responses. It tells how far it is, and sends the page
// at the end. Closing the connection stops it.
function countAll() {
  const scan = find("[data-scan]");
  if (!scan) return;
  const [link, stop] = [find("a", scan), find("[data-stop]", scan)];
  const source = new EventSource(`${scan.dataset.scan}&progress=1`);
  link.hidden = true;
  stop.hidden = false;
  const end = () => {
    source.close();
    link.hidden = false;
    stop.hidden = true;
  };
  stop.addEventListener("click", end, { once: true });
  addEventListener("pagehide", end, { once: true });
  source.addEventListener("error", end);
  source.addEventListener("progress", ({ data }) => {
    find("progress", scan).value = data;
    find("[data-percent]", scan).textContent = `${data} %`;
  });
  source.addEventListener("page", ({ data }) => {
    source.close();
    const fresh = find("[data-summary]", parse(JSON.parse(data)));
    if (fresh) find("[data-summary]").replaceChildren(...fresh.childNodes);
  });
}

// search shows the answers that contain what is being typed.
let typed = 0;
async function search(form) {
  const address = `${form.action.split("#")[0]}?${new URLSearchParams(new FormData(form))}`;
  const number = ++typed;
  const response = await fetch(address, { headers: { Accept: "text/html" } });
  if (!response.ok || response.redirected || number !== typed) return;
  const list = `[data-found="${CSS.escape(form.elements.in.value)}"]`;
  const fresh = find(list, parse(await response.text()));
  if (fresh && number === typed) find(list).replaceChildren(...fresh.childNodes);
}

let timer;
document.addEventListener("input", ({ target }) => {
  if (target.name !== "find") return;
  clearTimeout(timer);
  timer = setTimeout(() => search(target.form), 300);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches(".find")) return;
  event.preventDefault();
  clearTimeout(timer);
  search(event.target);
});
countAll();
