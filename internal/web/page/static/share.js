// The link with answers in it grows while they are filled in.
const maker = document.getElementById("prefill");
if (maker) {
  const line = maker.querySelector(".copy");
  const show = () => {
    const link = new URL(maker.dataset.address);
    for (const [name, value] of new FormData(maker)) if (value && maker.elements[name].validity.valid) link.searchParams.set(name, value);
    line.hidden = !link.search;
    line.querySelector("code").textContent = link;
    line.querySelector("button").dataset.copy = link;
  };
  maker.addEventListener("input", show);
  maker.addEventListener("change", (event) => event.target.reportValidity());
  maker.addEventListener("submit", (event) => event.preventDefault());
}
