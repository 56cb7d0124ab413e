// Loaded by every page except public forms.

// storedTheme reads the chosen theme, or stores it if one is given. Without local storage
// a theme lasts until the next page.
function storedTheme(theme) {
  try {
    if (theme) localStorage.setItem("theme", theme);
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

// The theme is set before the first paint, so that the page does not flash.
const theme = storedTheme();
if (theme) document.documentElement.dataset.theme = theme;

const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;

function switchTheme() {
  const newTheme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = newTheme;
  storedTheme(newTheme);
}

async function copy(event) {
  const button = event.currentTarget;
  const label = button.querySelector("span");
  const text = label.textContent;
  await navigator.clipboard.writeText(button.dataset.copy);
  label.textContent = button.dataset.copied ?? "Copied";
  setTimeout(() => { label.textContent = text; }, 1500);
}

// Menus close on a click elsewhere and on Escape.
function closeMenus(event) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (event.type === "keydown" && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    if (event.type === "keydown" || !menu.contains(event.target)) menu.open = false;
  }
}
addEventListener("click", closeMenus);
addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenus(event); });

addEventListener("DOMContentLoaded", () => {
  // Navigation that is wider than the screen scrolls to the current entry.
  for (const entry of document.querySelectorAll("nav [aria-current]")) entry.scrollIntoView({ block: "nearest", inline: "center" });
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    button.hidden = false;
    button.addEventListener("click", switchTheme);
  }
  for (const input of document.querySelectorAll("[data-time-zone]")) input.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) break;
    button.hidden = false;
    button.addEventListener("click", copy);
  }
});
