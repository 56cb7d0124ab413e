// Embeds a form into another site, in a frame that fits its height:
//   <script src="https://forms.example.com/embed.js" data-form="frm_…" async></script>
// data-answer-KEY="…" prefills an answer. data-button="Label" shows a button that opens the
// form in a dialog. data-title is the title of the frame, and data-close the accessible
// name of the dialog's close button.
(() => {
  const script = document.currentScript;
  const serviceOrigin = new URL(script.src).origin;
  const url = new URL(`/f/${encodeURIComponent(script.dataset.form)}?embed=1`, serviceOrigin);
  for (const { name, value } of script.attributes) {
    if (name.startsWith("data-answer-")) url.searchParams.set(name.slice(12), value);
  }
  const frame = document.createElement("iframe");
  frame.src = url;
  frame.title = script.dataset.title || "Form";
  frame.style.cssText = "display:block;width:100%;border:0;min-height:16rem";
  const { button: buttonLabel } = script.dataset;
  if (buttonLabel) {
    const dialog = document.createElement("dialog");
    dialog.style.cssText = "width:min(44rem,94vw);max-height:92vh;padding:0;border:1px solid #8884;border-radius:.75rem;box-shadow:0 1rem 4rem #0005";
    dialog.setAttribute("aria-label", frame.title);
    const closeButton = document.createElement("button");
    closeButton.type = "button";
    closeButton.textContent = "×";
    closeButton.setAttribute("aria-label", script.dataset.close || "Close");
    closeButton.style.cssText = "position:absolute;inset:.25rem .25rem auto auto;min-width:2.75rem;min-height:2.75rem;padding:0;border:0;background:none;color:#767676;font:1.75rem/1 sans-serif;cursor:pointer";
    closeButton.addEventListener("click", () => dialog.close());
    dialog.append(frame, closeButton);
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = buttonLabel;
    button.addEventListener("click", () => dialog.showModal());
    script.after(button, dialog);
  } else {
    script.after(frame);
  }
  // After the first page, each page scrolls to its start or to its first problem.
  let isFirstPage = true;
  const scrollToOffset = (offset) => {
    const dialog = frame.closest("dialog");
    const top = frame.getBoundingClientRect().top - (dialog?.getBoundingClientRect().top ?? 0);
    if (!isFirstPage && offset !== null) (dialog ?? window).scrollBy({ top: top + offset - 80 });
    else if (!isFirstPage && top < 0) frame.scrollIntoView();
    isFirstPage = false;
  };
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== serviceOrigin) return;
    if (data?.formularyHeight > 0) frame.style.height = `${data.formularyHeight}px`;
    if (data?.formularyAt !== undefined) scrollToOffset(data.formularyAt);
    if (/^https?:/.test(data?.formularyTo)) location.assign(data.formularyTo);
  });
})();
