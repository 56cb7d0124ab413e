// Dates: a button opens the calendar of the browser, which fills in the parts.
const icon = `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><rect x="4" y="5.500" width="16" height="14.500" rx="2"/><path d="M4 10h16M8.500 3v4M15.500 3v4"/></svg>`;

for (const box of document.querySelectorAll(".date-parts[data-calendar]")) {
  const parts = ["year", "month", "day"].map((name) => box.querySelector(`input[name$=".${name}"]`));
  const button = Object.assign(document.createElement("button"), { type: "button", innerHTML: icon });
  const native = Object.assign(document.createElement("input"), { type: "date", tabIndex: -1 });
  const limit = (text) => text?.slice(0, 10) ?? "";
  [native.min, native.max] = [limit(box.dataset.min), limit(box.dataset.max)];
  native.setAttribute("aria-hidden", "true");
  button.setAttribute("aria-label", box.dataset.calendar);
  if (!native.showPicker || native.type !== "date") continue;
  const calendar = Object.assign(document.createElement("span"), { className: "calendar" });
  calendar.append(button, native);
  button.addEventListener("click", () => {
    const [year, month, day] = parts.map((part) => part.value.trim());
    native.value = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
    native.showPicker();
  });
  for (const name of ["input", "change"]) native.addEventListener(name, (event) => {
    event.stopPropagation(); // it has no name: the parts are the answer
    if (!native.value) return;
    native.value.split("-").forEach((text, i) => { parts[i].value = text; });
    parts[0].dispatchEvent(new Event("input", { bubbles: true }));
  });
  box.querySelector("label:nth-of-type(3)").after(calendar);
}
