// A preview loads in a frame of its own, which replaces the previous one when it is complete:
// nothing flickers, and the history of the browser stays as it is.
export class Preview {
  #frame;
  #loading = false;
  #again = false;
  #number = 0;

  // load is called with a new frame, and loads the preview in it.
  constructor(name, load) {
    this.name = name;
    this.load = load;
    this.#frame = document.querySelector(`iframe[name="${name}"]`);
  }

  refresh() {
    this.#again = this.#loading;
    if (this.#loading) return;
    this.#loading = true;
    const next = this.#frame.cloneNode();
    next.removeAttribute("src");
    next.removeAttribute("loading");
    next.name = `${this.name}-${++this.#number}`;
    next.classList.add("loading");
    this.#frame.after(next);
    next.addEventListener("load", () => {
      this.#frame.remove();
      next.classList.remove("loading");
      this.#frame = next;
      this.#loading = false;
      if (this.#again) this.refresh();
    });
    this.load(next);
  }
}
