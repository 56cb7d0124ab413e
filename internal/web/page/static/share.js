// The prefilled link updates while its answers are filled in.
const prefillForm = document.getElementById("prefill");
if (prefillForm) {
  const copyField = prefillForm.querySelector(".copy-field");
  const updateLink = () => {
    const link = new URL(prefillForm.dataset.link);
    for (const [name, value] of new FormData(prefillForm)) {
      if (value && prefillForm.elements[name].validity.valid) link.searchParams.set(name, value);
    }
    copyField.hidden = !link.search;
    copyField.querySelector("code").textContent = link;
    copyField.querySelector("button").dataset.copy = link;
  };
  prefillForm.addEventListener("input", updateLink);
  prefillForm.addEventListener("change", (event) => event.target.reportValidity());
  prefillForm.addEventListener("submit", (event) => event.preventDefault());
}

// A sample of an embedded form is loaded when it is first seen. The browser's own lazy loading
// would start several screens earlier.
const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    target.src = target.dataset.src;
  }
});
for (const frame of document.querySelectorAll("iframe[data-src]")) observer.observe(frame);
