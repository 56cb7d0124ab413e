// Drag and drop: a handle (data-drag) moves its item within a list (data-sortable).
// Buttons and keys do the same.
const edge = 60; // pixels from the edge of the view where it scrolls

export function makeDraggable(root, onDrop) {
  root.addEventListener("pointerdown", (down) => {
    const handle = down.target.closest("[data-drag]");
    if (!handle || down.button) return;
    down.preventDefault();
    const list = handle.closest("[data-sortable]");
    const item = handle.closest("li");
    const others = [...list.children].filter((li) => li !== item);
    let index, y = down.clientY;
    handle.setPointerCapture(down.pointerId);
    item.classList.add("dragging");

    const clearMarks = () => { for (const li of others) delete li.dataset.drop; };
    const markPosition = () => {
      clearMarks();
      index = others.findIndex((li) => { const box = li.getBoundingClientRect(); return y < box.top + box.height / 2; });
      if (index >= 0) others[index].dataset.drop = "before";
      else if ((index = others.length)) others.at(-1).dataset.drop = "after";
    };
    const scroller = list.closest(".outline") ?? document.scrollingElement;
    const scrolling = setInterval(() => {
      const { top, bottom } = list.closest(".outline")?.getBoundingClientRect() ?? { top: 60, bottom: innerHeight };
      const distance = y < top + edge ? -14 : y > bottom - edge ? 14 : 0;
      if (distance && index !== undefined) { scroller.scrollBy(0, distance); markPosition(); }
    }, 16);
    const finish = (isDropped) => {
      clearInterval(scrolling);
      clearMarks();
      item.classList.remove("dragging");
      removeEventListener("keydown", cancelOnEscape, true);
      handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
      if (isDropped && index !== undefined) onDrop(handle.dataset.drag, index);
    };
    const cancelOnEscape = (event) => { if (event.key === "Escape") { event.stopPropagation(); finish(false); } };
    handle.onpointermove = (event) => { y = event.clientY; markPosition(); };
    handle.onpointerup = () => finish(true);
    handle.onpointercancel = () => finish(false);
    addEventListener("keydown", cancelOnEscape, true);
  });
}
