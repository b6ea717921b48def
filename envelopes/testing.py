"""What tests ask of the runtime, an application's too, and nothing that is served does: a conversation at once, and
waiting until nothing is done any more."""

from __future__ import annotations

import asyncio
import secrets

from envelopes.access import Principal, begin_session
from envelopes.models import Session
from envelopes.runtime import process
from envelopes.runtime.runner import Runner


def create_session(who: Principal, actor: str, *, locale: str = "en-US", timezone: str = "UTC") -> Session:
    """A new conversation of ``who`` with ``actor``."""
    session, _ = begin_session(who, actor, secrets.token_urlsafe(), locale=locale, timezone=timezone)
    return session


def current() -> process.Process | None:
    """What runs beside the sockets of this process, if anything."""
    return process._Running.process


async def idle(runner: Runner) -> None:
    """Wait until no turn and no job runs there."""
    while runner._tasks:
        await asyncio.wait(set(runner._tasks))
        # A task that ends may wake the next one.
        await asyncio.sleep(0)
