import { createHmac, timingSafeEqual } from "node:crypto";

// Says whether a request was signed with the secret in the last five minutes.
// headers have names in lower case, as in Node; body is a Buffer or string, as it arrived.
export function verify(secret, headers, body) {
  const id = headers["webhook-id"], timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body);
  const want = Buffer.from("v1," + mac.digest("base64"));
  // While a secret is rotated there are two signatures.
  return (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const got = Buffer.from(signature);
    return got.length === want.length && timingSafeEqual(got, want);
  });
}
