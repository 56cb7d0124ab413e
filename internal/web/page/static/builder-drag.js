// Dragging by a handle (data-drag) within a list (data-sort). Buttons and keys do
// the same.
export function draggable(root, drop) {
  root.addEventListener("pointerdown", (down) => {
    const grip = down.target.closest("[data-drag]");
    if (!grip || down.button) return;
    down.preventDefault();
    const list = grip.closest("[data-sort]");
    const item = grip.closest("li");
    const others = [...list.children].filter((li) => li !== item);
    let to, y = down.clientY;
    grip.setPointerCapture(down.pointerId);
    item.classList.add("lifted");

    const clear = () => { for (const li of others) delete li.dataset.drop; };
    const mark = () => {
      clear();
      to = others.findIndex((li) => { const box = li.getBoundingClientRect(); return y < box.top + box.height / 2; });
      if (to >= 0) others[to].dataset.drop = "before";
      else if ((to = others.length)) others.at(-1).dataset.drop = "after";
    };
    // Near an edge, what is beyond comes into sight.
    const frame = list.closest(".outline") ?? document.scrollingElement;
    const scroll = setInterval(() => {
      const { top, bottom } = list.closest(".outline")?.getBoundingClientRect() ?? { top: 60, bottom: innerHeight };
      const by = y < top + 60 ? -14 : y > bottom - 60 ? 14 : 0;
      if (by && to !== undefined) { frame.scrollBy(0, by); mark(); }
    }, 16);
    const end = (done) => {
      clearInterval(scroll);
      clear();
      item.classList.remove("lifted");
      removeEventListener("keydown", escape, true);
      grip.onpointermove = grip.onpointerup = grip.onpointercancel = null;
      if (done && to !== undefined) drop(grip.dataset.drag, to);
    };
    const escape = (event) => { if (event.key === "Escape") { event.stopPropagation(); end(); } };
    grip.onpointermove = (event) => { y = event.clientY; mark(); };
    grip.onpointerup = () => end(true);
    grip.onpointercancel = () => end();
    addEventListener("keydown", escape, true);
  });
}
