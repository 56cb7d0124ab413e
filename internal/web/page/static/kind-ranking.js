// Options to rank: rows are dragged, moved with buttons or arrow keys, or tapped in order.
// The rows at the top that have a number are ranked; the others are not, if the question is
// optional. Without this script, each row has a number field.

function enhance(list) {
  const texts = JSON.parse(list.dataset.texts);
  const rows = () => [...list.children];
  const inputOf = (row) => row.querySelector("input");
  const nameOf = (row) => row.querySelector("label span").textContent;
  const status = Object.assign(document.createElement("p"), { className: "visually-hidden", role: "status" });
  const clear = Object.assign(document.createElement("button"), { type: "button", className: "rank-clear", textContent: texts.clear });
  let ranked = 0; // number of rows at the top that have a rank

  function show() {
    const all = rows();
    all.forEach((row, i) => {
      inputOf(row).value = i < ranked ? i + 1 : "";
      row.classList.toggle("ranked", i < ranked);
      row.querySelector("b").textContent = i < ranked ? i + 1 : "";
      const [up, down] = row.querySelectorAll("button");
      up.disabled = i === 0 && ranked > 0;
      down.disabled = i === all.length - 1;
    });
    clear.hidden = ranked === 0;
  }

  function changed(row) {
    show();
    inputOf(row).dispatchEvent(new Event("input", { bubbles: true }));
  }

  // rankThrough ranks a row where it is, and all rows above it.
  function rankThrough(row) {
    const all = rows();
    const place = all.indexOf(row) + 1;
    ranked = "all" in list.dataset ? all.length : Math.max(ranked, place);
    changed(row);
    status.textContent = texts.placed.replace("{name}", nameOf(row)).replace("{place}", place).replace("{count}", all.length);
  }

  // Neighbors move instead of the row, which keeps the focus and the pointer.
  function move(row, isUp) {
    const neighbor = isUp ? row.previousElementSibling : row.nextElementSibling;
    if (neighbor && isUp) row.after(neighbor);
    else if (neighbor) row.before(neighbor);
    rankThrough(row);
    row.scrollIntoView({ block: "nearest" });
    if (document.activeElement?.disabled || !row.contains(document.activeElement)) row.querySelector("button:enabled")?.focus();
  }

  // A tap gives the next rank to a row that has none.
  function tap(row) {
    const first = rows()[ranked];
    if (inputOf(row).value !== "") return;
    if (first !== row) first.before(row);
    ranked += 1;
    if (ranked === rows().length - 1) ranked += 1;
    rankThrough(row);
  }

  function drag(row, event) {
    let [origin, isMoved] = [event.clientY, false];
    const ended = new AbortController();
    const shift = (change) => {
      const before = row.offsetTop;
      change();
      origin += row.offsetTop - before;
    };
    const follow = (e) => {
      if (!isMoved && Math.abs(e.clientY - origin) < 5) return;
      isMoved = true;
      row.classList.add("lifted");
      const [previous, next] = [row.previousElementSibling, row.nextElementSibling];
      const distance = e.clientY - origin;
      if (next && distance > next.offsetHeight / 2) shift(() => row.before(next));
      else if (previous && -distance > previous.offsetHeight / 2) shift(() => row.after(previous));
      const scroll = e.clientY < 48 ? -8 : e.clientY > innerHeight - 48 ? 8 : 0;
      if (scroll) {
        const before = scrollY;
        scrollBy(0, scroll);
        origin -= scrollY - before;
      }
      row.style.translate = `0 ${e.clientY - origin}px`;
    };
    const end = (e) => {
      ended.abort();
      row.classList.remove("lifted");
      row.style.translate = "";
      if (isMoved) rankThrough(row);
      else if (e.type === "pointerup") tap(row);
    };
    row.setPointerCapture(event.pointerId);
    for (const [name, listener] of [["pointermove", follow], ["pointerup", end], ["pointercancel", end]]) row.addEventListener(name, listener, { signal: ended.signal });
  }

  // read sorts the rows by the values of their fields.
  function read() {
    const order = (row) => Number(inputOf(row).value) || Infinity;
    list.append(...rows().sort((a, b) => order(a) - order(b) || 0));
    ranked = rows().filter((row) => inputOf(row).value !== "").length;
    show();
  }

  for (const row of rows()) {
    const handle = Object.assign(document.createElement("i"), { className: "rank-handle" });
    const button = (className, text, isUp) => {
      const b = Object.assign(document.createElement("button"), { type: "button", className: `rank-move ${className}`, onclick: () => move(row, isUp) });
      b.setAttribute("aria-label", text.replace("{name}", nameOf(row)));
      return b;
    };
    row.querySelector("label").prepend(document.createElement("b"));
    row.append(handle, button("up", texts.up, true), button("down", texts.down, false));
    row.addEventListener("pointerdown", (event) => { if (!event.button && !event.target.closest("button")) drag(row, event); });
    row.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      move(row, event.key === "ArrowUp");
    });
  }
  clear.onclick = () => {
    ranked = 0;
    changed(list.firstElementChild);
    status.textContent = texts.cleared;
    list.querySelector("button").focus();
  };
  list.classList.add("ready");
  list.previousElementSibling.textContent = texts.hint;
  list.after(clear, status);
  list.addEventListener("restored", read); // see form-keep.js
  read();
}

for (const list of document.querySelectorAll(".rank[data-texts]")) enhance(list);
