"""What tests ask of the runtime, an application's too, and nothing that is served does: a conversation at once, and
waiting until nothing is done any more."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection
from django.test import Client
from django.test.utils import _TestState
from django.urls import reverse

from a2ui import ComponentTarget
from envelopes import intake
from envelopes.access import Principal, begin_session, principal
from envelopes.approvals import service
from envelopes.database_threads import database_threads
from envelopes.log.commits import committer
from envelopes.log.read import rows_after
from envelopes.models import Approval, AuditChain, AuditEntry, Session
from envelopes.part_types.response import RESPONSE
from envelopes.providers.scripted import Script, ScriptedProvider
from envelopes.registries.actors import actors
from envelopes.runtime import process
from envelopes.runtime.runner import Runner
from envelopes.session_state import live_sessions
from envelopes.types import JsonObject

END_SECONDS = 10


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


@dataclass(frozen=True)
class Talk:
    """A conversation of one person with one agent. Each act waits until the agent has nothing more to do."""

    session: Session
    owner: Principal
    runner: Runner

    async def say(self, text: str) -> None:
        """What the person writes."""
        await sync_to_async(intake.post_message)(self.session, self.owner, secrets.token_hex(8), text)
        await idle(self.runner)

    async def asked(self) -> list[Approval]:
        """The questions that wait for somebody to decide, the oldest first."""
        found = Approval.objects.filter(session=self.session, state="pending").order_by("pk")
        return [approval async for approval in found]

    async def decide(self, decision: str, reason: str = "", *, by: Any = None) -> None:
        """Answers the oldest question that waits: "granted" or "denied". ``by``: a Django user who does, by default
        whoever owns the conversation. Raises ``NotFound`` where none waits, and for one who may not decide it."""
        waiting = await self.asked()
        asked = waiting[0].approval_id if waiting else ""
        who = self.owner if by is None else principal(by, None)
        await sync_to_async(service.decide)(asked, decision, who, reason=reason)
        await idle(self.runner)

    async def press(self, component: str) -> None:
        """A click on the component with this id, in the newest interface that has one: a button. Raises
        ``SurfaceRefused`` where there is none, or where it does nothing."""
        target = await sync_to_async(self._place_of)(component)
        await sync_to_async(intake.post_action)(self.session, self.owner, secrets.token_hex(8), target)
        await idle(self.runner)

    def _place_of(self, component: str) -> ComponentTarget:
        with live_sessions.present(self.session, "panel") as shown:
            found = [
                ComponentTarget(surface.owner, surface.id, component)
                for surface in shown.state.surfaces
                if component in surface.store.by_id
            ]
        return found[-1] if found else ComponentTarget(self.session.actor, "", component)

    async def page(self) -> str:
        """The HTML of the page, as whoever owns the conversation gets it. Raises ``ValueError`` for one of a guest: a
        page is for a browser, and a guest of a test has none."""
        if self.owner.user is None:
            raise ValueError(
                "Only the conversation of a user has a page here: conversation(..., owner=user)."
            )

        def read() -> str:
            client = Client()
            client.force_login(self.owner.user)
            return client.get(reverse("envelopes:session", args=[self.session.public_id]), secure=True).text

        return await sync_to_async(read)()

    async def parts(self, part_type: str = "") -> list[JsonObject]:
        """What the agent has said, of one type or of all."""
        rows = await sync_to_async(rows_after)(self.session.pk, 0)
        return [
            row.data["part"]
            for row in rows
            if row.kind == "part" and (not part_type or row.part_type == part_type)
        ]

    async def refused(self) -> list[JsonObject]:
        """The calls of its model, or script, that were refused: ``{call, error, input}``, where ``error`` says what was
        wrong, and where."""
        rows = await sync_to_async(rows_after)(self.session.pk, 0)
        return [row.data for row in rows if row.kind == "refused"]

    async def texts(self, part_type: str = RESPONSE.name) -> list[str]:
        """The words of its answers."""
        return [str(part.get("text", "")) for part in await self.parts(part_type)]


@asynccontextmanager
async def conversation(actor: str, script: Script | None = None, *, owner: Any = None) -> AsyncIterator[Talk]:
    """A conversation with the agent that is registered as ``actor``, in a test whose database commits
    (``TransactionTestCase``, and for SQLite a file: ``DATABASES["default"]["TEST"]["NAME"]``).

    ``script`` answers in place of its model. ``owner`` is the person, a Django user or a ``Principal``, by default a
    guest. Raises ``RegistrationError`` for an agent that is not there, ``RuntimeError`` outside of tests, in one that
    is a transaction, and on a SQLite database in memory.
    """
    if not hasattr(_TestState, "saved_data"):
        raise RuntimeError("This is for tests: afterwards their database is emptied.")
    if await sync_to_async(lambda: connection.in_atomic_block)():
        raise RuntimeError(
            "What this test writes is never committed, so no agent would see it: derive it from TransactionTestCase."
        )
    if await sync_to_async(_is_in_memory)():
        raise RuntimeError(
            "This test's database is in memory, where threads that work at once get 'database table is locked': name a "
            'file for it in the settings, as DATABASES["default"]["TEST"] = {"NAME": BASE_DIR / "test.sqlite3"}.'
        )
    agent = actors[actor]
    if script is not None:
        agent = replace(agent, provider=lambda: ScriptedProvider(script, pace=0))
    who = owner if isinstance(owner, Principal) else principal(owner, None)
    if not who.is_known:
        who = Principal(owner_key=secrets.token_hex(32), name="Guest")
    committer.start()
    with actors.including(agent):
        session = await sync_to_async(create_session)(who, actor)
        runner = Runner()
        await runner.start()
        try:
            yield Talk(session, who, runner)
        finally:
            await runner.stop()
            live_sessions.clear()
            # Their connections would keep a test's database from being removed.
            await asyncio.to_thread(_let_go)
            await sync_to_async(_clear_audit)()


def _is_in_memory() -> bool:
    return connection.vendor == "sqlite" and bool(connection.is_in_memory_db())  # type: ignore[attr-defined]


def _let_go() -> None:
    committer.stop(END_SECONDS)
    database_threads.stop(END_SECONDS)


def _clear_audit() -> None:
    """Django empties a test's tables afterwards, and a trigger keeps it from those of the decision log as long as the
    head counts their rows."""
    with connection.cursor() as cursor:
        for model in (AuditChain, AuditEntry):
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")  # noqa: S608 - our tables
