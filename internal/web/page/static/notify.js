// The preview of the receipt follows what is typed. Each one loads in a frame of its own, which
// replaces the previous one when it is complete: nothing flickers, and the browser's history
// stays as it is.
const form = document.querySelector("form[data-preview]");
if (form) {
  const button = form.querySelector("[formtarget]");
  const frameName = button.formTarget;
  let frame = document.querySelector(`iframe[name="${frameName}"]`);
  let loading = false, again = false, timer, number = 0;

  const refresh = () => {
    if (loading) {
      again = true;
      return;
    }
    [loading, again] = [true, false];
    const next = frame.cloneNode();
    next.removeAttribute("src");
    next.removeAttribute("loading");
    next.name = button.formTarget = `${frameName}-${++number}`;
    next.classList.add("loading");
    frame.after(next);
    next.addEventListener("load", () => {
      frame.remove();
      next.classList.remove("loading");
      frame = next;
      loading = false;
      if (again) refresh();
    });
    form.requestSubmit(button);
  };

  button.hidden = true;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, 300);
  });
  // After a problem, the controls differ from what is stored.
  if (form.querySelector(".problem")) refresh();

  // Answers are inserted where the cursor was last.
  let target = form.elements.text;
  for (const control of [form.elements.subject, form.elements.text]) control.addEventListener("focus", () => { target = control; });
  for (const entry of form.querySelectorAll("[data-insert]")) {
    const insert = document.createElement("button");
    insert.type = "button";
    insert.className = "quiet";
    insert.append(...entry.childNodes);
    entry.append(insert);
    insert.addEventListener("click", () => {
      target.setRangeText(`{{${entry.dataset.insert}}}`, target.selectionStart, target.selectionEnd, "end");
      target.focus();
      target.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
}
