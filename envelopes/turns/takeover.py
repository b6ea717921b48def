"""A member of staff has a conversation in place of its agent: what holds for its turns meanwhile.

Messages and clicks open turns as ever, which wait in the queue; no runner has them while ``Session.taken_by`` says who
has the conversation. What staff write answers all that waits, and settles it: so each message has a turn, each turn an
end, and a caller at any door gets the words of staff as the answer. Whatever they have not answered is the agent's when
they hand the conversation back.

Two things go on meanwhile: the turn that was at work may end first (``Session.finishing``), and a call that a person
has approved runs, though its turn says nothing of it before the agent has the conversation again.
"""

from __future__ import annotations

from typing import Literal

from envelopes.log.append import Writer
from envelopes.models import Claim, Event, Injection, Session, Turn
from envelopes.part_types.staff_message import STAFF, STAFF_MESSAGE, described
from envelopes.protocol.originators import Originator
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.takeover import TakeoverData
from envelopes.registries.retelling import data_of
from envelopes.registries.statuses import TurnStatus
from envelopes.turns import joining
from envelopes.turns.lifecycle import settle
from envelopes.turns.opening import keeper, open_turn
from envelopes.turns.parts import append_parts
from envelopes.types import JsonObject

TRIGGER = "staff"
"""The kind of what begins a turn in which staff wrote without being asked."""

TOLD = 40
"""So many of the last messages are told to turns that go on after the conversation was handed back."""

_ANSWERED = frozenset({"message", "action"})


def may_speak(session: Session, turn: Turn) -> bool:
    """Whether the agent may go on in ``turn``: nobody has the conversation in its place, or it may end first."""
    return not session.taken_by or turn.shown_in == session.finishing


def unanswered(session: Session) -> list[Turn]:
    """The turns of messages and clicks that nobody has begun to answer, in order."""
    queued = Turn.objects.filter(session=session, status=TurnStatus.QUEUED, attempt=0, delegated_from=None)
    found = queued.select_related("session", "delegated_from").order_by("number")
    return [turn for turn in found if turn.trigger.get("kind") in _ANSWERED and not _is_taken_up(turn)]


def _is_taken_up(turn: Turn) -> bool:
    """An agent has handed it over, or tries it again."""
    return "handoff" in turn.trigger or "retry" in turn.trigger


def say(writer: Writer, who: Originator, name: str, text: str) -> Turn:
    """``text`` is what staff called ``name`` answer to whatever waits; a turn of its own where nothing does. Returns
    the turn that it stands in, settled."""
    waiting = unanswered(writer.session)
    if waiting:
        home = waiting[0]
        joining.join(writer, home, waiting[1:])
    else:
        home = open_turn(writer, {"kind": TRIGGER, "name": name}, originators=[who])
    part = Part(text=text, data={"name": name}, metadata=Metadata(partType=STAFF_MESSAGE.name))
    append_parts(writer, home, [part], "runtime", state="complete", actor=STAFF, by=who["principal"])
    settle(writer, home, turn_state="complete", finalized_by="complete", context="staff")
    return home


def tell(writer: Writer, state: Literal["taken", "returned"], name: str, by: str) -> None:
    """The row that says who has the conversation from here on; ``by`` is the key of the member of staff."""
    data: TakeoverData = {"state": state, "name": name, "agent": keeper(writer.session), "by": by}
    writer.add("takeover", data, actor=STAFF)


def hand_back(writer: Writer, name: str, by: str) -> None:
    """The agent has the conversation again, and begins with what nobody has answered."""
    now = writer.session
    began = Event.objects.filter(session=now, kind="takeover").order_by("-seq")
    _tell_those_that_go_on(writer, began.values_list("seq", flat=True).first() or 0)
    now.taken_by, now.finishing = "", 0
    now.save(update_fields=["taken_by", "finishing"])
    Claim.objects.filter(session=now).update(taken_over_at=None)
    tell(writer, "returned", name, by)
    writer.wake_runner()


def _tell_those_that_go_on(writer: Writer, since: int) -> None:
    """Turns that were begun before row ``since``, at which staff took over, and go on now: their models read what was
    said since, when they are next given something. Later turns read it as every earlier one."""
    begun = Turn.objects.filter(session=writer.session, attempt__gt=0).exclude(status=TurnStatus.SETTLED)
    turns = list(begun)
    if not turns or not (said := _said(writer.session, since)):
        return
    payload = {"said": said, "note": "Staff had this conversation meanwhile, and handed it back to you."}
    Injection.objects.bulk_create(
        Injection(turn=turn, kind=Injection.STAFF, data={"payload": payload}) for turn in turns
    )


def _said(session: Session, since: int) -> list[JsonObject]:
    rows = Event.objects.filter(session=session, seq__gt=since).order_by("-seq")
    words = rows.filter(kind="message") | rows.filter(part_type=STAFF_MESSAGE.name)
    return [_line(event) for event in reversed(words[:TOLD])]


def _line(event: Event) -> JsonObject:
    if event.kind == "message":
        return {"who": "user", "text": event.data.get("text", "")}
    part = event.data["part"]
    return {"who": described(str(data_of(part).get("name"))), "text": part.get("text", "")}
