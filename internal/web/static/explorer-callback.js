// The API page left in the opener what it is waiting for.
const say = (words) => { document.querySelector("#result").textContent = words; };
const waiting = window.opener?.swaggerUIRedirectOauth2;
const answer = new URLSearchParams(location.search);

if (!waiting) {
  say("The API page is no longer waiting for this. Please close this window and choose Authorize again.");
} else if (answer.get("state") !== waiting.state) {
  waiting.errCb({ authId: waiting.auth.name, source: "auth", level: "error", message: "The answer belongs to another request." });
  window.close();
} else if (answer.has("error")) {
  waiting.errCb({
    authId: waiting.auth.name, source: "auth", level: "error",
    message: `${answer.get("error")}: ${answer.get("error_description") ?? ""}`,
  });
  window.close();
} else {
  waiting.auth.code = answer.get("code");
  delete waiting.state;
  waiting.callback({ auth: waiting.auth, redirectUrl: waiting.redirectUrl });
  window.close();
}
