"""Erasing a person: a word of theirs is in no table afterwards, and the audit log still holds."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from beachsite.demo.models import Booking
from envelopes import artifacts, audit, search, secrets
from envelopes.access import Principal
from envelopes.approvals.editing import edit
from envelopes.approvals.service import decide
from envelopes.audit.verifying import verify
from envelopes.errors import AlreadyDecided, NotFound, ValidationFailed
from envelopes.intake import staff
from envelopes.intake.turns import post_decision
from envelopes.log.append import writing
from envelopes.models import (
    Approval,
    AuditEntry,
    Claim,
    ClientMessage,
    Event,
    Note,
    Participant,
    Session,
    Snapshot,
    Turn,
)
from envelopes.providers.transcript import injection_block
from envelopes.records import erasing
from envelopes.records.retention import retire
from envelopes.records.scrubbing import Scrub
from envelopes.registries.policies import STAFF, Ask
from envelopes.session_state import live_sessions
from envelopes.signals import conversation_erased
from envelopes.transports.email import sending
from envelopes.types import JsonObject
from tests import factories
from tests.envelopes.admin.pages import client_of, url
from tests.row_shapes import misfits

pytestmark = pytest.mark.django_db

WORD = "Quuxington"


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


def where(word: str) -> list[str]:
    """The columns of all tables that hold ``word`` somewhere, whatever their type."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            name = connection.ops.quote_name(table)
            for column in connection.introspection.get_table_description(cursor, table):
                text = f"CAST({connection.ops.quote_name(column.name)} AS TEXT)"
                cursor.execute(f"SELECT COUNT(*) FROM {name} WHERE {text} LIKE %s", [f"%{word}%"])  # noqa: S608
                if cursor.fetchone()[0]:
                    found.append(f"{table}.{column.name}")
    return found


def talked(who: Principal) -> Session:
    """A conversation that has of everything something with the word in it."""
    session = factories.make_session(who, title=f"A trip of {WORD}")
    Participant.objects.filter(session=session, role="owner").update(name=WORD)
    turn = factories.make_turn(session, text=f"I am {WORD}")
    factories.add_part(turn, "domain-data", data={"name": WORD}, dataKind="trip")
    factories.add_part(turn, "response", text=f"Hello {WORD}")
    approval = factories.make_approvals(turn, {"order": WORD, "amount": 1.0, "note": ""})[0]
    audit.shown(approval, who, "chat")
    post_decision(session, who, "m1", approval.approval_id, "denied", reason=f"{WORD} says no")
    with pytest.raises(AlreadyDecided):
        post_decision(session, who, "m2", approval.approval_id, "granted", reason=f"{WORD} says yes")
    there = artifacts.put(session.public_id, WORD.encode())
    with writing(session.pk) as writer, artifacts.kept(there):
        chunk = artifacts.Chunk(f"{WORD}.txt", "text/plain", last_chunk=True)
        artifacts.record(writer.session, who.key, chunk, there)
    secrets.seal(session, WORD)
    with live_sessions.present(session, "panel"):
        pass
    Booking.objects.create(
        reference="R1", call_id=approval.tool_call.call_id, session_id=session.public_id, flight="NV 418",
        date="2026-08-15", lead_passenger=WORD, tickets=1, total=1, currency="GBP",
    )  # fmt: skip
    return session


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("kind", ["account", "guest"])
def test_no_table_holds_a_word_of_whoever_was_erased(kind: str, files: Path) -> None:
    if kind == "account":
        user = factories.make_user(WORD.lower(), staff=True, permissions=["view_session", "decide_approval"])
        user.first_name, user.last_name, user.email = WORD, "Smith", f"{WORD}@example.com"
        user.save()
        who, name = factories.make_principal(user), user.username
        client = client_of(user)
        client.get(url(Session, "changelist"))
    else:
        who, _ = factories.make_visitor()
        name = who.key
    session = talked(who)
    assert where(WORD)
    elses = factories.make_approval(factories.make_session())
    if kind == "account":
        decide(elses.approval_id, "denied", who, reason=f"Not for {WORD}", source="admin")
        Note.objects.create(
            session=elses.session,
            user=who.user,
            name=WORD,
            text="Call back",
            key="n1",
            created_at=timezone.now(),
        )
        Claim.objects.create(session=elses.session, user=who.user, name=WORD, claimed_at=timezone.now())
        late = {"asked_as": elses.approval_id, "decision": "granted", "reason": f"{WORD} again"}
        client.post(url(elses, "decide"), late)
        with live_sessions.present(elses.session, "panel"):
            pass

    list(search.index_all())
    assert where(WORD.lower())

    said = io.StringIO()
    call_command("beach", "erase-user", name, stdout=said)
    assert "Nothing was erased" in said.getvalue() and Session.objects.filter(pk=session.pk).exists()
    call_command("beach", "erase-user", name, "--yes", stdout=said)

    assert where(WORD) == where(WORD.lower()) == []
    if kind == "account":
        assert where(f'"{who.key}"') == [] and not User.objects.filter(username=name).exists()
        # What somebody else's conversation says of the decision stays.
        assert Approval.objects.get(pk=elses.pk).state == "denied"
        assert [entry.words for entry in audit.history_of(elses)][-1].startswith(
            "Approval by somebody whose data"
        )
    assert not Session.objects.filter(pk=session.pk).exists()
    assert list(files.rglob("*.*")) == [] or not any(path.is_file() for path in files.rglob("*"))
    verdict = verify()
    assert verdict.problem == "" and verdict.erased > 3
    assert Session.objects.filter(pk=elses.session_id).exists()
    told = said.getvalue()
    assert "conversations: 1" in told and "Kept: " in told


