"""What the cases act on: people, a till that counts, a model that can say anything, and the page as text."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

import html5lib
import pytest
from pydantic import BaseModel, ConfigDict

from envelopes.access import Principal
from envelopes.models import Approval
from envelopes.providers.port import BlockStarted, ModelEvent, ModelRequest
from envelopes.providers.scripted import ScriptedProvider
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.types import Json, JsonObject
from tests import factories
from tests.desk import Desk, Script
from tests.shared import SHARED, case, caselib

_BUTTON = re.compile(r"<button[^>]*data-act[^>]*>")


class Money(BaseModel):
    """Arguments of everything that moves money."""

    model_config = ConfigDict(extra="forbid")
    order: str
    amount: float


class Mail(BaseModel):
    to: str = "ada@example.org"


class Till:
    """Tools with an effect, and what they did: ``(name, arguments)`` in order."""

    def __init__(self, *, raises: BaseException | None = None, expires_after: float | None = 900) -> None:
        self.executed: list[tuple[str, JsonObject]] = []
        self.raises = raises
        self.expires_after = expires_after

    def tools(self) -> tuple[Tool, ...]:
        return (self._tool("refund"), self._tool("wire_transfer"), self._mail())

    def count(self, name: str = "refund") -> int:
        return sum(called == name for called, _ in self.executed)

    def _tool(self, name: str) -> Tool:
        async def run(context: object, args: Money) -> Json:
            self.executed.append((name, args.model_dump(mode="json")))
            if self.raises:
                raise self.raises
            return {"done": True}

        policy = ApprovalPolicy(
            question=lambda args: f"{name} {args.amount:g} for {args.order}?",
            done=lambda args, result: "Paid.",
            risk="high",
            expires_after=self.expires_after,
        )
        return Tool(name, "Moves money.", Money, run, approval=policy, idempotent=False)

    def _mail(self) -> Tool:
        async def send(context: object, args: Mail) -> Json:
            self.executed.append(("send_mail", args.model_dump()))
            return {"sent": True}

        return Tool("send_mail", "Sends a mail.", Mail, send, idempotent=False)


def case_variants(path: str) -> list[Any]:
    """Every variant of one case, as pytest params (input, expected); none where there is no shared data."""
    if SHARED is None:
        return []
    return [
        pytest.param(given, expected, id=name) for name, given, expected in caselib().variants(case(path))
    ]


async def until(holds: Callable[[], Awaitable[bool]], *, seconds: float = 10) -> None:
    """Wait for what has no event of its own."""
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110 - it is in the database
            await asyncio.sleep(0.01)


def named(call_ids: Iterable[str]) -> Callable[[Script], ScriptedProvider]:
    """A scripted model whose tool calls (respond() apart) have these ids, one after the other."""
    ids = iter(call_ids)

    class Named(ScriptedProvider):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            async for event in super().stream(request):
                if isinstance(event, BlockStarted) and event.kind == "tool_use" and event.name != "respond":
                    yield replace(event, id=next(ids, event.id))
                else:
                    yield event

    return lambda script: Named(script, pace=0)


def staff(name: str = "bo") -> Principal:
    """Somebody who may decide for others."""
    user = factories.make_user(name, staff=True, permissions=["view_session", "decide_approval"])
    return factories.make_principal(user)


def buttons(html: str) -> list[str]:
    """The targets of the buttons on surfaces, in page order."""
    found = [re.search(r'\bid="([^"]+)"', tag) for tag in _BUTTON.findall(html)]
    return [match[1] for match in found if match]


def text_of(html: str, css_class: str = "", *, but: str = " ") -> str:
    """Visible text, white space collapsed; of all elements of one class (without another), one after the other, if it
    is given."""
    tree = html5lib.parseFragment(html, namespaceHTMLElements=False)
    if not css_class:
        return " ".join("".join(tree.itertext()).split())
    found = [
        node
        for node in tree.iter()
        if css_class in (classes := str(node.get("class") or "").split()) and but not in classes
    ]
    return " ".join("".join("".join(node.itertext()) for node in found).split())


def cards(html: str) -> dict[str, str]:
    """The state of each approval card, by approval id where it still has buttons, else by place."""
    tree = html5lib.parseFragment(html, namespaceHTMLElements=False)
    found: dict[str, str] = {}
    for number, node in enumerate(
        node for node in tree.iter() if "b-approval" in str(node.get("class") or "").split()
    ):
        ids = [str(inner.get("data-approval")) for inner in node.iter() if inner.get("data-approval")]
        found[ids[0] if ids else f"#{number}"] = str(node.get("data-state"))
    return found


async def states(desk: Desk) -> list[str]:
    return [approval.state for approval in await desk.approvals()]


def by_code(outcomes: list[Any]) -> list[str]:
    """``won`` or the code of the error, for each of several decisions."""
    return ["won" if isinstance(outcome, Approval) else outcome.code for outcome in outcomes]
