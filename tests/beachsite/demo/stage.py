"""A stand-in for the runner: plays turns of the script, runs its tools, and keeps what was said."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from beachsite.demo.sally import SALLY
from beachsite.demo.script import sally
from envelopes.errors import BeachError
from envelopes.protocol.respond import check_respond
from envelopes.providers import transcript as t
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Reply, Say
from envelopes.registries.tools import Tool
from envelopes.types import Json, JsonObject

TOOLS: dict[str, Tool] = {tool.name: tool for tool in SALLY.tools}


@dataclass
class Context:
    """A ``ToolContext`` that collects what the tool emits."""

    call_id: str = "call-1"
    session_id: str = "session-1"
    turn_id: str = "turn-1"
    actor: str = "sally"
    owner_name: str = ""
    parts: list[JsonObject] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    async def attach(self, name: str, mime_type: str, content: bytes) -> str:
        self.files[name] = content
        return name

    async def reveal(self, value: Json) -> Json:
        return value

    async def emit(self, *parts: JsonObject) -> None:
        self.parts += parts


@dataclass
class Turn:
    """What one turn came to. ``requests`` are all that the script was asked with."""

    parts: list[JsonObject] = field(default_factory=list)
    calls: list[tuple[str, JsonObject]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    def types(self) -> list[str]:
        return [part["metadata"]["partType"] for part in self.parts]

    def text(self, part_type: str) -> str:
        return "\n".join(
            str(part["text"]) for part in self.parts if part["metadata"]["partType"] == part_type
        )

    def data(self, part_type: str) -> list[JsonObject]:
        return [part["data"] for part in self.parts if part["metadata"]["partType"] == part_type]

    def data_of_clarify(self) -> list[str]:
        """The answers to choose from."""
        return [str(choice) for data in self.data("clarify") for choice in data["choices"]]

    def messages(self) -> list[JsonObject]:
        """All A2UI messages, in order."""
        return [message for data in self.data("a2ui-surface") for message in data["messages"]]

    def components(self) -> list[JsonObject]:
        """All components that a message brought, in order."""
        return components_of(self.messages())


def components_of(messages: list[JsonObject]) -> list[JsonObject]:
    """The components in A2UI messages, those of new surfaces too."""
    return [
        component
        for message in messages
        for verb in ("createSurface", "updateComponents")
        for component in message.get(verb, {}).get("components", [])
    ]


class Stage:
    """One session. ``decision``: what a person says to an approval; anything but "granted" is the error's code."""

    def __init__(self) -> None:
        self.history: list[JsonObject] = []
        self.turns = 0

    def say(self, text: str, *, shown: JsonObject | None = None, **how: Any) -> Turn:
        """``shown``: the data models of the surfaces that send them."""
        model = [t.injection_block("data-model", {"version": "1.0", "surfaces": shown})] if shown else []
        return self._turn(*model, t.user_text(text), **how)

    def click(self, name: str, context: JsonObject, *, shown: JsonObject | None = None, **how: Any) -> Turn:
        """``shown``: the data models of the surfaces that send them."""
        action = {
            "name": name,
            "surfaceId": "s",
            "sourceComponentId": "c",
            "timestamp": "",
            "context": context,
        }
        return self._turn(t.action_block(action, {"version": "1.0", "surfaces": shown or {}}), **how)

    def _turn(self, *opening: JsonObject, decision: str = "granted", reason: str = "") -> Turn:
        self.turns += 1
        turn = Turn()
        clock = {"now": datetime.now(UTC).isoformat(), "timezone": "UTC", "locale": "en"}
        messages = t.extended(self.history, "user", [t.injection_block("context", clock), *opening])
        later: list[JsonObject] = []
        for step in range(12):
            request = ModelRequest("", messages, [], actor="sally", turn_id=f"turn{self.turns:08d}")
            reply = sally(request)
            turn.requests.append(request)
            turn.replies.append(reply)
            uses, results, jobs = [], [], []
            for place, block in enumerate(reply.blocks):
                call_id = f"call{self.turns}-{step}-{place}"
                if isinstance(block, Say):
                    uses.append(t.tool_use(call_id, "respond", self._said(turn, block)))
                    results.append(t.tool_result(call_id, {"delivered": len(block.parts)}))
                elif isinstance(block, Call):
                    uses.append(t.tool_use(call_id, block.tool, block.args))
                    turn.calls.append((block.tool, block.args))
                    outcome, error = _outcome(block, call_id, decision, reason)
                    if TOOLS[block.tool].background:
                        results.append(t.tool_result(call_id, {"status": "started"}))
                        payload = {"error": outcome} if error else {"result": outcome}
                        jobs.append(
                            t.injection_block("tool-result", payload, tool=block.tool, call_id=call_id)
                        )
                    else:
                        results.append(t.tool_result(call_id, outcome, is_error=error))
            messages = t.extended(t.extended(messages, "assistant", uses), "user", results)
            if (
                turn.states
                and turn.states[-1] != "awaiting"
                and not jobs
                and isinstance(reply.blocks[-1], Say)
            ):
                break
            if isinstance(reply.blocks[-1], Say) and later:
                messages, later = t.extended(messages, "user", later), []
            later += jobs
        else:
            raise AssertionError("The turn did not end.")
        said = turn.text("response") + turn.text("clarify") + turn.text("error")
        if any(TOOLS[name].approval for name, _ in turn.calls):
            how = "denied" if decision in ("denied", "expired") else "granted"
            said = f"[Asked for approval: ?]\n[Approval {how}]\n{said}"
        self.history = t.extended(
            t.extended(self.history, "user", opening[-1:]), "assistant", [t.assistant_text(said)]
        )
        return turn

    @staticmethod
    def _said(turn: Turn, block: Say) -> JsonObject:
        call = {"parts": list(block.parts), "turnState": block.state}
        check_respond(call)
        turn.parts += block.parts
        turn.states.append(block.state)
        return call


def _outcome(block: Call, call_id: str, decision: str, reason: str) -> tuple[Json, bool]:
    tool = TOOLS[block.tool]
    args = tool.input.model_validate(block.args)
    if tool.approval and decision != "granted":
        return {"code": decision, "message": "It was not run.", "reason": reason}, True
    try:
        with ThreadPoolExecutor(1) as beside:
            # The browser tests' driver leaves a running loop to this thread.
            return beside.submit(asyncio.run, _run(tool, call_id, args)).result(), False
    except BeachError as error:
        return error.as_dict(), True


async def _run(tool: Tool, call_id: str, args: Any) -> Json:
    return await tool.run(Context(call_id=call_id), args)
