// Where the browser keeps nothing for us, a theme lasts as long as the page.
function kept(theme) {
  try {
    if (theme) localStorage.setItem("theme", theme);
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

// Runs before the first paint: a theme that was chosen must not flash.
const chosen = kept();
if (chosen) document.documentElement.dataset.theme = chosen;

const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;

function switchTheme() {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  kept(next);
}

// A second click must not send a form again while the first is on its way.
function sendOnce(event) {
  const form = event.target;
  // What a control cannot read, such as half a date, would not arrive at all.
  const unread = [...form.elements].find((control) => control.validity?.badInput);
  if (unread && event.submitter?.value !== "back") {
    unread.reportValidity();
    return event.preventDefault();
  }
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
}

async function copy(event) {
  const button = event.currentTarget;
  const label = button.querySelector("span");
  const words = label.textContent;
  await navigator.clipboard.writeText(button.dataset.copy);
  label.textContent = button.dataset.copied ?? "Copied";
  setTimeout(() => { label.textContent = words; }, 1500);
}

// On the way back, a page that the browser had to ask for again is the same sheet:
// sent once more without a change, it is stored once. A page that answers what was
// sent needs none of it: the browser asks for it again by sending the same.
function sameSheet() {
  const once = document.querySelector("form[data-first] > input[name=_key]");
  if (!once) return;
  if (history.state?.once) once.value = history.state.once;
  else history.replaceState({ once: once.value }, "");
}

// A menu closes when one goes on elsewhere.
function closeMenus(event) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (event.type === "keydown" && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    if (event.type === "keydown" || !menu.contains(event.target)) menu.open = false;
  }
}
addEventListener("click", closeMenus);
addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenus(event); });

addEventListener("DOMContentLoaded", () => {
  sameSheet();
  // Where one is stands in sight, also where the others do not fit beside it.
  for (const here of document.querySelectorAll("nav [aria-current]")) here.scrollIntoView({ block: "nearest", inline: "center" });
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    button.hidden = false;
    button.addEventListener("click", switchTheme);
  }
  for (const form of document.querySelectorAll("form[method=post]")) form.addEventListener("submit", sendOnce);
  // What is wrong is said by the form, beside the question and in its language, and
  // not by the browser in its own.
  for (const form of document.querySelectorAll("form.answer")) form.noValidate = true;
  for (const zone of document.querySelectorAll("[data-zone]")) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) break;
    button.hidden = false;
    button.addEventListener("click", copy);
  }
});

// A page that comes back out of the browser's memory can be sent again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
