"""An OpenID provider on loopback: it lets in whoever it is told, and signs what it says (OpenID Connect Core 1.0,
section 3.1, the authorization code flow)."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT = "beach"


def _number(value: int) -> str:
    return base64.urlsafe_b64encode(value.to_bytes(256)).rstrip(b"=").decode()


class OpenIdProvider(ThreadingHTTPServer):
    """``claims`` are whoever signs in next; ``audience`` is whom its tokens are for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.claims: dict[str, Any] = {}
        self.audience = CLIENT
        self.nonce = ""

    def token(self) -> str:
        now = int(time.time())
        told = {
            "iss": self.url,
            "aud": self.audience,
            "iat": now,
            "exp": now + 60,
            "nonce": self.nonce,
            **self.claims,
        }
        return jwt.encode(told, self.key, "RS256", headers={"kid": "1"})

    def keys(self) -> dict[str, Any]:
        public = self.key.public_key().public_numbers()
        exponent = base64.urlsafe_b64encode(public.e.to_bytes(3)).decode()
        return {"keys": [{"kty": "RSA", "kid": "1", "alg": "RS256", "n": _number(public.n), "e": exponent}]}


class _Handler(BaseHTTPRequestHandler):
    server: OpenIdProvider

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        match address.path:
            case "/authorize":
                self.server.nonce = asked["nonce"]
                self.send_response(302)
                back = urlencode({"code": "one", "state": asked["state"]})
                self.send_header("Location", f"{asked['redirect_uri']}?{back}")
                self.end_headers()
            case "/jwks":
                self._say(self.server.keys())
            case "/userinfo":
                self._say(self.server.claims)
            case _:
                self.send_error(404)

    def do_POST(self) -> None:
        asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if asked["code"] != ["one"] or "code_verifier" not in asked:
            self.send_error(400)
            return
        self._say({"id_token": self.server.token(), "access_token": "two", "token_type": "Bearer"})

    def _say(self, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        pass


@contextmanager
def open_id() -> Iterator[OpenIdProvider]:
    provider = OpenIdProvider()
    thread = Thread(target=provider.serve_forever)
    thread.start()
    try:
        yield provider
    finally:
        provider.shutdown()
        provider.server_close()
        thread.join()
