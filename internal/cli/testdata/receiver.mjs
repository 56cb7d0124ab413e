// A receiver of webhooks, as a customer would write it: it verifies each request with the
// package standardwebhooks and detects repetitions by webhook-id. Tests start it with the
// directory of the package. It prints the port that it listens on.
//
//   PUT  /secret/NAME  sets the secret of a webhook
//   POST /hook/NAME    receives an event
//   GET  /totals/NAME  returns {"events": 2, "repeated": 1, "invalid": ["…"]}
//   GET  /events/NAME  returns the IDs of the events: ["evt_…", "evt_…"]
import { createServer } from "node:http";
import { createRequire } from "node:module";

const { Webhook } = createRequire(process.argv[2] + "/")("standardwebhooks");

// Requests take this long, so that some are in flight whenever the service is killed.
const answerAfter = 5; // ms
const maxInvalid = 10; // messages that are kept

const hooks = new Map();

function hook(name) {
  if (!hooks.has(name)) hooks.set(name, { events: new Set(), repeated: 0, invalid: [] });
  return hooks.get(name);
}

function receive(to, request, body) {
  try {
    to.webhook.verify(body, request.headers);
  } catch (error) {
    if (to.invalid.length < maxInvalid) to.invalid.push(`${error}: ${body}`);
    return 400;
  }
  const id = request.headers["webhook-id"];
  if (to.events.has(id)) to.repeated++;
  to.events.add(id);
  return 204;
}

const server = createServer(async (request, response) => {
  const [, action, name] = request.url.split("/");
  const to = hook(name);
  const parts = [];
  try {
    for await (const part of request) parts.push(part);
  } catch {
    return; // the service was killed while it sent this
  }
  const body = Buffer.concat(parts).toString();
  switch (action) {
    case "secret":
      to.webhook = new Webhook(body);
      response.end();
      break;
    case "hook":
      response.statusCode = receive(to, request, body);
      setTimeout(() => response.end(), answerAfter);
      break;
    case "totals":
      response.end(JSON.stringify({ events: to.events.size, repeated: to.repeated, invalid: to.invalid }));
      break;
    case "events":
      response.end(JSON.stringify([...to.events]));
      break;
    default:
      response.writeHead(404).end();
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
