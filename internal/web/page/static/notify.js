import { Preview } from "./preview.js";

// Previews of mails follow what is chosen and typed.
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