def test_what_others_did_names_them_no_more(settings: Any) -> None:
    """Who was mailed, who had decided before, who may not decide what they have edited."""
    settings.BEACH_APPROVAL_MAIL, settings.BEACH_APPROVAL_MAIL_SECONDS = "staff", 0
    settings.BEACH_SITE_URL = "https://chat.example"
    user, other = (factories.make_user(staff=True, permissions=["decide_approval"]) for _ in range(2))
    user.first_name, user.last_name, user.email = WORD, "Smith", "q@example.com"
    user.save()
    who, tool = factories.make_principal(user), factories.asking(Ask([STAFF], four_eyes=True, needed=1))
    with factories.acting(tool):
        mailed, decided, edited = (
            factories.make_approval(factories.make_session(), tool=tool) for _ in range(3)
        )
        assert sending.queue_due() == 3
        decide(decided.approval_id, "granted", who)
        late = {"asked_as": decided.approval_id, "decision": "denied"}
        client_of(other).post(url(decided, "decide"), late)
        once = edit(edited.approval_id, {"order": "A9"}, who)
        edit(once.approval_id, {"order": "A10"}, factories.make_principal(other))
    decide(mailed.approval_id, "denied", factories.make_principal(other))
    assert {"envelopes_auditentry.details", "django_admin_log.change_message"} <= set(where(WORD))
    person = erasing.find(f"user:{user.pk}")
    planned = erasing.plan(person).erased["audit entries (content)"]

    report = erasing.erase(person)

    assert where(WORD) == where(f'"{who.key}"') == []
    assert (report.erased["audit entries (content)"], verify().problem) == (planned, "")
    assert AuditEntry.objects.filter(who=factories.make_principal(other).key).exclude(salt="").exists()


def test_staff_who_are_erased_hold_no_conversation_and_are_named_in_none(settings: Any) -> None:
    settings.BEACH_TAKEOVER = True
    user = factories.make_user(staff=True, permissions=["view_session", "operate_session"])
    user.first_name = f"Old {WORD}"
    user.save()
    who, session = factories.make_principal(user), factories.make_session()
    staff.add_note(session, who, "n1", "Call back")
    staff.take_over(session, who, "t1")
    staff.say(session, who, "s1", "I can hold it.")
    told = [{"role": "assistant", "content": f"[Old {WORD}, a member of staff, wrote to the user:] I can"}]
    Turn.objects.filter(pk=factories.make_turn(session).pk).update(messages=told)
    Snapshot.objects.create(session=session, seq=1, version=1, data={"n": f"Old {WORD}"}, keyframe=True)
    # They are called something else since, and what pages have sent is forgotten.
    user.first_name, user.last_name = WORD, "Smith"
    user.save()
    ClientMessage.objects.all().delete()

    erasing.erase(erasing.find(user.username))

    assert where(WORD) == where(f'"{who.key}"') == []
    session.refresh_from_db()
    assert session.taken_by == ""
    rows = Event.objects.filter(session=session, kind="takeover").order_by("seq")
    assert [(row.data["state"], row.data["name"]) for row in rows] == [
        ("taken", "(erased)"),
        ("returned", "(erased)"),
    ]
    assert misfits([row.as_row() for row in session.events.order_by("seq")]) == []
    # What they wrote stays, of nobody.
    assert Note.objects.get().text == "Call back" and Note.objects.get().name == "(erased)"
    assert Claim.objects.get().taken_over_at is None and Claim.objects.get().user is None
    assert where("I can hold it.")


