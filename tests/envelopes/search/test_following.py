"""The search follows the log: what is new is taken in once, and nothing is left of what is gone."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from envelopes import access, search
from envelopes.models import (
    ConversationFacts,
    ConversationWords,
    Event,
    SearchCursor,
    Session,
    Turn,
)
from envelopes.runtime.indexing import Indexing
from envelopes.search import (
    Filters,
    Follower,
    behind,
    indexing,
    making,
    read_query,
    said,
)
from envelopes.search.states import State
from envelopes.types import Json, JsonObject
from tests import factories
from tests.envelopes.search.searching import facts, follow, found
from tests.together import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_once")]


def test_it_follows_the_log_row_by_row_and_reads_none_twice(booking: Session) -> None:
    follow()
    turn = factories.make_turn(booking, text="And what of umbrellas?", status="queued")
    with CaptureQueriesContext(connection) as captured:
        assert found("umbrellas refund") == [booking.pk]

    reads = [each["sql"] for each in captured if "envelopes_event" in each["sql"]]
    assert len(reads) == 1
    assert facts(booking).last_words == "And what of umbrellas?"
    assert facts(booking).seq == Session.objects.get(pk=booking.pk).last_seq
    assert turn.number == 2


def test_where_nothing_is_new_nothing_is_written(booking: Session) -> None:
    follow()
    follower = Follower()
    SearchCursor.objects.update(known_until=timezone.now(), lease_until=timezone.now())

    with CaptureQueriesContext(connection) as captured:
        assert not follower.look()
        assert not search.catch_up(5)

    assert len(captured) <= 5
    assert all(each["sql"].lstrip().startswith("SELECT") for each in captured)


def test_data_that_a_job_goes_on_changing_take_no_place_of_what_was_said(
    booking: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(said, "CHARACTERS", 400)
    follow()
    turn = factories.make_turn(booking, text="Keep an eye on the gate, please")

    def show(gate: str, at: str = "/gate") -> None:
        message = {"surfaceId": "s", "path": at, "value": gate}
        factories.add_part(turn, "a2ui-surface", data={"version": "v1.0", "updateDataModel": message})

    for number in range(100):
        show(f"C{number}")
    show("Lisbon", "/to")

    # Of a place of an interface the last counts.
    assert found("C99") == found("lisbon") == found("eye") == [booking.pk]
    assert found("C98") == []
    assert not facts(booking).is_cut

    for number in range(3):
        show(f"D{number}")
        follow()
    assert found("D2") == found("lisbon") == found("gate please") == [booking.pk]


def test_nor_do_they_in_a_conversation_that_shows_many_lines(
    booking: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many short ones that are: what is too much is counted in characters."""
    monkeypatch.setattr(said, "CHARACTERS", 20_000)
    turn = factories.make_turn(booking, text="Keep an eye on the gate, please")
    for _ in range(4):
        rows: list[Json] = [{"n": number} for number in range(300)]
        factories.add_part(turn, "domain-data", data={"rows": rows}, dataKind="numbers")
    for number in range(30):
        message = {"surfaceId": "s", "path": "/gate", "value": f"C{number} {'x' * 600}"}
        factories.add_part(turn, "a2ui-surface", data={"version": "v1.0", "updateDataModel": message})

    assert found("C29") == found("eye") == [booking.pk]
    assert found("C28") == []
    assert not facts(booking).is_cut


def test_data_that_an_interface_shows_no_more_are_not_found(booking: Session) -> None:
    turn = factories.make_turn(booking, text="And the gate?")
    for message in ({"path": "/gate", "value": "Lisbon"}, {"path": "/gate"}):
        update: JsonObject = {"surfaceId": "s", **message}
        factories.add_part(turn, "a2ui-surface", data={"version": "v1.0", "updateDataModel": update})

    assert found("gate") == [booking.pk]
    assert found("lisbon") == []


