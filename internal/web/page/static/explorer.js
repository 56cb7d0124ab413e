// Calls of the API, tried by whoever reads about them. The token comes the way that
// every application gets one, and is known to this tab only.
const place = document.querySelector(".try");
const form = place?.querySelector("form");
const words = form?.dataset;

const held = () => JSON.parse(sessionStorage.getItem("api.token") ?? "null");

function show() {
  const token = held();
  for (const part of form.querySelectorAll("[data-with]")) part.hidden = !token;
  for (const part of form.querySelectorAll("[data-without]")) part.hidden = Boolean(token);
}

function say(line, body = "") {
  const result = form.querySelector(".result");
  result.querySelector("p").textContent = line;
  const text = result.querySelector("pre");
  text.textContent = body;
  text.hidden = !body;
}

const base64 = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = () => base64(crypto.getRandomValues(new Uint8Array(32)));

// What was allowed before is asked for again, as the new token takes its place.
function scopes() {
  const all = new Set((held()?.scope ?? "").split(",").concat(words.scope.split(",")));
  all.delete("");
  return all.size ? [...all].join(",") : "forms:read";
}

async function allow() {
  if (!crypto.subtle) return say(words.insecure);
  const verifier = random();
  const state = random();
  const challenge = base64(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
  sessionStorage.setItem("api.asked", JSON.stringify({ verifier, state, client: words.client, callback: words.callback, back: location.pathname }));
  location.assign("/authorize?" + new URLSearchParams({
    response_type: "code", client_id: words.client, redirect_uri: words.callback, scope: scopes(), state,
    code_challenge: challenge, code_challenge_method: "S256",
  }));
}

async function forget() {
  const { token } = held();
  sessionStorage.removeItem("api.token");
  show();
  say("");
  await fetch("/api/oauth2/revoke", { method: "POST", body: new URLSearchParams({ token, client_id: words.client }) });
}

function request() {
  let path = words.path;
  const query = new URLSearchParams();
  const headers = {};
  let body;
  for (const field of form.querySelectorAll("[data-in]")) {
    const { name, value } = field;
    if (field.dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (field.dataset.in === "body") {
      body = value;
      headers["Content-Type"] = "application/json";
    } else if (value && field.dataset.in === "query") query.append(name, value);
    else if (value) headers[name] = value;
  }
  const token = words.open ? null : held()?.token;
  if (token) headers.Authorization = `Bearer ${token}`;
  return [path + (query.size ? `?${query}` : ""), { method: words.method, headers, body, credentials: "omit" }];
}

const longest = 20_000;

function readable(type, text) {
  if (!type?.includes("json")) return text.slice(0, longest);
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, longest);
  } catch {
    return text.slice(0, longest); // lines of JSON
  }
}

async function send(event) {
  event.preventDefault();
  say(words.sending);
  const begun = performance.now();
  try {
    const answer = await fetch(...request());
    const text = await answer.text();
    say(`${answer.status} · ${Math.round(performance.now() - begun)} ms`, readable(answer.headers.get("Content-Type"), text));
    if (answer.status === 401) {
      sessionStorage.removeItem("api.token");
      show();
    }
  } catch {
    say(words.away);
  }
}

// Where nothing is kept for a tab, nobody comes back with a token: the reference is
// then as it is without JavaScript.
function keeps() {
  try {
    return Boolean(sessionStorage);
  } catch {
    return false;
  }
}

if (form && keeps()) {
  place.hidden = false;
  place.open = location.hash === "#try" || Boolean(held());
  show();
  form.querySelector("button[data-without]")?.addEventListener("click", allow);
  form.querySelector("button[data-with]")?.addEventListener("click", forget);
  form.addEventListener("submit", send);
  const refusal = sessionStorage.getItem("api.refusal");
  sessionStorage.removeItem("api.refusal");
  if (refusal) say(refusal);
}