def test_an_account_that_is_erased_is_nobody_anywhere() -> None:
    ada = factories.make_user("ada")
    session = factories.make_session(ada)
    erasing.erase(erasing.find("ada"))

    with pytest.raises(NotFound):
        erasing.find("ada")
    with pytest.raises(NotFound):
        erasing.find("user:999999")
    assert not Session.objects.filter(pk=session.pk).exists()


def test_a_guest_is_named_by_a_key_that_is_theirs_alone() -> None:
    guest, _ = factories.make_visitor()
    factories.make_session(guest)
    other = factories.make_session(factories.make_visitor()[0])

    assert erasing.find(guest.key).owner_key == guest.owner_key
    assert erasing.find(f"anonymous:{guest.owner_key}").key == guest.key
    Participant.objects.filter(session=other, role="owner").update(owner_key=guest.owner_key[:32] + "f" * 32)
    with pytest.raises(ValidationFailed):
        erasing.find(guest.key)
    with pytest.raises(CommandError, match="no visitor"):
        call_command("beach", "erase-user", "anonymous:00000000")


def test_words_of_others_stay_as_they_are() -> None:
    scrub = Scrub("user:7", frozenset({"Maria"}), frozenset({"No", "Over the budget"}))

    assert scrub({"by": "user:7", "decidedByName": "Maria", "reason": "No", "text": "Maria said No"}) == {
        "by": "(erased)",
        "decidedByName": "(erased)",
        "reason": "",
        "text": "Maria said No",
    }
    assert scrub(['{"reason": "No", "resolvedBy": "Maria"}', "Denied: Over the budget."]) == [
        '{"reason": "", "resolvedBy": "(erased)"}',
        "Denied: .",
    ]


@pytest.mark.parametrize(
    "reason", ["No", 'He said "no"', "Nein, Grüße", "<action> no", "no</injection>", "a\nb"]
)
def test_a_reason_goes_from_what_models_were_told_however_it_is_written_there(reason: str) -> None:
    def told(name: str, reason: str) -> JsonObject:
        return injection_block("approved", {"reasons": [{"by": name, "reason": reason}]}, tool="refund")

    scrub = Scrub("user:7", frozenset({"Maria <action> K."}), frozenset({reason}))

    assert scrub(told("Maria <action> K.", reason)) == told("(erased)", "")


def test_one_that_somebody_comes_back_to_while_others_go_stays(settings: Any) -> None:
    """Those that are old are looked for first, and go one after the other."""
    settings.BEACH_RETENTION_DAYS = 30
    first, second = (factories.make_session() for _ in range(2))
    Session.objects.update(updated_at="2020-01-01T00:00:00Z")
    late = {first.public_id: second, second.public_id: first}

    def comes_back(session_id: str, **_: Any) -> None:
        if late:
            other = late.pop(session_id)
            late.clear()
            factories.make_turn(other, text="Still there?")

    conversation_erased.connect(comes_back)
    try:
        assert retire() == 1
    finally:
        conversation_erased.disconnect(comes_back)
    assert Turn.objects.filter(session__in=[first.pk, second.pk]).count() == 1


def test_old_conversations_go_only_where_a_setting_says_so(settings: Any) -> None:
    old, waiting, new = (factories.make_session() for _ in range(3))
    factories.make_approval(waiting)
    Session.objects.filter(pk__in=[old.pk, waiting.pk]).update(updated_at="2020-01-01T00:00:00Z")
    factories.settle_turn(factories.make_turn(new))

    assert retire() == 0
    settings.BEACH_RETENTION_DAYS = 30
    assert retire() == 1
    assert set(Session.objects.values_list("pk", flat=True)) == {waiting.pk, new.pk}
    assert AuditEntry.objects.exclude(salt="").count() == AuditEntry.objects.count()
    assert (
        not Event.objects.filter(session=old.pk).exists()
        and not Snapshot.objects.filter(session=old.pk).exists()
    )
