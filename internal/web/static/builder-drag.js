// Dragging by a handle. The same can be done with buttons and keys, so this is
// for the hand alone.

// draggable watches a place for handles (data-drag) inside lists (data-sort) and
// says where something was dropped.
export function draggable(root, drop) {
  root.addEventListener("pointerdown", (down) => {
    const grip = down.target.closest("[data-drag]");
    const list = grip?.closest("[data-sort]");
    if (!list || down.button) return;
    down.preventDefault();
    const item = grip.closest("li");
    const others = [...list.children].filter((li) => li !== item);
    let to = null;
    let y = down.clientY;
    grip.setPointerCapture(down.pointerId);
    item.classList.add("lifted");

    const mark = () => {
      const next = others.find((li) => { const box = li.getBoundingClientRect(); return y < box.top + box.height / 2; });
      to = next ? others.indexOf(next) : others.length;
      for (const li of others) delete li.dataset.drop;
      if (next) next.dataset.drop = "before";
      else if (others.length) others.at(-1).dataset.drop = "after";
    };
    const move = (event) => { y = event.clientY; mark(); };
    // Near an edge, what is beyond comes into sight.
    const scroll = setInterval(() => {
      const frame = list.closest(".outline") ?? document.scrollingElement;
      const box = frame === document.scrollingElement ? { top: 0, bottom: innerHeight } : frame.getBoundingClientRect();
      const by = y < box.top + 60 ? -14 : y > box.bottom - 60 ? 14 : 0;
      if (by) { frame.scrollBy(0, by); mark(); }
    }, 16);
    const end = (done) => {
      clearInterval(scroll);
      item.classList.remove("lifted");
      for (const li of others) delete li.dataset.drop;
      grip.removeEventListener("pointermove", move);
      removeEventListener("keydown", escape, true);
      grip.onpointerup = grip.onpointercancel = null;
      if (done && to !== null) drop(grip.dataset.drag, to);
    };
    const escape = (event) => { if (event.key === "Escape") { event.stopPropagation(); end(false); } };
    grip.addEventListener("pointermove", move);
    grip.onpointerup = () => end(true);
    grip.onpointercancel = () => end(false);
    addEventListener("keydown", escape, true);
  });
}
