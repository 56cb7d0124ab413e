// Copy buttons appear where the browser lets a page write to the clipboard.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  const label = button.querySelector("span");
  const words = label.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    label.textContent = "Copied";
    setTimeout(() => { label.textContent = words; }, 1500);
  });
}
