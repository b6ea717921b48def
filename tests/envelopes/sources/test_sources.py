"""The cases of this folder: what the source documents say, and what comes of it here."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from asgiref.sync import sync_to_async
from pydantic import BaseModel, ConfigDict

from envelopes.delivery.envelope import envelope_for, partial_envelope_for
from envelopes.delivery.rules import Reader
from envelopes.delivery.wanted import wanted_by
from envelopes.errors import RespondRefused
from envelopes.protocol.respond import check_respond
from envelopes.providers.scripted import Call, Prose, Raw, Reply
from envelopes.registries.part_types import PartTypeRegistry, part_types
from envelopes.registries.state_machines import StateMachineRegistry, state_machines
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.registries.transports import transports
from envelopes.turns.states import states_of
from envelopes.types import Json
from tests.desk import Desk, desk, replies

DOCUMENTS = [Path(__file__).parent / f"{name}.yaml" for name in ("envelope", "protocol", "respond")]
FILES = {path.stem: yaml.safe_load(path.read_text()) for path in DOCUMENTS}
CALLS = [(name, case) for name, file in FILES.items() for case in file.get("calls", ())]
TURNS = [(name, case) for name, file in FILES.items() for case in file["turns"]]


def named(cases: list[tuple[str, Any]]) -> list[str]:
    return [f"{name}: {case['case']}" for name, case in cases]


class NoArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


@pytest.fixture(autouse=True)
def _registered() -> Any:
    """What the documents register."""
    with ExitStack() as stack:
        for file in FILES.values():
            for given in file.get("types", ()):
                stack.enter_context(part_types.including(PartTypeRegistry("part type").register(given)))
            for given in file.get("machines", ()):
                machine = StateMachineRegistry("state machine").register(given)
                stack.enter_context(state_machines.including(machine))
        yield


@pytest.mark.parametrize(("name", "given"), CALLS, ids=named(CALLS))
def test_a_call(name: str, given: dict[str, Any]) -> None:
    if "refused" not in given:
        check_respond(given["input"], actors=("drafter",))
        return
    with pytest.raises(RespondRefused) as refused:
        check_respond(given["input"], actors=("drafter",))
    assert refused.value.facts["path"] == given["refused"]
    assert refused.value.code == "VALIDATION_FAILED"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("name", "given"), TURNS, ids=named(TURNS))
async def test_a_turn(name: str, given: dict[str, Any]) -> None:
    script = replies(*(_reply(said) for said in given["replies"]))
    tools = [_tool(called, **how) for called, how in given.get("tools", {}).items()]
    async with desk(script, *tools) as d:
        await d.say("Hello.")
        if "approve" in given:
            await d.decide(given["approve"])
        await _compare(d, given["expect"])


def _reply(said: Any) -> Reply:
    if isinstance(said, str):
        return Reply([Prose(said)])
    spoken = {key: value for key, value in said.items() if key != "call"}
    blocks: list[Any] = [Raw(json.dumps(spoken))]
    if "call" in said:
        blocks.append(Call(said["call"]))
    return Reply(blocks)


def _tool(name: str, *, gives: Json, asks: str = "", **more: Any) -> Tool:
    async def run(context: ToolContext, args: NoArguments) -> Json:
        return gives

    policy = ApprovalPolicy(question=lambda args: asks) if asks else None
    return Tool(name, f"Does {name}.", NoArguments, run, approval=policy, data_kind=more.get("dataKind"))


async def _compare(d: Desk, expect: dict[str, Any]) -> None:
    unknown = set(expect) - {"turn", "streamed", "envelope", "parts", "state", "problem"}
    assert not unknown, "a case that expects what nobody looks at"
    turn = (await d.turns())[-1]
    is_open = turn.status != "settled"
    for key, value in expect.get("turn", {}).items():
        assert (await _of_turn(d, turn))[key] == value, key
    for reader, types in expect.get("streamed", {}).items():
        assert await _streamed(d, _reader(reader)) == types, f"streamed to {reader}"

    def envelope(reader: str) -> list[Any]:
        how = partial_envelope_for if is_open else envelope_for
        return list(how(turn, _reader(reader))["parts"])

    for reader, types in expect.get("envelope", {}).items():
        parts = await sync_to_async(envelope)(reader)
        assert [part["metadata"]["partType"] for part in parts] == types, f"the envelope of {reader}"
    if "parts" in expect:
        parts = await sync_to_async(envelope)("peer: llm-context, a2ui-surface")
        for wanted in expect["parts"]:
            assert any(_holds(part, wanted) for part in parts), wanted
    if "state" in expect:
        states = await sync_to_async(states_of)(d.session)
        assert _holds(states, expect["state"])
    if "problem" in expect:
        told = [str(block) for request in d.requests for block in request.messages]
        assert any(expect["problem"] in text for text in told)


async def _of_turn(d: Desk, turn: Any) -> dict[str, Any]:
    settled = await d.rows("settled")
    return {
        "status": turn.status,
        "turnState": turn.turn_state if turn.status == "settled" else turn.status,
        "finalizedBy": settled[-1].data.get("finalizedBy") if settled else None,
    }


async def _streamed(d: Desk, reader: Reader) -> list[str]:
    wanted = wanted_by(transports["sse"], reader)
    return [
        row.part_type
        for row in await d.rows("part")
        if row.audience == "delivered" and wanted.part(row.part_type, bool(row.data.get("late")))
    ]


def _reader(named: str) -> Reader:
    kind, _, consumes = named.partition(":")
    if kind == "person":
        return Reader("person", surfaces=True)
    return Reader("peer", frozenset(word.strip() for word in consumes.split(",") if word.strip()))


def _holds(found: Any, wanted: Any) -> bool:
    """Whether ``found`` is ``wanted``, and perhaps more: objects may have other keys."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(key in found and _holds(found[key], value) for key, value in wanted.items())
    return bool(found == wanted)
