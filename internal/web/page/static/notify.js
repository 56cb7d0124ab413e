// Previews of mails follow what is chosen and typed. Each one loads in a frame of its own, which
// replaces the previous one when it is complete: nothing flickers, and the history of the
// browser stays as it is.
class Preview {
  #frame;
  #loading = false;
  #again = false;
  #number = 0;

  // load is called with a new frame, and loads the preview in it.
  constructor(name, load) {
    this.name = name;
    this.load = load;
    this.#frame = document.querySelector(`iframe[name="${name}"]`);
  }

  refresh() {
    this.#again = this.#loading;
    if (this.#loading) return;
    this.#loading = true;
    const next = this.#frame.cloneNode();
    next.removeAttribute("src");
    next.removeAttribute("loading");
    next.name = `${this.name}-${++this.#number}`;
    next.classList.add("loading");
    this.#frame.after(next);
    next.addEventListener("load", () => {
      this.#frame.remove();
      next.classList.remove("loading");
      this.#frame = next;
      this.#loading = false;
      if (this.#again) this.refresh();
    });
    this.load(next);
  }
}

const notifications = document.querySelector("form[data-frame]");
const notification = new Preview(notifications.dataset.frame, (frame) => {
  frame.src = `${notifications.getAttribute("action")}/preview?when=${notifications.elements.when.value}`;
});
for (const choice of notifications.elements.when) choice.addEventListener("change", () => notification.refresh());

const form = document.querySelector("form[data-preview]");
if (form) {
  const button = form.querySelector("[formtarget]");
  const receipt = new Preview(button.formTarget, (frame) => {
    button.formTarget = frame.name;
    form.requestSubmit(button);
  });
  let timer;
  button.hidden = true;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => receipt.refresh(), 300);
  });
  // After a problem, the controls differ from what is stored.
  if (form.querySelector(".problem")) receipt.refresh();

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
