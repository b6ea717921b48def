"""A conversation for tests: a real database, a real runner, an actor on a script."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import sync_to_async

from envelopes import intake
from envelopes.access import Principal
from envelopes.approvals import service as approvals
from envelopes.log.read import rows_after
from envelopes.models import Approval, Session, ToolCall, Turn
from envelopes.protocol.rows import Row
from envelopes.providers.port import ModelRequest, Provider
from envelopes.providers.scripted import Reply, ScriptedProvider
from envelopes.registries.actors import Actor, actors
from envelopes.registries.tools import Tool
from envelopes.runtime.runner import Runner
from envelopes.session_state import live_sessions
from envelopes.testing import create_session, idle
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.types import Json, JsonObject

Script = Callable[[ModelRequest], Reply]


def replies(*following: Reply | Sequence[Any]) -> Script:
    """A script that answers with these replies, one after the other, whatever it is asked; the last one repeats.

    Only for tests within one process: it counts, so it is no model for a crash.
    """
    ready = [reply if isinstance(reply, Reply) else Reply(list(reply)) for reply in following]
    count = itertools.count()

    def script(request: ModelRequest) -> Reply:
        return ready[min(next(count), len(ready) - 1)]

    return script


@dataclass
class Desk:
    """One session with one actor, and who owns it."""

    session: Session
    owner: Principal
    runner: Runner
    requests: list[ModelRequest] = field(default_factory=list)
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    async def say(self, text: str, *, wait: bool = True) -> None:
        await sync_to_async(intake.post_message)(self.session, self.owner, self.id(), text)
        if wait:
            await self.quiet()

    async def act(self, target: str) -> JsonObject:
        answer = await sync_to_async(intake.post_action)(self.session, self.owner, self.id(), target)
        await self.quiet()
        return answer

    async def edit(self, target: str, value: Json) -> JsonObject:
        return await sync_to_async(intake.post_edit)(self.session, self.owner, self.id(), target, value)

    async def decide(
        self, decision: str, *, which: int = -1, who: Principal | None = None, **more: Any
    ) -> Approval:
        found = await self.approvals()
        decided = await sync_to_async(approvals.decide)(
            found[which].approval_id, decision, who or self.owner, **more
        )
        await self.quiet()
        return decided

    async def quiet(self, *, seconds: float = 120) -> None:
        """Until nothing runs any more, here or in another runner."""
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            await idle(self.runner)
            if not self.runner.started:
                return
            busy = Turn.objects.filter(session=self.session, status__in=["queued", "running"])
            if not await busy.aexists():
                return
            assert asyncio.get_running_loop().time() < deadline, "the turns do not come to an end"
            await asyncio.sleep(0.01)

    def id(self) -> str:
        return f"m{next(self._ids)}"

    async def rows(self, kind: str = "", part_type: str = "") -> list[Row]:
        found = await sync_to_async(rows_after)(self.session.pk, 0)
        return [
            row
            for row in found
            if (not kind or row.kind == kind) and (not part_type or row.part_type == part_type)
        ]

    async def parts(self, part_type: str = "") -> list[JsonObject]:
        return [row.data["part"] for row in await self.rows("part", part_type)]

    async def texts(self, part_type: str = "response") -> list[str]:
        return [str(part.get("text", "")) for part in await self.parts(part_type)]

    async def turns(self) -> list[Turn]:
        return await sync_to_async(
            lambda: list(Turn.objects.filter(session=self.session).order_by("number"))
        )()

    async def approvals(self) -> list[Approval]:
        return await sync_to_async(
            lambda: list(Approval.objects.filter(session=self.session).order_by("pk"))
        )()

    async def calls(self) -> list[ToolCall]:
        return await sync_to_async(
            lambda: list(ToolCall.objects.filter(session=self.session).order_by("pk"))
        )()

    async def html(self) -> str:
        def read() -> str:
            with live_sessions.present(self.session, "panel") as view:
                return html_of(view)

        return await sync_to_async(read)()


@asynccontextmanager
async def desk(
    script: Script,
    *tools: Tool,
    name: str = "tester",
    provider: Callable[[Script], Provider] | None = None,
    owner: Principal | None = None,
    **more: Any,
) -> AsyncIterator[Desk]:
    """A session with an actor that follows ``script`` and has ``tools``, and a runner that serves it. ``more`` of an
    ``Actor``."""
    requests: list[ModelRequest] = []

    def recorded(request: ModelRequest) -> Reply:
        requests.append(request)
        return script(request)

    make = provider or (lambda following: ScriptedProvider(following, pace=0))
    actor = Actor(
        name=name,
        display_name=name.title(),
        role="tests",
        provider=lambda: make(recorded),
        tools=tools,
        **{"instructions": "You are a test.", **more},
    )
    who = owner or Principal(owner_key="k" * 64, name="Ada")
    with actors.including(actor):
        live_sessions.clear()
        session = await sync_to_async(create_session)(who, name)
        runner = Runner()
        await runner.start()
        try:
            yield Desk(session, who, runner, requests)
        finally:
            await runner.stop()
            live_sessions.clear()
