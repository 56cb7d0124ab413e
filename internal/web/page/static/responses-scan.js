// A search through very many responses takes longer than one request may. The server
// answers after a part of it, and this asks for the next part until all is searched, until
// the user stops it, or until the page is left.
const progress = () => document.querySelector("[data-scan]");

function takeOver(page) {
  const body = document.querySelector("[data-live-rows]");
  const more = page.querySelector("[data-live-rows]");
  if (body && more?.children.length) {
    body.dataset.more = "";
    body.append(...more.children);
  }
  for (const selector of ["[data-range]", ".pagination"]) {
    const [old, fresh] = [document.querySelector(selector), page.querySelector(selector)];
    if (old && fresh) old.replaceChildren(...fresh.childNodes);
    else if (fresh) document.querySelector(".selection").append(fresh);
  }
  const fresh = page.querySelector("[data-scan]");
  if (fresh) {
    const own = progress();
    own.dataset.scan = fresh.dataset.scan;
    own.querySelector("progress").value = fresh.querySelector("progress").value;
    own.querySelector("span").textContent = fresh.querySelector("span").textContent;
    own.querySelector("a").href = fresh.querySelector("a").getAttribute("href");
  } else {
    progress().remove();
  }
}

export async function continueScan() {
  if (!progress()) return;
  // New responses do not replace what is being counted.
  const range = document.querySelector("[data-live-part=range]");
  range.dataset.range = "";
  delete range.dataset.livePart;
  const stopper = new AbortController();
  const [link, stop] = [progress().querySelector("a"), progress().querySelector("[data-stop]")];
  link.hidden = true;
  stop.hidden = false;
  stop.addEventListener("click", () => stopper.abort());
  addEventListener("pagehide", () => stopper.abort(), { once: true });
  try {
    while (progress()) {
      const response = await fetch(progress().dataset.scan, { headers: { Accept: "text/html" }, signal: stopper.signal });
      if (!response.ok || response.redirected) break;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const range = page.querySelector("[data-live-part=range]");
      if (!range) break;
      range.dataset.range = "";
      takeOver(page);
    }
  } catch {
    // Stopped, or the server cannot be reached: the link continues.
  }
  if (!progress()) return;
  link.hidden = false;
  stop.hidden = true;
}
