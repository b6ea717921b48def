"""The real page with the real modules, engine and thread, and a socket that the test holds at the other end.

For what a browser does when frames are late, lost, doubled or refused: with a real server that cannot be staged.
"""

from __future__ import annotations

import json
import mimetypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.urls import reverse
from django.utils.safestring import mark_safe
from playwright.sync_api import Locator, Page

from a2ui import InputError
from envelopes.markup.strings import strings
from tests.envelopes.transports.panel.talk import Talk

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'self'; form-action 'self'"
)
FAKE_SOCKET = """
window.stage = { sockets: [], sent: [], refuse: 0 };
window.WebSocket = class {
  constructor(url) {
    this.url = url;
    stage.sockets.push(this);
    setTimeout(() => stage.refuse > 0 ? (stage.refuse--, this.end(1006)) : this.onopen?.({}), 0);
  }
  send(text) {
    if (this.ended) throw new Error('closed');
    stage.sent.push({ at: performance.now(), socket: stage.sockets.indexOf(this), ...JSON.parse(text) });
  }
  close() { this.ended = true; }
  end(code) { this.ended = true; this.onclose?.({ code }); }
};
window.push = text => { const now = stage.sockets.at(-1); now.onmessage?.({ data: text }); };
window.drop = code => stage.sockets.at(-1).end(code);
"""


class Stage:
    """``talk`` is the server's side; ``sync`` does what a server would do with what the browser has sent."""

    def __init__(self, page: Page, url: str, talk: Talk) -> None:
        self.page = page
        self.url = url
        self.talk = talk
        self.read = 0
        self.prev = 0
        self.mute = False

    def open(self) -> None:
        self.page.goto(self.url)
        self.prev = len(self.talk.rows)
        self.greet()

    def sent(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page.evaluate("stage.sent")
        return found

    def fresh(self) -> list[dict[str, Any]]:
        """What came since the last call."""
        found = self.sent()[self.read :]
        self.read += len(found)
        return found

    def wait_for(self, kind: str) -> dict[str, Any]:
        """The next message of a type; whatever comes before it is passed over."""
        for _ in range(200):
            for message in self.sent()[self.read :]:
                self.read += 1
                if message["type"] == kind:
                    return message
            self.page.wait_for_timeout(25)
        raise AssertionError(f"no {kind} came; sent: {self.sent()}")

    def push(self, frame: dict[str, Any]) -> None:
        self.page.evaluate("text => push(text)", json.dumps(frame))

    def greet(self) -> dict[str, Any]:
        """Answer the hello of a new connection, with the rows that the browser has not got."""
        hello = self.wait_for("hello")
        now = round(self.talk.at.timestamp() * 1000)
        self.push({"type": "welcome", "seq": len(self.talk.rows), "busy": self.talk.thread.busy, "now": now})
        return hello

    def frame(self, ops: list[Any], **more: Any) -> dict[str, Any]:
        seq = len(self.talk.rows)
        frame = {
            "seq": seq,
            "prev": self.prev,
            "ops": json.loads(json.dumps(ops)),
            "busy": self.talk.thread.busy,
        }
        self.prev = seq
        return frame | more

    def row(self, ops: list[Any], **more: Any) -> None:
        """The last row of the talk, as its frame."""
        self.push(self.frame(ops, **more))
        self.settle()

    def settle(self) -> None:
        """Frames are applied one after the other, asynchronously."""
        self.page.evaluate("() => new Promise(done => setTimeout(done, 30))")

    def sync(self, *, wait: int = 300) -> list[dict[str, Any]]:
        """Let debounced edits go out, take them in and answer: the row first, then the ack, as a server may."""
        self.page.wait_for_timeout(wait)
        messages = self.fresh()
        for message in messages:
            if message["type"] == "edit":
                self._edit(message)
            elif message["type"] == "show":
                self._show(message)
        self.settle()
        return messages

    def _edit(self, message: dict[str, Any]) -> None:
        try:
            edit = self.talk.surfaces.edit(message["target"], message["value"])
        except InputError as error:
            self.push({"type": "error", "id": message["id"], "code": error.code, "message": error.message})
            return
        data = {"owner": edit.owner, "surfaceId": edit.surface_id, "ops": edit.ops}
        self.row(self.talk.row("edit", data))
        self.push({"type": "ack", "id": message["id"], "seq": len(self.talk.rows)})

    def _show(self, message: dict[str, Any]) -> None:
        more = self.talk.surfaces.more(message["target"])
        data = {
            "owner": more.owner,
            "surfaceId": more.surface_id,
            "target": more.target,
            "count": more.count,
        }
        self.row(self.talk.row("show", data))
        self.push({"type": "ack", "id": message["id"], "seq": len(self.talk.rows)})

    def label(self, text: str) -> Locator:
        return self.page.get_by_label(text, exact=True)

    def status(self) -> str:
        return self.page.locator("#status").get_attribute("data-state") or ""


def render(talk: Talk, **changes: Any) -> str:
    """The page of a conversation, as the view would answer it."""
    request = RequestFactory().get("/chat/cur/")
    request.user = AnonymousUser()
    prompt = SimpleNamespace(title="Find a flight", detail="To Corfu", text="Find a flight to Corfu")
    actor = SimpleNamespace(
        name="sally",
        display_name="Sally",
        role="travel desk",
        greeting="Where to?",
        pledge="",
        prompts=[prompt],
    )
    context: dict[str, Any] = {
        "actor": actor,
        "label": "Scripted demo model",
        "session": SimpleNamespace(public_id="cur", title=talk.thread.title, timezone="Europe/Berlin"),
        "socket": "/ws/chat/",
        "may_write": True,
        "decides_as": ["owner"],
        "now": round(talk.at.timestamp() * 1000),
        "thread": mark_safe(talk.html()),  # noqa: S308 - as the view does
        "empty": not talk.rows,
        "seq": len(talk.rows),
        "busy": talk.thread.busy,
        "groups": [],
        "person": "Ines",
        "person_key": "user:1",
        "limit": 200,
        "frame_limit": 131_072,
        "keep": "/api/sessions/-/artifacts",
        "file_limit": 1000,
        "file_most": 3,
        "notices": "off",
        "login": "/accounts/login/?next=%2Fchat%2Fcur%2F",
        "strings": strings("Sally"),
        "theme": "auto",
    }
    return render_to_string("beach/panel/page.html", context | changes, request=request)


@contextmanager
def serving(page: Any) -> Iterator[str]:
    """A server for one page, given as a function, and the static files; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            found = finders.find(path.removeprefix("/static/")) if path.startswith("/static/") else None
            if isinstance(found, str):
                self._answer(Path(found).read_bytes(), mimetypes.guess_type(found)[0] or "text/plain")
            elif path == reverse("envelopes:list"):
                self._answer(b"", "text/html; charset=utf-8")
            elif path == "/chat/cur/":
                self._answer(page().encode(), "text/html; charset=utf-8")
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == reverse("envelopes:reach"), self.path
            reached = {"origin": True, "known": True, "person": "user:1", "csrf": "fresh"}
            self._answer(json.dumps(reached).encode(), "application/json")

        def _answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class calls it
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/chat/cur/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
