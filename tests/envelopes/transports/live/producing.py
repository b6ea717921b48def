"""A process that appends to one conversation, by every way into the log: ``python -m ... SESSION PRODUCERS EACH``."""

from __future__ import annotations

import asyncio
import os
import sys

import django
from django.db import connections


async def _produce(session: int, producers: int, each: int) -> None:
    from envelopes.log.append import writing
    from envelopes.log.backends.port import Append, NewRow
    from envelopes.log.commits import committer

    def said(producer: int, number: int) -> dict[str, str]:
        return {"text": f"{os.getpid()} {producer} {number}", "name": "Ada"}

    async def short(producer: int) -> None:
        for number in range(each):
            rows = [NewRow("message", said(producer, number)), NewRow("note", {"note": "of nobody's view"})]
            await committer.append(Append(session, None, rows))
            await asyncio.sleep(0.001)

    def general(producer: int) -> None:
        try:
            for number in range(each):
                with writing(session) as writer:
                    writer.add("note", {"note": "before"})
                    writer.add("message", said(producer, number))
        finally:
            connections.close_all()

    half = range(0, producers, 2), range(1, producers, 2)
    await asyncio.gather(*map(short, half[0]), *(asyncio.to_thread(general, one) for one in half[1]))
    assert committer.stop()


def main(*words: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "beachsite.settings.test"
    django.setup()
    asyncio.run(_produce(*(int(word) for word in words)))  # type: ignore[arg-type]


if __name__ == "__main__":
    main(*sys.argv[1:])
