// Shows new responses without reloading. The server only tells that something changed. The
// page then loads itself again and takes over what differs, so that filters, columns and
// translations stay the server's business.
const stream = document.querySelector("[data-live]");
const minInterval = 1000;
let source = null;
let running = false;
let again = false;

const parts = (root) => new Map([...root.querySelectorAll("[data-live-part]")].map((part) => [part.dataset.livePart, part]));
const hasFocus = (element) => element !== document.activeElement && element.contains(document.activeElement);
const rowsOf = (root) => root.querySelector("[data-live-rows]");
const idOf = (row) => row.querySelector("input[name=response]").value;

// replace takes over the content of a part. A part in which the user works is left alone
// until the next change.
function replace(part, fresh) {
  if (hasFocus(part) || part.innerHTML === fresh.innerHTML) return;
  const open = [...part.querySelectorAll("details")].map((details) => details.open);
  part.replaceChildren(...fresh.childNodes);
  part.querySelectorAll("details").forEach((details, i) => { details.open = open[i] ?? false; });
  part.dispatchEvent(new CustomEvent("live-replaced", { bubbles: true }));
}

// mergeRows adds the rows that are not in the table yet, without touching the others, and
// returns how many responses are new. Rows that are no longer on this page disappear
// unless the user has selected them or works in them.
function mergeRows(body, fresh) {
  const known = new Map([...body.children].map((row) => [idOf(row), row]));
  const newest = [...known.keys()].sort().at(-1) ?? "";
  const wanted = new Set([...fresh.children].map(idOf));
  const keepsOlder = "more" in body.dataset; // the user asked for more than one page
  let count = 0;
  let next = null;
  for (const row of [...fresh.children].reverse()) {
    const id = idOf(row);
    if (!known.has(id)) {
      row.dataset.new = "";
      body.insertBefore(row, next);
      if (id > newest) count++;
    }
    next = known.get(id) ?? row;
  }
  for (const [id, row] of known) {
    if (!keepsOlder && !wanted.has(id) && !hasFocus(row) && !row.querySelector("input").checked) row.remove();
  }
  return count;
}

function announce(count) {
  if (count === 0 || stream.role !== "status") return;
  const { single, plural } = stream.dataset;
  stream.textContent = count === 1 ? single : plural.replace("{n}", count);
}

function show(page) {
  const fresh = parts(page);
  let count = 0;
  for (const [name, part] of parts(document)) {
    const own = fresh.get(name);
    if (!own) continue;
    const [body, freshBody] = [rowsOf(part), rowsOf(own)];
    if (!body || !freshBody) {
      if (freshBody && !hasFocus(part)) count += freshBody.children.length;
      replace(part, own);
    } else if (!new URLSearchParams(location.search).has("page")) {
      // Other pages would only show rows that moved there.
      count += mergeRows(body, freshBody);
    }
  }
  announce(count);
}

// refresh loads the page again, at most once per minInterval.
async function refresh() {
  again = true;
  if (running) return;
  running = true;
  while (again) {
    again = false;
    try {
      const response = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (response.redirected) return close(); // the session has ended
      if (response.ok) show(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      // The server cannot be reached. The stream reconnects by itself.
    }
    await new Promise((resolve) => { setTimeout(resolve, minInterval); });
  }
  running = false;
}

function open() {
  if (source) return;
  source = new EventSource(stream.dataset.live);
  source.addEventListener("change", refresh);
}

function close() {
  source?.close();
  source = null;
}

// Browsers allow few connections per site, so hidden tabs have none.
if (stream && window.EventSource) {
  if (!document.hidden) open();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return close();
    open();
    refresh();
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => { if (event.persisted && !document.hidden) open(); });
}
