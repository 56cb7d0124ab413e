// Put on another site, this shows a form in a frame that is as high as it needs:
//   <script src="https://forms.example.com/embed.js" data-form="frm_…" async></script>
// Answers to start from come as data-answer-KEY="…". With data-button="Words" the
// form opens over the page when somebody presses that button. Its title is data-title,
// and data-close is what the button that closes it says to those who hear it.
(() => {
  const script = document.currentScript;
  const home = new URL(script.src).origin;
  const address = new URL(`/f/${encodeURIComponent(script.dataset.form)}?embed=1`, home);
  for (const { name, value } of script.attributes) {
    if (name.startsWith("data-answer-")) address.searchParams.set(name.slice(12), value);
  }
  const frame = document.createElement("iframe");
  frame.src = address;
  frame.title = script.dataset.title || "Form";
  frame.style.cssText = "display:block;width:100%;border:0;min-height:16rem";
  const { button: words } = script.dataset;
  if (words) {
    const dialog = document.createElement("dialog");
    dialog.style.cssText = "width:min(44rem,94vw);max-height:92vh;padding:0;border:1px solid #8884;border-radius:.75rem;box-shadow:0 1rem 4rem #0005";
    dialog.setAttribute("aria-label", frame.title);
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "×";
    close.setAttribute("aria-label", script.dataset.close || "Close");
    close.style.cssText = "position:absolute;inset:.25rem .25rem auto auto;min-width:2.75rem;min-height:2.75rem;padding:0;border:0;background:none;color:#767676;font:1.75rem/1 sans-serif;cursor:pointer";
    close.addEventListener("click", () => dialog.close());
    dialog.append(frame, close);
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", () => dialog.showModal());
    script.after(button, dialog);
  } else {
    script.after(frame);
  }
  // The next page of the form begins where the last one did, or with what is wrong.
  let before = false;
  const look = (at) => {
    const box = frame.closest("dialog");
    const top = frame.getBoundingClientRect().top - (box?.getBoundingClientRect().top ?? 0);
    if (before && at !== null) (box ?? window).scrollBy({ top: top + at - 80 });
    else if (before && top < 0) frame.scrollIntoView();
    before = true;
  };
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== home) return;
    if (data?.formularyHeight > 0) frame.style.height = `${data.formularyHeight}px`;
    if (data?.formularyAt !== undefined) look(data.formularyAt);
    if (/^https?:/.test(data?.formularyTo)) location.assign(data.formularyTo);
  });
})();
