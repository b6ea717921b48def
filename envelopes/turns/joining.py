"""A person's message while a turn is at work joins that turn, at its next tool result (D66).

Each message opens a turn, which waits in the queue. Where the turn at work gives its model the results of its calls, it
takes in what waits right behind it, in the transaction that stores them; whatever is still in the queue when it ends is
the next turn. So a message is always in one place, and whoever takes the turn over finds it there.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from envelopes.log.append import Writer
from envelopes.models import Turn
from envelopes.protocol.rows import SettledData
from envelopes.providers.transcript import joined_block
from envelopes.registries.statuses import TURN, TurnStatus
from envelopes.signals import turn_settled
from envelopes.turns import journal
from envelopes.turns.history import trigger_blocks
from envelopes.types import JsonObject

STATE = "passed"
"""How the turn of such a message ends: another one answers it (D67)."""


def waiting(writer: Writer, turn: Turn) -> list[Turn]:
    """The turns of messages that ``turn`` may take in now, in order. Asks the database only where a turn was opened
    after it.

    They are for the same actor, and stand right behind it: none that a click or a job has opened may be overtaken, and
    a turn that has come back after others have run knows nothing of them, while what was said since may be about them.
    """
    home = turn.home
    if writer.session.turn_count == home.number or writer.session.taken_by:
        # While staff have the conversation, what is said in it is said to them.
        return []
    found: list[Turn] = []
    behind = Turn.objects.filter(session=writer.session, number__gt=home.number).order_by("number")
    meant = home.lineage()[0].actor
    for each in behind.select_related("delegated_from"):
        if each.joined_id == home.pk or each.shown_in == home.number:
            continue
        if not _is_message(each) or each.actor != meant:
            break
        found.append(each)
    return found


def _is_message(turn: Turn) -> bool:
    begun = turn.attempt or "retry" in turn.trigger or "handoff" in turn.trigger
    return turn.status == TurnStatus.QUEUED and not begun and turn.trigger.get("kind") == "message"


def join(writer: Writer, turn: Turn, messages: Sequence[Turn]) -> list[JsonObject]:
    """Let ``turn`` answer what opened the turns ``messages``, which are settled with that: as blocks for its model,
    each once. Who wrote them are originators of ``turn`` from here on (D59)."""
    blocks: list[JsonObject] = []
    for each in messages:
        _pass_on(writer, each, turn.home)
        blocks += [joined_block(), *trigger_blocks(each.trigger, with_data=True)]
    _add_originators(turn, [who for each in messages for who in each.originators])
    return blocks


def _pass_on(writer: Writer, message: Turn, home: Turn) -> None:
    TURN.check(message.status, TurnStatus.SETTLED)
    message.status, message.turn_state, message.finalized_by = TurnStatus.SETTLED, STATE, STATE
    message.settled_at, message.joined = writer.now, home
    writer.store(message, ["status", "turn_state", "finalized_by", "settled_at", "joined"])
    data: SettledData = {
        "turnState": STATE,
        "finalizedBy": STATE,
        "joined": home.number,
        "message": message.trigger_seq,
    }
    writer.add("settled", data, turn=message)
    session, public_id, name, now = (
        message.session_id,
        message.public_id,
        writer.session.public_id,
        writer.now,
    )
    transaction.on_commit(lambda: journal.settled(message, name, now))
    transaction.on_commit(
        lambda: turn_settled.send(
            sender=Turn, session_id=session, turn_id=public_id, turn_state=STATE, finalized_by=STATE
        )
    )


def _add_originators(turn: Turn | None, whose: Sequence[JsonObject]) -> None:
    """To ``turn`` and to whoever waits for it: the envelope is that one's."""
    while turn is not None:
        new = [
            who
            for number, who in enumerate(whose)
            if who not in turn.originators and who not in whose[:number]
        ]
        if new:
            turn.originators = [*turn.originators, *new]
            turn.save(update_fields=["originators"])
        turn = turn.delegated_from
