"""A new version behind the nginx of docs/operating.md: processes go and come one after the other, and nobody's turn is
lost."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.faults.conftest import Lab
from tests.faults.nginx import nginx
from tests.liveserver import Server, free_port
from tests.operating.guide import piece
from tests.visitor import Visitor


@dataclass
class Front:
    """What visitors see of the two processes."""

    port: int
    data: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def ws_url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"


@contextmanager
def proxied(folder: Path, first: Server, second: Server) -> Iterator[Front]:
    """The page's nginx on loopback, without TLS: certificates are not what is tried here."""
    port = free_port()
    text = piece("/etc/nginx/conf.d/mysite.conf")
    text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};").replace(
        "chat.example.com", "127.0.0.1"
    )
    text = re.sub(r"\n *ssl_certificate\w* [^;]*;", "", text)
    text = re.sub(r"location /static/ \{[^}]*\}", "", text)
    text = text.replace("127.0.0.1:8001", f"127.0.0.1:{first.port}").replace(
        "127.0.0.1:8002", f"127.0.0.1:{second.port}"
    )
    with nginx(folder, text, port):
        yield Front(port, first.data)


async def _asks(front: Front, over: asyncio.Event) -> list[int]:
    """For pages, all the while; their statuses."""
    found = []
    async with httpx.AsyncClient(timeout=20, follow_redirects=True) as http:
        while not over.is_set():
            found.append((await http.get(f"{front.url}/")).status_code)
            await asyncio.sleep(0.05)
    return found


async def _is_let_go(visitor: Visitor) -> bool:
    """Whether the process that has just ended was theirs."""
    for _ in range(50):
        if not visitor.is_connected:
            return True
        await asyncio.sleep(0.01)
    return False


async def test_processes_are_restarted_in_the_middle_of_a_turn_and_nobody_notices(
    make_lab: Callable[..., Lab],
    make_sibling: Callable[[Lab], Lab],
    tmp_path: Path,
) -> None:
    # Longer than the test: nobody waits for a lease to run out.
    one = make_lab({"BEACH_LEASE_SECONDS": "60", "BEACH_PROXIES": "1"})
    other = await asyncio.to_thread(make_sibling, one)
    over = asyncio.Event()
    with proxied(tmp_path / "nginx", one.server, other.server) as front:
        asking = asyncio.create_task(_asks(front, over))
        visitor = await (await Visitor.arrive(front)).connect()  # type: ignore[arg-type]
        codes: list[int | None] = []
        one.gates.shut("words")
        await visitor.say("Count to three")
        await one.gates.wait("words")
        # As deploy.sh does it: one ends, comes back and answers, then the next.
        for lab in (one, other):
            await lab.stop()
            if await _is_let_go(visitor):
                codes.append(visitor.close_code)
                await visitor.drop()
                await visitor.connect()
            await lab.start()
        one.gates.open("words")
        await visitor.shows("third of three")
        await visitor.settles()
        await visitor.is_as_reloaded()
        over.set()
        statuses = await asking
        await visitor.drop()
    # At one of the two processes, or at both one after the other.
    assert set(codes) == {1012}
    assert len(statuses) > 10 and set(statuses) == {200}
    assert one.query("SELECT status, finalized_by FROM envelopes_turn") == [("settled", "complete")]
    one.log_is_gap_free()