def test_one_process_follows_at_a_time_and_another_goes_on_when_it_is_gone(booking: Session) -> None:
    def knows(word: str) -> bool:
        return ConversationWords.objects.get(session=booking).said.endswith(word)

    first, second = Follower(), Follower()
    first.look()
    turn = factories.make_turn(booking, text="Umbrellas")

    second.look()
    assert not knows("Umbrellas")
    SearchCursor.objects.update(lease_until=timezone.now())
    second.look()
    assert knows("Umbrellas")
    factories.add_part(turn, "response", text="Galoshes")
    first.look()
    assert not knows("Galoshes")


def test_a_conversation_that_goes_on_waits_for_the_next_round(booking: Session) -> None:
    """However often it changes; but where more than one look takes in are behind, the next look follows."""
    follower = Follower()
    while follower.look():
        pass
    turn = factories.make_turn(booking, text="Umbrellas")
    for _ in range(3):
        factories.add_part(turn, "response", text="Galoshes")
        assert not follower.look()
    assert facts(booking).seq == Session.objects.get(pk=booking.pk).last_seq

    made = [factories.make_session() for _ in range(indexing.LOOKED_AT + 1)]
    assert follower.look()
    # From the beginning too, since a transaction that took its time may stand before where this one has come.
    assert follower.look()
    assert not follower.look()
    assert ConversationFacts.objects.filter(session__in=made).count() == len(made)


