"""A conversation to a file and from one: equal, inert, and refused whole where it is not what an export writes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command
from django.test import AsyncClient
from django.utils import timezone

from envelopes import artifacts
from envelopes.admin import today
from envelopes.approvals.editing import edit
from envelopes.approvals.service import decide, expire_due
from envelopes.errors import BeachError, NotFound, ValidationFailed
from envelopes.intake.turns import post_decision
from envelopes.log.append import writing
from envelopes.models import (
    Approval,
    Artifact,
    AuditEntry,
    Event,
    Injection,
    Participant,
    Session,
    ToolCall,
    Turn,
    WebhookCursor,
    WebhookSubscription,
)
from envelopes.records.erasing import erase_conversation
from envelopes.records.storing import imported
from envelopes.records.taking import exported
from envelopes.registries.policies import OWNER, STAFF, Ask
from envelopes.registries.statuses import TOOL_CALL
from envelopes.session_state import live_sessions
from envelopes.turns.day_costs import day_costs
from envelopes.turns.outcomes import Outcome, record_outcome
from tests import factories
from tests.envelopes.admin.pages import url

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files")]

ID = re.compile(r"(?<![0-9a-z])[0-9a-z]{26}(?![0-9a-z])")


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


def talked(*, ends: bool = True) -> Session:
    """A conversation with everything in it; where it ``ends``, nothing of it is open."""
    ada = factories.make_principal(factories.make_user("ada"))
    session = factories.make_session(ada, title="Lisbon to Copenhagen")
    turn = factories.make_turn(session, text="Book it, for مرحبا")
    factories.add_part(turn, "response", text="One flight **fits**.")
    factories.add_part(turn, "domain-data", data={"price": 94.5}, dataKind="trip")
    first, second = factories.make_approvals(turn, {"order": "A1"}, {"order": "A2"})
    post_decision(session, ada, "m1", first.approval_id, "denied", reason="Too dear")
    if ends:
        decide(second.approval_id, "denied", ada)
        factories.settle_turn(turn)
    there = artifacts.put(session.public_id, b"%PDF-1.7 ticket")
    with artifacts.kept(there), writing(session.pk) as writer:
        chunk = artifacts.Chunk("ticket.pdf", "application/pdf", last_chunk=True)
        artifacts.record(writer.session, "billing", chunk, there)
    session.refresh_from_db()
    return session


def text_of(session: Session, *, files: bool = True) -> str:
    return "".join(exported(session, files=files))


def as_lines(text: str) -> list[bytes]:
    return [line.encode() for line in text.splitlines(keepends=True)]


def alike(text: str) -> str:
    """The text of a file with its ids by the order in which they come, and without what vouches for them."""
    names: dict[str, str] = {}
    body = "".join(text.splitlines(keepends=True)[:-1])
    return ID.sub(lambda match: names.setdefault(match[0], f"id{len(names)}"), body)


def sealed(body: list[str]) -> list[bytes]:
    """Lines with a last one that vouches for them."""
    whole = "".join(body).encode()
    end = {"kind": "end", "lines": len(body), "sha256": hashlib.sha256(whole).hexdigest()}
    return [*(line.encode() for line in body), (json.dumps(end) + "\n").encode()]


def drawn(session: Session) -> list[str]:
    """What the panel makes of it from the first row on, with ids by their order."""
    live_sessions.forget(session.pk)
    with live_sessions.present(session, "panel") as shown:
        return [alike(f"{frame.payload}\n-") for frame in shown.frames]


def stored() -> dict[str, int]:
    models = (Session, Participant, Turn, ToolCall, Approval, Event, Artifact, AuditEntry)
    return {model.__name__: model._default_manager.count() for model in models}


def test_a_conversation_comes_back_equal_under_new_ids() -> None:
    session = talked()
    text = text_of(session)

    copy = imported(as_lines(text))

    assert copy.public_id != session.public_id
    assert alike(text_of(copy)) == alike(text)
    assert alike(text_of(copy, files=False)) == alike(text_of(session, files=False))
    # And it is drawn as the other one is.
    assert drawn(copy) == drawn(session)
    assert Artifact.objects.get(session=copy).pieces.get().file.startswith(copy.public_id)
    # Whose it was stays there: here it is nobody's, or that of whoever is named.
    assert not Participant.objects.filter(session=copy, user__isnull=False).exists()
    bo = factories.make_user("bo")
    theirs = imported(as_lines(text), owner=bo)
    assert Participant.objects.get(session=theirs, role="owner").user == bo


def test_versions_and_the_decisions_of_many_come_back_with_it() -> None:
    """Edited, so that what was approved before does not count; then approved by two."""
    ada = factories.make_principal(factories.make_user("ada"))
    staff = factories.make_principal(
        factories.make_user("grace", staff=True, permissions=["decide_approval"])
    )
    tool = factories.asking(Ask([OWNER, STAFF], needed=2))
    with factories.acting(tool):
        session = factories.make_session(ada)
        turn = factories.make_turn(session)
        done, waits = factories.make_approvals(turn, {"order": "A1"}, {"order": "A2"}, tool=tool)
        decide(done.approval_id, "granted", ada)
        edited = edit(done.approval_id, {"order": "A9", "amount": 5.0, "note": ""}, staff)
        decide(edited.approval_id, "granted", ada)
        decide(edited.approval_id, "granted", staff, reason="Fine")
        decide(waits.approval_id, "granted", staff)
        with writing(session.pk) as writer:
            call = ToolCall.objects.select_related("turn__session").get(pk=edited.tool_call_id)
            TOOL_CALL.check(call.state, "running")
            ToolCall.objects.filter(pk=call.pk).update(state="running")
            call.refresh_from_db()
            record_outcome(writer, call.turn, call, Outcome("succeeded", {"refunded": 5}))
        session.refresh_from_db()
        text = text_of(session)

        copy = imported(as_lines(text))

        mine, theirs = copy.approvals.order_by("pk")
        assert (mine.state, mine.version, mine.args["order"]) == ("granted", 2, "A9")
        (was,) = mine.earlier.all()
        before = edited.earlier.get()
        assert (was.version, was.cause, was.name, was.args, was.digest) == (
            before.version, "edited", "grace", before.args, before.digest
        )  # fmt: skip
        assert was.by == f"elsewhere:{staff.key}" and was.asked_as != before.asked_as
        given = [(one.version, one.decision, one.name, one.reason) for one in mine.decisions.order_by("pk")]
        assert given == [
            (1, "granted", "ada", ""),
            (2, "granted", "ada", ""),
            (2, "granted", "grace", "Fine"),
        ]
        # What others still had to decide is not asked here, and says who had.
        assert (theirs.state, theirs.decided_by) == ("expired", "policy:import")
        assert [one.name for one in theirs.decisions.all()] == ["grace"]
        for old in (was.asked_as, mine.approval_id, theirs.approval_id):
            with pytest.raises(BeachError):
                decide(old, "granted", factories.make_principal(factories.make_user(superuser=True)))
        # By now all of it is settled: it comes back equal, and is drawn alike.
        again = imported(as_lines(text_of(copy)))
        assert alike(text_of(again)) == alike(text_of(copy))
        assert drawn(again) == drawn(copy)


def test_keys_of_accounts_do_not_leave_and_none_comes_in() -> None:
    session = talked()
    ada = factories.User.objects.get(username="ada")

    text = text_of(session)

    assert f'"user:{ada.pk}"' not in text and f'"elsewhere:user:{ada.pk}"' in text
    body = text.replace("elsewhere:user", "user").splitlines(keepends=True)[:-1]
    copy = imported(sealed(body))
    assert all(
        approval.decided_by.startswith("elsewhere:") for approval in Approval.objects.filter(session=copy)
    )


def test_no_key_leaves_with_an_edit_under_four_eyes_either() -> None:
    visitor, _ = factories.make_visitor()
    grace = factories.make_user("grace", staff=True, permissions=["decide_approval"])
    tool = factories.asking(Ask([STAFF], four_eyes=True))
    with factories.acting(tool):
        approval = factories.make_approval(factories.make_session(visitor), tool=tool)
        edit(approval.approval_id, {"order": "A9"}, factories.make_principal(grace))
        text = text_of(approval.session)

    assert re.findall(r'"(?:user|anonymous|peer|service):[^"]*"', text) == []
    assert f'"elsewhere:{visitor.key}": true' in text


def test_what_is_begun_while_it_is_taken_stays_out() -> None:
    session = talked()
    lines = exported(session)
    taken = [next(lines)]
    factories.make_approval(session)
    taken += lines

    assert imported(as_lines("".join(taken))).turns.count() == session.turns.count() - 1


def test_nothing_that_was_open_is_open_in_the_copy() -> None:
    session = talked(ends=False)
    subscription = WebhookSubscription.objects.create(name="desk", url="https://example.com", secret="x")

    copy = imported(as_lines(text_of(session)))

    assert set(copy.turns.values_list("status", "finalized_by")) == {("settled", "cancelled")}
    assert set(copy.approvals.values_list("state", flat=True)) == {"denied", "expired"}
    assert set(copy.tool_calls.values_list("state", flat=True)) == {"denied"}
    assert not Injection.objects.filter(turn__session=copy).exists()
    assert WebhookCursor.objects.get(subscription=subscription, session=copy).seq == copy.last_seq
    assert factories.log_of(copy)[-1].kind == "settled"
    assert AuditEntry.objects.get(kind="withdrawn").session_id == copy.public_id
    withdrawn = copy.approvals.get(state="expired")
    assert withdrawn.decided_by == "policy:import"
    with pytest.raises(BeachError):
        decide(
            withdrawn.approval_id, "granted", factories.make_principal(factories.make_user(superuser=True))
        )
    assert expire_due() == 0
    # What is exported again is equal by now.
    again = imported(as_lines(text_of(copy)))
    assert alike(text_of(again)) == alike(text_of(copy))


@pytest.mark.parametrize("cost", [12.5, -(10.0**9), 1e308, 10**400])
def test_what_was_paid_elsewhere_counts_for_nothing_here(cost: float, settings: Any) -> None:
    """Neither what the file says truly nor what no reply can cost keeps people here from an answer."""
    settings.BEACH_DAY_COST = 10.0
    session = talked()
    with writing(session.pk) as writer:
        turn = session.turns.get()
        writer.add("provider", {"usage": {}, "step": 1, "cost": 0.5}, turn=turn, audience="audit")
    session.refresh_from_db()
    text = text_of(session).replace('"cost": 0.5', f'"cost": {cost}')

    copy = imported(sealed(text.splitlines(keepends=True)[:-1]))

    day_costs.forget()
    standing = day_costs.standing()
    assert standing is not None and standing.cost == 0.5
    assert today.tokens(timezone.now()).cost == 0.5
    (row,) = factories.log_of(copy, "provider")
    kept = row.data["costElsewhere"]
    # PostgreSQL writes large numbers with all of their digits.
    assert (kept == cost or float(kept) == cost) and "cost" not in row.data
    assert alike(text_of(imported(as_lines(text_of(copy))))) == alike(text_of(copy))


@pytest.mark.parametrize("lines", [1, 4, 12, None])
def test_a_conversation_that_is_erased_while_it_is_taken_has_no_end(lines: int | None) -> None:
    session = talked()
    taken = exported(session)
    got = [next(taken) for _ in range(lines if lines is not None else len(list(exported(session))) - 1)]
    erase_conversation(session.pk)

    with pytest.raises(NotFound, match="was erased while it was exported"):
        got.extend(taken)
    with pytest.raises(ValidationFailed, match="ends too early"):
        imported(line.encode() for line in got)


def line(kind: str, **changes: Any) -> Callable[[list[str]], list[str]]:
    """The first line of a kind, with other values; a value of None leaves a member out."""

    def change(body: list[str]) -> list[str]:
        for number, text in enumerate(body):
            value = json.loads(text)
            if value["kind"] == kind:
                value |= changes
                value = {name: item for name, item in value.items() if item is not None}
                return [*body[:number], json.dumps(value) + "\n", *body[number + 1 :]]
        raise AssertionError(kind)

    return change


HOSTILE: dict[str, Callable[[list[str]], list[str]]] = {
    "empty": lambda body: [],
    "no conversation": lambda body: body[1:],
    "two conversations": lambda body: [body[0], *body],
    "a line twice": lambda body: [*body, body[-1]],
    "a turn twice": lambda body: [*body, next(text for text in body if '"kind": "turn"' in text)],
    "a row is missing": lambda body: [text for text in body if '"seq": 3,' not in text],
    "no JSON": lambda body: [*body[:3], "{", *body[3:]],
    "an array": lambda body: [*body[:3], "[]\n", *body[3:]],
    "a key twice": lambda body: [body[0][:-2] + ', "actor": "x"}\n', *body[1:]],
    "NaN": lambda body: [
        *body[:1],
        '{"kind": "state", "name": "a.b", "value": "x", "seq": NaN}\n',
        *body[1:],
    ],
    "an unknown kind": lambda body: [*body, '{"kind": "user", "name": "root"}\n'],
    "another member": line("turn", is_staff=True),
    "another format": line("conversation", format=2),
    "an id that is none": line("conversation", id="../../etc/passwd"),
    "the id of an account as a number": line("approval", decidedBy=7),
    "a control character": line("conversation", title="a\x00b"),
    "half a character": line("conversation", title="\ud800"),
    "a title that is too long": line("conversation", title="x" * 121),
    "more turns than there are": line("conversation", turns=99),
    "more rows than there are": line("conversation", events=99),
    "a turn that runs in a state that is none": line("turn", status="flying"),
    "a turn that goes on with itself": line("turn", passedTo=1),
    "a turn from nowhere": line("turn", delegatedFrom=9),
    "a call of no turn": line("call", turn=9),
    "a call with another name than was asked": line("call", name="wire"),
    "a call with another digest than was asked": line("call", digest="0" * 64),
    "arguments that no database keeps": line("call", args={"amount": 2**60}),
    "a state that is none": line("call", state="executed"),
    "a risk that is none": line("approval", risk="none"),
    "a question about no call": line("approval", callId="other"),
    "a time without a zone": line("approval", requestedAt="2026-01-01T00:00:00"),
    "a kind of row that is none": line("event", event="script"),
    "a row with other members": line("event", data={"text": "x", "name": "y", "role": "system"}),
    "a row of a turn that is not there": line("event", turn=9),
    "a part type on a message": line("event", partType="response"),
    "an audience that is none": line("event", audience="everybody"),
    "a part that is none": line(
        "event", event="part", partType="response", data={"part": 7, "turnState": "x"}
    ),
    "another part type than the part has": line(
        "event",
        event="part",
        partType="response",
        data={"part": {"metadata": {"partType": "error"}, "text": "x"}, "turnState": "x"},
    ),
    "a surface that is none": line(
        "event",
        event="part",
        partType="approval-request",
        data={"part": {"metadata": {"partType": "approval-request"}, "data": {"x": 1}}, "turnState": "x"},
    ),
    "a file that is larger than it says": line("file", sizeBytes=1),
    "a file that is not what it says": line("file", sha256="0" * 64),
    "bytes of no file": line("bytes", file="0" * 26),
    "an id that would be kept": lambda body: [
        json.dumps(dict(reversed(json.loads(body[0]).items()))) + "\n",
        *body[1:],
    ],
    "a turn whose id would be kept": lambda body: [
        text.replace('{"kind": "turn", "id"', '{"kind":"turn","id"') for text in body
    ],
    "no Base64": line("bytes", base64="%%%"),
}


@pytest.fixture
def body() -> list[str]:
    return text_of(talked(ends=False)).splitlines(keepends=True)[:-1]


def test_a_hostile_file_is_refused_and_nothing_is_stored(body: list[str], files: Path) -> None:
    before, there = stored(), sorted(files.rglob("*"))
    passed = []
    for name, change in HOSTILE.items():
        try:
            imported(sealed(change(body)))
        except ValidationFailed:
            continue
        passed.append(name)

    assert passed == []
    assert stored() == before
    assert [path for path in sorted(files.rglob("*")) if path.is_file() and path not in there] == []


def test_a_file_that_is_not_whole_or_was_changed_is_refused(body: list[str]) -> None:
    whole = sealed(body)

    for cut in (whole[:-1], whole[:5], [*whole[:3], *whole[4:]], [*whole, b"\n"], [b"\xff\n", *whole]):
        with pytest.raises(ValidationFailed):
            imported(cut)
    imported(whole)


@pytest.mark.parametrize(("name", "value"), [("LINES", 5), ("LINE_BYTES", 300), ("FILE_BYTES", 2_000)])
def test_a_file_that_is_too_large_is_refused_with_the_limit(
    body: list[str], monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    monkeypatch.setattr(f"envelopes.records.reading.{name}", value)

    with pytest.raises(ValidationFailed, match=f"{value:,}"):
        imported(sealed(body))


def test_a_file_of_one_that_is_too_large_here_is_refused(body: list[str], settings: Any) -> None:
    settings.BEACH_ARTIFACT_BYTES = 4
    before = stored()

    with pytest.raises(BeachError, match="at most 4"):
        imported(sealed(body))

    assert stored() == before


def test_rows_that_cannot_be_drawn_together_are_refused(
    body: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: object, **more: object) -> None:
        raise KeyError("row")

    monkeypatch.setattr(live_sessions, "present", fails)
    before = stored()

    with pytest.raises(ValidationFailed, match="cannot be shown"):
        imported(sealed(body))

    assert stored() == before


def test_the_commands(tmp_path: Path) -> None:
    session = talked()
    file = tmp_path / "talk.jsonl"

    call_command("beach", "export-session", session.public_id, str(file), "--files")
    call_command("beach", "import-session", str(file), "--owner", "ada")

    copy = Session.objects.exclude(pk=session.pk).get()
    assert alike(text_of(copy)) == alike(file.read_text(encoding="utf-8"))
    for wrong in (
        ("export-session", session.public_id, str(file)),
        ("export-session", "nobody", str(tmp_path / "b")),
        ("import-session", str(tmp_path / "absent")),
        ("import-session", str(file), "--owner", "nobody"),
    ):
        with pytest.raises(CommandError):
            call_command("beach", *wrong)
    assert Session.objects.count() == 2


@pytest.mark.django_db(transaction=True)
async def test_the_download_is_for_staff_who_may_export() -> None:
    @sync_to_async
    def made() -> tuple[Session, list[AsyncClient]]:
        session = talked()
        clients = [AsyncClient() for _ in range(3)]
        clients[0].force_login(factories.make_user(staff=True, permissions=["view_session"]))
        clients[1].force_login(factories.make_user())
        clients[2].force_login(
            factories.make_user(staff=True, permissions=["view_session", "export_session"])
        )
        return session, clients

    session, (reader, stranger, exporter) = await made()
    address = url(session, "export")

    assert (await reader.get(address)).status_code == 403
    refused = await stranger.get(address)
    assert refused.status_code == 302 and b"Lisbon" not in refused.content
    response = await exporter.get(address)
    text = b"".join([piece async for piece in response.streaming_content]).decode()

    assert alike(text) == await sync_to_async(lambda: alike(text_of(session)))()
    assert response["Content-Disposition"].startswith("attachment")
