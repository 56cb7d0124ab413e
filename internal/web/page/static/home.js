// The list of forms follows what is typed and chosen, without reloading the page. The server
// renders it, so that it is the same without script.
const form = document.querySelector("#search");
const area = document.querySelector("#forms");
const found = document.querySelector("#found");
const colors = new CSSStyleSheet();
const pause = 150;
let timer = 0;
let loading = null;

function address() {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim() !== ""));
  return query.size > 0 ? `/?${query}` : "/";
}

async function update() {
  const to = address();
  loading?.abort();
  loading = new AbortController();
  try {
    const response = await fetch(to, { headers: { Accept: "text/html" }, signal: loading.signal });
    if (!response.ok || response.redirected) return location.assign(to);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector("#forms");
    if (!fresh) return location.assign(to);
    // The colors of the miniatures belong to the forms that are shown.
    colors.replaceSync(page.querySelector("style")?.textContent ?? "");
    area.replaceChildren(...fresh.childNodes);
    history.replaceState(null, "", to);
    const count = area.querySelectorAll(".forms > li").length;
    const { none, one, many } = found.dataset;
    found.textContent = count === 0 ? none : count === 1 ? one : many.replace("{n}", count);
  } catch (problem) {
    if (problem.name !== "AbortError") location.assign(to);
  }
}

if (form) {
  document.adoptedStyleSheets.push(colors);
  form.querySelector("button").hidden = true;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, pause);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    update();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    form.elements.search.select();
  });
}