def test_what_is_being_answered_is_taken_in_with_its_answer(
    booking: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or once that takes long, or as soon as somebody searches."""
    monkeypatch.setattr(behind, "ANSWERED_WITHIN", timedelta(minutes=1))

    def knows(word: str) -> bool:
        follow()
        return ConversationWords.objects.filter(session=booking, said__contains=word).exists()

    turn = factories.make_turn(booking, text="Umbrellas")
    assert not knows("Umbrellas")
    Turn.objects.filter(pk=turn.pk).update(status="settled")
    assert knows("Umbrellas")

    turn = factories.make_turn(booking, text="Galoshes")
    assert not knows("Galoshes")
    Turn.objects.filter(pk=turn.pk).update(created_at=timezone.now() - timedelta(minutes=1))
    assert knows("Galoshes")

    Turn.objects.filter(pk=turn.pk).update(status="settled")
    factories.make_turn(booking, text="Raincoats")
    assert not knows("Raincoats")
    search.catch_up(5)
    assert knows("Raincoats")


def test_what_goes_on_is_taken_in_when_it_rests_or_has_many_more_rows(
    booking: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behind, "RESTS", timedelta(seconds=5))
    monkeypatch.setattr(behind, "ROWS", 4)

    def lacks() -> int:
        follow()
        known = ConversationFacts.objects.filter(session=booking).first()
        return Session.objects.get(pk=booking.pk).last_seq - (known.seq if known is not None else 0)

    Session.objects.filter(pk=booking.pk).update(updated_at=timezone.now() - timedelta(seconds=5))
    assert lacks() == 0
    turn = factories.make_turn(booking, text="Umbrellas", status="queued")
    assert lacks() == 2
    factories.add_part(turn, "response", text="Galoshes")
    assert lacks() == 3
    factories.add_part(turn, "response", text="Raincoats")
    assert lacks() == 0
    factories.add_part(turn, "response", text="Hats")
    Session.objects.filter(pk=booking.pk).update(updated_at=timezone.now() - timedelta(seconds=5))
    assert lacks() == 0


def test_of_two_who_read_the_same_one_stores_it(booking: Session) -> None:
    """Though no lease keeps them apart: a page that looks now, beside the process that follows."""
    early = list(making.make([booking.pk]))
    factories.make_turn(booking, text="Umbrellas")
    indexing.store([booking.pk])

    for made in early:
        indexing._store_alone(made)

    assert found("umbrellas") == [booking.pk]


def test_a_place_that_is_taken_is_left_for_the_next_one(booking: Session) -> None:
    indexing.store([booking.pk])
    other = factories.make_session()
    (made,) = making.make([other.pk])
    made.facts.place = ConversationFacts.objects.get(session=booking).place
    with transaction.atomic():
        indexing._store_alone(made)

    assert ConversationFacts.objects.get(session=other).place == made.facts.place


def test_of_those_that_are_stored_together_one_that_somebody_else_has_stored_keeps_no_other_back(
    booking: Session,
) -> None:
    other = factories.make_session(title="Galoshes")
    made = list(making.make([booking.pk, other.pk]))
    indexing.store([booking.pk])

    indexing._store_each(made)

    assert found("galoshes") == [other.pk]
    assert ConversationFacts.objects.filter(session=booking).count() == 1


def _by_index_all() -> None:
    assert sum(search.index_all()) == 4


@pytest.mark.parametrize("taken_in", [follow, lambda: search.catch_up(10), _by_index_all])
def test_few_words_are_stored_together_and_many_by_themselves(
    monkeypatch: pytest.MonkeyPatch, taken_in: Callable[[], object]
) -> None:
    """Whoever wants to write waits until they are."""
    monkeypatch.setattr(indexing, "TOGETHER", 100)
    for words in ("Umbrellas", "Hats", "Galoshes " * 50, "Boots"):
        factories.make_turn(factories.make_session(), text=words)
    lumps: list[int] = []
    stored = indexing._store_together

    def counted(made: Sequence[making.Made]) -> list[int]:
        lumps.append(len(made))
        return stored(made)

    monkeypatch.setattr(indexing, "_store_together", counted)
    taken_in()

    assert lumps == [3, 1]


def test_rows_in_which_nobody_says_anything_change_the_numbers_alone() -> None:
    session = factories.make_session()
    turn = factories.make_turn(session, text="Umbrellas", status="queued")
    was = facts(session)
    said = ConversationWords.objects.get(session=session).said
    ConversationWords.objects.filter(session=session).update(said=f"{said}\nAs it stands there")
    factories.add_part(turn, "progress", metadata={"value": 0.5})
    Turn.objects.filter(pk=turn.pk).update(status="settled", finalized_by="cancelled")

    now = facts(session)

    assert (now.seq - was.seq, now.state) == (1, State.STOPPED)
    assert (now.place, now.owner, now.last_words) == (was.place, was.owner, was.last_words)
    assert ConversationWords.objects.get(session=session).said.endswith("As it stands there")


def test_words_that_were_lost_are_all_there_again_with_the_next(booking: Session) -> None:
    turn = factories.make_turn(booking, text="Umbrellas")
    follow()
    ConversationWords.objects.filter(session=booking).delete()
    factories.add_part(turn, "response", text="Galoshes")

    assert found("umbrellas galoshes") == [booking.pk]


def test_somebody_who_looks_now_sees_the_newest(booking: Session) -> None:
    later = factories.make_session(title="Umbrellas")

    assert search.catch_up(1)
    assert search.listed(Filters(), size=50).sessions == [later.pk]
    assert not search.catch_up(50)
    assert len(search.listed(Filters(), size=50).sessions) == 3


def test_all_is_made_anew_from_the_log(booking: Session) -> None:
    before = facts(booking)
    ConversationWords.objects.update(said="nonsense")
    ConversationFacts.objects.update(last_words="nonsense", state="empty")

    assert sum(search.index_all()) == 0
    assert sum(search.index_all(anew=True)) == 2
    after = facts(booking)
    assert (after.last_words, after.state, after.place) == (before.last_words, before.state, before.place)
    assert found("refund") == [booking.pk]


def test_a_restored_backup_is_read_anew(booking: Session) -> None:
    factories.make_turn(booking, text="Umbrellas")
    follow()
    Event.objects.filter(session=booking, seq__gt=3).delete()
    Session.objects.filter(pk=booking.pk).update(last_seq=3)

    assert found("umbrellas") == []
    assert found("refund") == [booking.pk]


def test_nothing_is_left_of_what_is_forgotten_or_deleted(booking: Session) -> None:
    follow()
    search.forget(booking)
    assert search.listed(Filters(read_query("refund")), size=50).sessions == []
    assert not ConversationWords.objects.filter(session=booking).exists()

    Event.objects.filter(session=booking).update(data={})
    assert found("refund") == []
    booking.delete()
    assert ConversationFacts.objects.count() == ConversationWords.objects.count() == 1
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM envelopes_conversationtokens")
            assert cursor.fetchone() == (1,)


@pytest.mark.parametrize("known", [False, True], ids=["never taken in", "taken in before"])
def test_what_is_forgotten_while_it_is_taken_in_is_read_again(
    booking: Session, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    """A name that is erased between two statements of whoever follows the log."""
    make, erased = making.make, []
    if known:
        follow()
        factories.make_turn(booking, text="And the refund?", status="queued")

    def slowly(pks: Sequence[int], **more: Any) -> Iterator[making.Made]:
        for made in list(make(pks, **more)):
            if not erased:
                erased.append(booking.pk)
                Event.objects.filter(session=booking).update(data={"text": "Erased", "parts": []})
                search.forget(Session.objects.get(pk=booking.pk))
            yield made

    monkeypatch.setattr(indexing, "make", slowly)
    follow()

    assert erased and not ConversationWords.objects.filter(session=booking, said__contains="refund").exists()
    assert found("refund") == [] and booking.pk in found("erased")


@pytest.mark.django_db(transaction=True)
def test_it_is_read_twice_at_most_however_much_is_forgotten_meanwhile(
    booking: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody is erased out of very many conversations."""
    make, reads = making.make, []
    other = factories.make_session(title="Ghent")

    def slowly(pks: Sequence[int], **more: Any) -> Iterator[making.Made]:
        for made in list(make(pks, **more)):
            reads.append(made.facts.session_id)
            # Under the lock nobody else can.
            if not connection.in_atomic_block and len(reads) < 1_000:
                search.forget(other)
            yield made

    monkeypatch.setattr(indexing, "make", slowly)
    indexing.store([booking.pk])

    assert reads == [booking.pk] * 2
    assert found("refund") == [booking.pk]


def test_it_is_found_by_its_owners_address_as_that_is_now(booking: Session) -> None:
    follow()
    ada = booking.participants.get(role="owner").user
    assert ada is not None
    ada.email = "countess@example.org"
    ada.save()
    assert found("countess@example.org") == [booking.pk]
    assert found("ada@example.org") == []

    ada.delete()
    assert found("countess@example.org") == found("lovelace") == []
    assert found("refund") == [booking.pk]


def test_whose_owner_has_changed_waits_for_no_conversation_that_goes_on(booking: Session) -> None:
    follow()
    ada = booking.participants.get(role="owner").user
    assert ada is not None
    ada.email = "countess@example.org"
    ada.save()
    turn = factories.make_turn(factories.make_session(), text="Umbrellas", status="queued")
    SearchCursor.objects.update(lease_until=timezone.now())
    follower = Follower()
    for _ in range(3):
        factories.add_part(turn, "progress", metadata={"value": 0.5})
        follower.look()

    words = Filters(read_query("countess@example.org"))
    assert search.listed(words, size=50).sessions == [booking.pk]


def test_what_is_forgotten_is_made_anew_however_long_nothing_has_been_said_in_it(booking: Session) -> None:
    Session.objects.filter(pk=booking.pk).update(updated_at=timezone.now() - timedelta(days=1))
    booking.refresh_from_db()
    follow()
    SearchCursor.objects.update(known_until=timezone.now() - timedelta(minutes=5))
    search.forget(booking)

    assert found("refund") == [booking.pk]


def test_whoever_brings_the_key_of_a_conversation_that_they_began_is_found_by_their_address() -> None:
    """Before their browser had a name, and while nothing more is said in it."""
    mary = factories.make_user("mary")
    key = "k" * 43
    nobody, _ = access.new_anonymous_owner(key)
    session, _ = access.begin_session(nobody, "sally", key)
    follow()

    access.begin_session(access.Principal(user=mary), "sally", key)

    assert found(owner=f"user:{mary.pk}") == [session.pk]


def test_a_guest_who_signs_in_is_found_by_their_address(client: Any) -> None:
    visitor, cookie = factories.make_visitor()
    session = factories.make_session(visitor)
    follow()
    mary = factories.make_user("mary")
    mary.email = "mary@example.org"
    mary.save()
    client.cookies["beach_owner"] = cookie

    with_cookie = client.post("/accounts/login/", {"username": "mary", "password": "pw"})
    assert with_cookie.status_code == 302

    assert found("mary@example.org") == found(owner=f"user:{mary.pk}") == [session.pk]


def test_of_a_long_conversation_the_last_words_are_searched_and_its_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(said, "CHARACTERS", 100)
    session = factories.make_session(title="Corfu")
    for word in ("first", "second", "third"):
        factories.make_turn(session, text=f"{word} {'x' * 60}", status="queued")

    assert found("third") == found("corfu") == [session.pk]
    assert found("first") == []
    assert facts(session).is_cut


def test_the_command_takes_in_what_is_new_and_with_all_everything(booking: Session) -> None:
    def told(*arguments: str) -> str:
        out = StringIO()
        call_command("beach", "index-sessions", *arguments, stdout=out)
        return out.getvalue().strip()

    assert told() == "Conversations that were read: 2."
    assert told() == "Conversations that were read: 0."
    assert told("--all") == "Conversations that were read: 2."
    assert search.listed(Filters(read_query("refund")), size=50).sessions == [booking.pk]


@pytest.mark.django_db(transaction=True)
async def test_a_process_follows_the_log_by_itself(settings: Any) -> None:
    settings.BEACH_SEARCH_SECONDS = 0.01
    work = Indexing()
    await work.start()
    session = await sync_to_async(factories.make_session)()
    await sync_to_async(factories.make_turn)(session, text="Umbrellas", status="queued")
    said_here = ConversationWords.objects.filter(session=session, said="Umbrellas")
    async with asyncio.timeout(20):
        while True:
            await asyncio.sleep(0.01)
            if await said_here.aexists():
                break
    await work.stop()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one lock for all")
@pytest.mark.django_db(transaction=True)
def test_whoever_is_renamed_and_whoever_stores_numbers_wait_for_each_other_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both change several conversations in one transaction: in one order, so that neither has what the other needs."""
    ada = factories.make_user("ada")
    sessions = [factories.make_session(ada) for _ in range(2)]
    turns = [factories.make_turn(session, text="Umbrellas", status="queued") for session in sessions]
    follow()
    for turn in turns:
        factories.add_part(turn, "progress", metadata={"value": 0.5})
    # The first stands behind the other, in the table and in the index of owners.
    latest = max(ConversationFacts.objects.values_list("place", flat=True))
    ConversationFacts.objects.filter(session=sessions[0]).update(place=latest + 1)
    made = list(making.make(sorted(session.pk for session in sessions)))
    stored = indexing._store
    has_one = threading.Event()

    def slowly(each: making.Made) -> bool:
        is_done = stored(each)
        if not has_one.is_set():
            has_one.set()
            _until_somebody_waits()
        return is_done

    def rename() -> None:
        has_one.wait(10)
        ada.last_name = "Lovelace"
        ada.save()

    monkeypatch.setattr(indexing, "_store", slowly)
    assert together(lambda: indexing._store_each(made), rename) == [None, None]
    monkeypatch.setattr(indexing, "_store", stored)
    assert sorted(found("lovelace")) == sorted(session.pk for session in sessions)


def _until_somebody_waits() -> None:
    for _ in range(500):
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone() != (0,):
                return
        time.sleep(0.01)
