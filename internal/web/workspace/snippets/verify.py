import base64
import hashlib
import hmac
import time


def verify(secret, headers, body):
    """Say whether a request was signed with the secret in the last five minutes.

    body has the bytes of the request body as they arrived.
    """
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers.get('webhook-id')}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    want = b"v1," + base64.b64encode(digest)
    # While a secret is rotated there are two signatures.
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(s.encode(), want) for s in signatures)
