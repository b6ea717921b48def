"""docs/documents.md does what it says: its envelopes are sent, its answers come, its code runs."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from beachsite.suite import ROOT
from envelopes.protocol.parts import check_part
from envelopes.transports.documents.formats.form_fields import TYPES
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.formats.patches import apply, parse_patch
from envelopes.transports.documents.formats.props import PROPS, TONES
from envelopes.transports.documents.outbound import CLOSED, NOTIFIED
from envelopes.transports.documents.webhooks import signing
from envelopes.transports.documents.webhooks.events import EVENTS
from tests.envelopes.transports.documents.test_door import SCOPES, SCRIPT, listen, send
from tests.envelopes.transports.documents.test_webhooks_received import GOOD
from tests.envelopes.transports.program import at_door

GUIDE = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.django_db(transaction=True)
async def test_its_envelopes_are_taken_and_its_answers_come() -> None:
    document, answer, patch, conflict = map(json.loads, blocks("json"))
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        first = await send(caller, d, document)
        stream = await (await listen(caller, d)).seen("upToDate")
        second = await send(caller, d, patch)
        failing = {"op": "replace", "path": conflict["path"], "value": "x"}
        third = await send(caller, d, {**patch, "id": GOOD["id"][::-1], "patch": {"v": 1, "ops": [failing]}})
        await stream.seen("document", 2)
        await stream.cut()
        page = await d.html()

    assert first.json() == {**answer, "seq": first.json()["seq"]}
    assert (second.status_code, second.json()["version"]) == (200, 2)
    assert (third.status_code, third.json()) == (409, conflict)
    state: Any = None
    for event in stream.of("document"):
        state = apply(state, parse_patch(event.data["patch"]))
    assert state["components"][1]["props"]["rows"] == [["compile", "12"], ["test", "40"]]
    assert "Done" in page and "Running" not in page


def test_it_names_every_type_tone_and_field() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", GUIDE, re.MULTILINE))

    assert [name for name in rows if name in PROPS] == list(PROPS)
    assert all(f"`{tone}`" in rows["text"] for tone in TONES)
    assert all(f"`{kind}`" in rows["form"] for kind in TYPES)
    made = normalise({"v": 1, "surface": "s", "components": [{"type": name} for name in PROPS]}).document
    for component in made["components"]:
        assert all(f"`{prop}`" in rows[component["type"]] for prop in component["props"])


@pytest.mark.django_db(transaction=True)
async def test_its_code_runs() -> None:
    shown, receiving = blocks("python")
    names: dict[str, Any] = {}
    exec(compile(shown, "documents.md", "exec"), names)  # noqa: S102
    exec(compile(receiving, "documents.md", "exec"), names)  # noqa: S102

    assert check_part(names["part"], origin="actor")[0].part_type
    secret = signing.new_secret()
    now = {"nonce": "n" * 16, "timestamp_unix_ms": int(time.time() * 1000)}
    body = json.dumps(signing.signed({**GOOD, "replay_protection": now}, secret)).encode()
    receive = sync_to_async(names["receive"])
    assert (await receive(body, {}, secret))["id"] == GOOD["id"]
    assert await receive(body, {}, secret) is None


def test_it_names_every_event_of_webhooks() -> None:
    rows = dict(re.findall(r"^\| `([a-z]+\.[a-z]+)` \| (.*) \|$", GUIDE, re.MULTILINE))

    assert rows.pop(CLOSED)
    assert rows == EVENTS
    assert set(EVENTS) >= NOTIFIED
