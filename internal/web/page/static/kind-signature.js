// Signatures that are drawn with a finger, mouse or pen. The drawing is uploaded as a PNG.
// Without this script, and for people who cannot draw, the signature is a typed name.
import { beforeSubmit, changed, create, formValue, holdSubmit, track, upload } from "./upload.js";

const ink = "#1b2a4a";
const saveDelay = 700; // milliseconds after the last stroke

// Pictures of signatures, so that going back shows them. They stay on the device.
const remember = (id, picture) => { try { sessionStorage.setItem(`signature:${id}`, picture); } catch { /* without storage, only the text is shown */ } };
const recall = (id) => { try { return sessionStorage.getItem(`signature:${id}`); } catch { return null; } };

function enhance(box) {
  const { key, upload: to } = box.dataset;
  const texts = JSON.parse(box.dataset.texts);
  const form = box.closest("form");
  const typed = box.querySelector(".typed");
  const nameInput = typed.querySelector("input");
  const drawn = box.querySelector(".drawn");
  const value = create("input", { type: "hidden", name: key, disabled: true });
  const status = create("output", {});
  const canvas = create("canvas", { tabIndex: 0 });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", texts.pad);
  const pad = create("div", { className: "pad" }, canvas, create("span", { className: "pad-hint", textContent: texts.hint }));
  const undoButton = create("button", { type: "button", className: "quiet", textContent: texts.undo, onclick: () => undo() });
  const clearButton = create("button", { type: "button", className: "quiet", textContent: texts.clear, onclick: () => clear() });
  const retryButton = create("button", { type: "button", className: "quiet", textContent: texts.retry, hidden: true, onclick: () => save() });
  const row = create("div", { className: "pad-row" }, undoButton, clearButton, retryButton, status);
  const strokes = []; // lists of points, each as a share of the width and the height of the pad
  let task;
  let timer;

  const say = (text, state = "") => { status.value = text; status.dataset.state = state; };

  function draw() {
    const scale = Math.max(2, devicePixelRatio);
    const { width, height } = canvas.getBoundingClientRect();
    if (!width) return;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const pen = canvas.getContext("2d");
    Object.assign(pen, { lineCap: "round", lineJoin: "round", strokeStyle: ink, fillStyle: ink });
    for (const stroke of strokes) {
      const points = stroke.map(([x, y, pressure]) => [x * canvas.width, y * canvas.height, pressure]);
      if (points.length === 1) {
        pen.beginPath();
        pen.arc(points[0][0], points[0][1], 1.4 * scale, 0, 2 * Math.PI);
        pen.fill();
      }
      for (let i = 1; i < points.length; i++) {
        const [before, from, end] = [points[Math.max(0, i - 2)], points[i - 1], points[i]];
        pen.lineWidth = (1.4 + 1.6 * end[2]) * scale;
        pen.beginPath();
        pen.moveTo((before[0] + from[0]) / 2, (before[1] + from[1]) / 2);
        pen.quadraticCurveTo(from[0], from[1], (from[0] + end[0]) / 2, (from[1] + end[1]) / 2);
        if (i === points.length - 1) pen.lineTo(end[0], end[1]);
        pen.stroke();
      }
    }
    pad.classList.toggle("inked", strokes.length > 0);
    undoButton.disabled = clearButton.disabled = strokes.length === 0;
  }

  const pointOf = (event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return [(event.clientX - left) / width, (event.clientY - top) / height, event.pressure || .5];
  };
  let stroke;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 0 || stroke) return;
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    stroke = [pointOf(event)];
    strokes.push(stroke);
    forget();
    draw();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!stroke) return;
    for (const one of event.getCoalescedEvents?.() ?? [event]) stroke.push(pointOf(one));
    draw();
  });
  const lift = () => {
    if (!stroke) return;
    stroke = undefined;
    timer = setTimeout(save, saveDelay);
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);

  // forget drops the uploaded picture, because the drawing has changed.
  function forget() {
    clearTimeout(timer);
    task?.cancel();
    task = undefined;
    value.disabled = true;
    retryButton.hidden = true;
    say("");
  }

  function undo() {
    strokes.pop();
    forget();
    draw();
    if (strokes.length) timer = setTimeout(save, saveDelay);
    else say(texts.cleared);
    changed(form);
    if (!strokes.length) canvas.focus();
  }

  function clear() {
    strokes.length = 0;
    forget();
    draw();
    say(texts.cleared);
    changed(form);
    canvas.focus();
  }

  // The picture is white below the ink, so that it can be read everywhere.
  function picture() {
    const paper = create("canvas", { width: canvas.width, height: canvas.height });
    const pen = paper.getContext("2d");
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, paper.width, paper.height);
    pen.drawImage(canvas, 0, 0);
    return paper;
  }

  async function save() {
    forget();
    if (!strokes.length || nameInput.disabled === false) return;
    const paper = picture();
    let sending;
    const result = (async () => {
      const blob = await new Promise((resolve) => { paper.toBlob(resolve, "image/png"); });
      if (task !== current) return undefined;
      sending = upload(to, blob, `${key}.png`, { onwait: () => say(texts.waiting) });
      return sending.result;
    })();
    const current = { result, cancel: () => sending?.cancel() };
    task = current;
    track(current, form, () => say(texts.pending));
    say(texts.saving);
    const stored = await result;
    if (task !== current || !stored) return;
    if (!stored.id) {
      say(texts.failed, "failed");
      retryButton.hidden = false;
      return;
    }
    value.value = formValue(stored);
    value.disabled = false;
    remember(stored.id, paper.toDataURL("image/png"));
    say(texts.saved);
    changed(form);
  }

  // Submitting right after the last stroke must not lose it.
  beforeSubmit.add(() => { if (timer && strokes.length && value.disabled && !task && !pad.hidden) save(); });
  holdSubmit(form);

  function setMode(isDrawn) {
    pad.hidden = row.hidden = !isDrawn;
    typed.hidden = isDrawn;
    nameInput.disabled = isDrawn;
    if (isDrawn) {
      draw();
      if (strokes.length) save();
    } else {
      forget();
    }
    changed(form);
  }
  const mode = (text, isDrawn, checked) => {
    const radio = create("input", { type: "radio", name: `_mode_${key}`, checked, onchange: () => setMode(isDrawn) });
    return create("label", {}, radio, create("span", { textContent: text }));
  };
  const startsTyped = Boolean(nameInput.value);
  const modes = create("div", { className: "sign-modes", role: "radiogroup" }, mode(texts.draw, true, !startsTyped), mode(texts.type, false, startsTyped));
  modes.setAttribute("aria-label", texts.mode);
  const controls = [modes, pad, row, value];

  function start() {
    typed.before(...controls);
    box.classList.add("ready");
    setMode(!startsTyped);
    new ResizeObserver(draw).observe(canvas);
  }

  // A signature from an earlier page is shown until it is removed.
  if (!drawn) {
    start();
    return;
  }
  const image = recall(drawn.dataset.file);
  if (image) drawn.before(create("div", { className: "pad inked" }, create("img", { src: image, alt: texts.drawn })));
  typed.hidden = true;
  nameInput.disabled = true;
  const again = create("button", {
    type: "button", className: "quiet", textContent: texts.clear,
    onclick: () => {
      drawn.previousElementSibling?.remove();
      drawn.remove();
      start();
      say(texts.cleared);
      canvas.focus();
    },
  });
  drawn.querySelector(".remove").replaceWith(again);
}

for (const box of document.querySelectorAll(".signature[data-texts]")) enhance(box);
