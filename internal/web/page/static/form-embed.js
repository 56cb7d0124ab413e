// The keyboard of a form in a dialog of another site: the key Escape closes the dialog, which
// does not see the keys of the frame.
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented) parent.postMessage({ formularyClose: true }, "*");
});
