"""Programs send documents and patches of them, and follow them as root replacement, then patches."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from asgiref.sync import sync_to_async
from waffle.models import Flag

from envelopes.models import Document
from envelopes.providers.scripted import Say, text
from envelopes.transports.documents import document_part
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.formats.patches import apply, parse_patch
from envelopes.transports.documents.shapes.a2ui import A2UI_BYTES, A2uiEnvelope
from envelopes.transports.documents.shapes.common import canonical_id
from envelopes.transports.documents.shapes.reading import read_envelope
from tests.desk import Desk, replies
from tests.envelopes.transports.documents import tables
from tests.envelopes.transports.program import Program, at_door
from tests.envelopes.transports.sse.test_sse import Stream

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = replies([Say([text("response", "Hello")])])
SCOPES = "chat read documents"
DOCUMENT: dict[str, Any] = {
    **tables.DOCUMENT,
    "experimental": {**tables.BLOCK, "rollout_stage": "limited_preview"},
}
SURFACE = DOCUMENT["surface"]
_count = iter(range(10**6))


@pytest.fixture(autouse=True)
def _in_rollout(db: None) -> None:
    Flag.objects.create(name=tables.BLOCK["feature_flag"], everyone=True)


def envelope(*ops: Any, surface: str = SURFACE, **more: Any) -> dict[str, Any]:
    name = canonical_id(next(_count), "test")
    return {"v": 1, "id": name, "surface": surface, "patch": {"v": 1, "ops": list(ops)}, **more}


def whole(document: Any = DOCUMENT, **more: Any) -> dict[str, Any]:
    return envelope({"op": "replace", "path": "", "value": document}, **more)


def cell(value: str) -> dict[str, Any]:
    return {"op": "replace", "path": "/components/3/props/rows/0/1", "value": value}


async def send(caller: Program, d: Desk, body: Any) -> Any:
    return await caller.ask("post", f"/api/sessions/{d.session.public_id}/documents", body)


async def sent(caller: Program, d: Desk, body: Any) -> Any:
    response = await send(caller, d, body)
    assert response.status_code == 200, response.content
    return response.json()


async def listen(caller: Program, d: Desk, **headers: str) -> Stream:
    response = await caller.ask("get", f"/api/sessions/{d.session.public_id}/documents", **headers)
    assert response.status_code == 200, response.content
    return Stream(response)


async def test_a_document_becomes_a_surface_and_a_patch_changes_it() -> None:
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        first = await sent(caller, d, whole())
        second = await sent(caller, d, envelope(cell("41"), cell("42")))
        page = await d.html()
        rows = await d.rows("part", "a2ui-surface")
        turns = await d.turns()
        address = f"/api/sessions/{d.session.public_id}/documents/{SURFACE}"
        fetched = await caller.ask("get", address)
        again = await caller.ask("get", address, If_None_Match=fetched["ETag"])

    assert (first["version"], second["version"], first["repairs"]) == (1, 2, [])
    assert "A program" in page and "peer:" not in page
    assert "Experimental surface" in page and ">42<" in page and ">3<" not in page
    assert {row.actor for row in rows} == {f"peer:{caller.peer.pk}"}
    assert [row.data.get("late") for row in rows] == [None, True]
    assert len(rows[1].data["part"]["data"]["messages"]) == 1
    assert [(turn.status, turn.finalized_by) for turn in turns] == [("settled", "complete")]
    (op,) = fetched.json()["patch"]["ops"]
    assert op["path"] == "" and op["value"]["components"][3]["props"]["rows"] == [["cpu", "42"]]
    assert again.status_code == 304


async def test_it_stands_beside_what_is_said_in_the_conversation() -> None:
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        await sent(caller, d, whole())
        await d.say("Hi")
        await sent(caller, d, envelope(cell("42")))
        await d.say("And now?")
        page = await d.html()
        texts = await d.texts()

    assert texts == ["Hello", "Hello"]
    assert ">42<" in page
    assert "Hello" in page


async def test_what_is_followed_is_the_document_and_then_its_patches() -> None:
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        await sent(caller, d, whole())
        await sent(caller, d, envelope(cell("10")))
        stream = await (await listen(caller, d)).seen("upToDate")
        await sent(caller, d, envelope(cell("42")))
        await stream.seen("document", 2)
        last = await stream.cut()
        await sent(caller, d, envelope(cell("43")))
        later = await (await listen(caller, d, Last_Event_ID=str(last))).seen("upToDate")
        await later.cut()
        await sent(
            caller,
            d,
            envelope({"op": "add", "path": "/components/-", "value": {"type": "video"}}, cell("44")),
        )
        kept = await sync_to_async(Document.objects.get)()
        anew = await (await listen(caller, d)).seen("upToDate")
        await anew.cut()

    state: Any = None
    for event in (*stream.of("document"), *later.of("document")):
        assert (event.data["v"], event.data["surface"]) == (1, SURFACE)
        state = apply(state, parse_patch(event.data["patch"]))
    assert [op["path"] for op in stream.of("document")[0].data["patch"]["ops"]] == [""]
    assert stream.of("document")[1].data["patch"]["ops"] == [cell("42")]
    assert state["components"][3]["props"]["rows"] == [["cpu", "43"]]
    assert normalise(state).document == state
    (event,) = anew.of("document")
    assert apply(None, parse_patch(event.data["patch"])) == kept.document


async def test_a_document_of_an_agent_is_followed_as_well() -> None:
    part = document_part(DOCUMENT)
    script = replies([Say([part, text("response", "Here it is.")])])
    async with at_door(script, scopes=SCOPES) as (caller, d):
        stream = await (await listen(caller, d)).seen("upToDate")
        await d.say("Show it")
        await stream.seen("document")
        await stream.cut()

    (event,) = stream.of("document")
    assert apply(None, parse_patch(event.data["patch"])) == normalise(DOCUMENT).document


async def test_what_an_agent_makes_up_beside_its_messages_is_no_document() -> None:
    part = document_part(DOCUMENT)
    made_up = {
        "surface": SURFACE,
        "patch": {"v": 1, "ops": [{"op": "add", "path": "", "value": {"components": 3}}]},
    }
    bad = {**part, "data": {**part["data"], "document": made_up}}
    script = replies([Say([bad, text("response", "Here it is.")])])
    async with at_door(script, scopes=SCOPES) as (caller, d):
        await d.say("Show it")
        stream = await (await listen(caller, d)).seen("upToDate")
        await stream.cut()

    assert stream.of("document") == []


async def test_a_repeat_has_no_effect() -> None:
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        body = whole()
        first = await sent(caller, d, body)
        again = await sent(caller, d, body)
        rows = await d.rows("part")

    assert again == {**first, "repeated": True}
    assert len(rows) == 1


@pytest.mark.parametrize(
    ("body", "status", "code", "reason"),
    [
        ("{", 400, "invalid_input", "InvalidJson"),
        (envelope(), 400, "invalid_input", "EmptyField"),
        (
            whole({"v": 1, "surface": "other", "components": [{"type": "text"}]}),
            400,
            "invalid_input",
            "InvalidValue",
        ),
        (whole({"v": 1, "surface": SURFACE, "components": []}), 400, "invalid_input", "EmptyField"),
        (whole({**DOCUMENT, "experimental": {}}), 400, "invalid_input", "MissingField"),
        (envelope({"op": "remove", "path": "/nothing"}), 409, "conflict", "Conflict"),
        (envelope({"op": "add", "path": "/__proto__/x", "value": 1}), 400, "invalid_patch", "InvalidPointer"),
        (envelope(*[cell("1")] * 257), 400, "budget_exceeded", "BudgetExceeded"),
        (envelope({"op": "replace", "path": "/surface", "value": "x"}), 400, "invalid_input", "InvalidValue"),
        (
            whole(surface="beach:x", document={**DOCUMENT, "surface": "beach:x"}),
            400,
            "VALIDATION_FAILED",
            None,
        ),
    ],
)
async def test_what_cannot_be_taken_changes_nothing(
    body: Any, status: int, code: str, reason: str | None
) -> None:
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        await sent(caller, d, whole())
        before = len(await d.rows())
        response = await send(caller, d, body)
        after = await d.rows()

    told = response.json()
    assert (response.status_code, told["code"], told.get("reason")) == (status, code, reason), told
    assert len(after) == before


async def test_what_is_repaired_is_told_and_followed_as_it_is() -> None:
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        await sent(caller, d, whole())
        stream = await (await listen(caller, d)).seen("upToDate")
        told = await sent(
            caller, d, envelope({"op": "replace", "path": "/components/0/props/tone", "value": "loud"})
        )
        await stream.seen("document", 2)
        await stream.cut()

    (repair,) = told["repairs"]
    assert (repair["action"], repair["path"]) == ("replaced", "/components/0/props/tone")
    ops = stream.of("document")[1].data["patch"]["ops"]
    # What it became, and nothing else of the document.
    assert ops == [{"op": "replace", "path": "/components/0/props/tone", "value": "normal"}]


async def test_what_is_sent_by_a_form_is_checked_and_told_to_who_follows() -> None:
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        await sent(caller, d, whole())
        stream = await (await listen(caller, d)).seen("upToDate")
        button = {"surfaceId": SURFACE, "componentId": "c-settings", "owner": f"peer:{caller.peer.pk}"}
        pressed = await caller.ask("post", f"/api/sessions/{d.session.public_id}/actions", button)
        await stream.seen("submitted")
        await stream.cut()
        turns = await d.turns()
        page = await d.html()

    assert (pressed.status_code, pressed.json()) == (200, {"effect": {}})
    (event,) = stream.of("submitted")
    values = {"email": "a@example.com", "count": 4, "on": True, "level": "high"}
    assert event.data == {"surface": SURFACE, "componentId": "settings", "values": values}
    assert len(turns) == 1
    assert "Apply" in page


async def test_only_who_may_and_only_in_what_is_theirs() -> None:
    async with at_door(SCRIPT, scopes=SCOPES) as (_, d):
        async with at_door(SCRIPT, name="other", scopes=SCOPES) as (other, _):
            assert (await send(other, d, whole())).status_code == 404
            other.peer.scopes = ["chat", "read"]
            await other.peer.asave()
            response = await send(other, d, whole())
            assert response.status_code == 403 and response.json()["scope"] == "documents"
        assert await d.rows("part") == []


async def test_patches_make_no_document_that_no_envelope_could_hold() -> None:
    table = {"type": "table", "props": {"columns": ["c"] * 16, "rows": [["x" * 100] * 16] * 40}}
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        await sent(caller, d, whole({"v": 1, "surface": "s", "components": [table]}, surface="s"))
        add = {"op": "add", "path": "/components/-", "value": table}
        versions = [(await sent(caller, d, envelope(add, surface="s")))["version"] for _ in range(2)]
        refused = await send(caller, d, envelope(add, surface="s"))
        # Cells that are short in the patch are filled up.
        padded = {"type": "table", "props": {"columns": ["c"] * 16, "rows": [[]] * 256}}
        many = [{"op": "add", "path": "/components/-", "value": padded}] * 50
        filled = await send(caller, d, envelope(*many, surface="s"))
        fetched = await caller.ask("get", f"/api/sessions/{d.session.public_id}/documents/s")

    assert versions == [2, 3]
    for response in (refused, filled):
        assert (response.status_code, response.json()["code"]) == (400, "budget_exceeded")
        assert response.json()["allowed"] == 250_000 < response.json()["got"]
    assert read_envelope(A2uiEnvelope, fetched.content, A2UI_BYTES).surface == "s"


async def test_a_surface_is_fetched_by_any_name() -> None:
    name = "build/main %41?"
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        await sent(caller, d, whole({**DOCUMENT, "surface": name}, surface=name))
        fetched = await caller.ask("get", f"/api/sessions/{d.session.public_id}/documents/{quote(name)}")

    assert fetched.json()["surface"] == name
