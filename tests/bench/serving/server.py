"""The server that is measured: the product as one starts it, on a scratch database, and what the bench asks of it."""

from __future__ import annotations

import http.client
import http.cookiejar
import json
import re
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from beachsite.suite import ROOT
from tests.bench.serving.client import Conversation
from tests.bench.serving.database import Kind, Template, manage
from tests.bench.serving.processes import BenchError, Process
from tests.bench.serving.talking import converse
from tests.liveserver import free_port


def default_command() -> str:
    """How the product says it is started: its own command where it has one, else what docs/deploy.md says."""
    if list(ROOT.glob("*/management/commands/serve.py")):
        return "manage.py serve --port {port}"
    return "-m daphne -b 127.0.0.1 -p {port} beachsite.asgi:application"


class Server(Process):
    """A running server of the product."""

    def __init__(self, command: str, environ: dict[str, str], log: Path) -> None:
        self._command, self._environ = command, environ
        self._begin(log)

    def _begin(self, log: Path) -> None:
        self.port = free_port()
        words = self._command.format(port=self.port).split()
        super().__init__([sys.executable, *words], self._environ, log)
        try:
            self.answers(self.port)
        except BaseException:
            self.stop()
            raise

    def restart(self) -> None:
        """End it, and begin anew on what it has stored."""
        self.stop()
        self._begin(self.log)

    def door(self, **order: Any) -> dict[str, Any]:
        """Give an order to jobs, or none; the counters of the server."""
        body = json.dumps(order) if order else ""
        told: dict[str, Any] = json.loads(self._ask("POST", "/bench/", {}, body))
        return told

    def page(self, talk: Conversation) -> tuple[float, bytes]:
        """Seconds until the page of a conversation was here, and what it is."""
        began = time.perf_counter()
        body = self._ask("GET", f"/chat/{talk.id}/", {"Cookie": talk.cookie})
        return time.perf_counter() - began, body

    def loaded(self, talk: Conversation) -> Conversation:
        """The conversation as somebody has it who loads its page now. Raises BenchError where that has no last row."""
        _, page = self.page(talk)
        found = re.search(rb' data-seq="(\d+)"', page)
        if found is None:
            raise BenchError("The page does not say which rows it shows.")
        return replace(talk, seq=int(found[1]))

    def begin(self) -> Conversation:
        """A new conversation, by the way of a browser."""
        jar = http.cookiejar.CookieJar()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        origin = f"http://127.0.0.1:{self.port}"
        browser.open(f"{origin}/", timeout=30).read()
        token = next(cookie.value for cookie in jar if cookie.name == "csrftoken")
        asked = urllib.request.Request(
            f"{origin}/chat/new",
            data=b"",
            headers={"Accept": "application/json", "X-CSRFToken": str(token), "Origin": origin},
        )
        made = json.load(browser.open(asked, timeout=30))
        return Conversation(made["id"], "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar))

    def faults(self) -> int:
        """Tracebacks in its log."""
        return self.log.read_text(encoding="utf-8", errors="replace").count(
            "Traceback (most recent call last)"
        )

    def _ask(self, method: str, path: str, headers: dict[str, str], body: str = "") -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=240)
        try:
            connection.request(method, path, body=body or None, headers=headers)
            answer = connection.getresponse()
            said = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise BenchError(f"{method} {path} answered {answer.status}: {said[:300]!r}")
        return said


Wanted = tuple[tuple[str, ...], int, int]
"""Conversations in which these words were said, so many, each of so many rows at least."""


class Site:
    """Servers of the product, each on a database of its own with the conversations that are wanted in it."""

    def __init__(
        self, kind: Kind, folder: Path, command: str, most: Mapping[tuple[str, ...], int], stack: ExitStack
    ) -> None:
        self._template = Template(kind, folder, stack)
        self._folder, self._command = folder, command
        self._most = most
        """How many of the short ones anybody will want: made at once."""
        self._samples: dict[tuple[str, ...], str] = {}
        self._made: dict[tuple[tuple[str, ...], int], list[Conversation]] = {}

    @contextmanager
    def serving(
        self, *wanted: Wanted, environ: Mapping[str, str] | None = None
    ) -> Iterator[tuple[Server, list[list[Conversation]]]]:
        """A server that has just been started, and the conversations; no two of them are the same."""
        groups = self._take(wanted)
        with self._template.copy() as own, self._start({**own, **(environ or {})}) as server:
            try:
                yield server, groups
            except Exception:
                sys.stderr.write(f"The server's last lines:\n{server.tail()}\n")
                raise
            finally:
                # Its jobs and turns need not be handed back to anybody.
                server.kill()

    def _start(self, environ: dict[str, str]) -> Server:
        return Server(self._command, environ, self._folder / "server.log")

    def _take(self, wanted: Sequence[Wanted]) -> list[list[Conversation]]:
        needed: Counter[tuple[tuple[str, ...], int]] = Counter()
        for said, count, rows in wanted:
            needed[said, rows] += count
        self._make({key: count for key, count in needed.items() if len(self._made.get(key, ())) < count})
        pools = {key: iter(self._made[key]) for key in needed}
        return [list(islice(pools[said, rows], count)) for said, count, rows in wanted]

    def _make(self, short: Mapping[tuple[tuple[str, ...], int], int]) -> None:
        """Copy conversations by a management command, from some that a server has written."""
        self._say({said for said, _ in short} - set(self._samples))
        orders = []
        for (said, rows), count in short.items():
            most = count if rows else max(count, self._most.get(said, 0))
            orders.append({"like": self._samples[said], "count": most, "rows": rows})
        if orders:
            told = json.loads(manage(self._template.environ, "bench_sessions", json.dumps(orders)))
            for key, made in zip(short, told, strict=True):
                self._made[key] = [Conversation(**one) for one in made]

    def _say(self, missing: set[tuple[str, ...]]) -> None:
        if not missing:
            return
        with self._start(self._template.environ) as server:
            for said in sorted(missing | set(self._most) - set(self._samples)):
                talk = server.begin()
                converse(server.port, talk, said)
                self._samples[said] = talk.id
