"""What comes in for a turn from outside of its model: stored first, then given to whoever has the turn now."""

from __future__ import annotations

from envelopes.log.append import Writer
from envelopes.models import Injection, Session, ToolCall, Turn
from envelopes.providers.transcript import injection_block
from envelopes.registries.statuses import TURN, ApprovalStatus, TurnStatus
from envelopes.turns.history import trigger_blocks
from envelopes.turns.opening import follow_up, turn_data
from envelopes.turns.outcomes import Outcome
from envelopes.turns.results import bounded
from envelopes.types import JsonObject


def inject(writer: Writer, turn: Turn, injection: Injection) -> None:
    """Dispatch a stored injection to whoever has ``turn`` now: it goes on with it, or begins with it where it has been
    waiting for nothing else (``turns.late``); when it is over, a new turn begins."""
    turn = turn.holder()
    begins = turn.status == TurnStatus.SETTLED or _awaits_trigger(turn)
    trigger = {"kind": "injection", "injection": injection.kind, **injection.data}
    if begins or injection.turn_id != turn.pk:
        injection.turn = turn
        injection.consumed_at = writer.now if begins else None
        injection.save(update_fields=["turn", "consumed_at"])
    if turn.status == TurnStatus.SETTLED:
        follow_up(writer, turn, trigger)
    elif turn.status == TurnStatus.WAITING and not _awaits_answer(turn):
        TURN.check(turn.status, TurnStatus.QUEUED)
        turn.status = TurnStatus.QUEUED
        turn.trigger = trigger if begins else turn.trigger
        Turn.objects.filter(pk=turn.pk).update(status=turn.status, trigger=turn.trigger)
        if writer.session.taken_by:
            # No runner has it before staff hand the conversation back: until then nobody is at work.
            writer.add("turn", turn_data(turn, turn.status, reason="came-in"), turn=turn)
        writer.wake_runner()
    elif turn.status == TurnStatus.SUSPENDED and not _asks(turn):
        take_up(writer, turn)


def _asks(turn: Turn) -> bool:
    return turn.approvals.filter(state=ApprovalStatus.PENDING).exists()


def _awaits_answer(turn: Turn) -> bool:
    """Whether an actor that it has asked is still at work: the answer to that is what it goes on with, and reads all
    else beside it."""
    return turn.delegations.exclude(status=TurnStatus.SETTLED).exists()


def _awaits_trigger(turn: Turn) -> bool:
    return (
        turn.status == TurnStatus.WAITING
        and turn.trigger.get("kind") == "injection"
        and "payload" not in turn.trigger
    )


def inject_outcome(writer: Writer, turn: Turn, call: ToolCall, outcome: Outcome) -> None:
    """The outcome of a call that ``turn`` did not wait for."""
    data = {"payload": outcome.told, "tool": call.name, "callId": call.call_id}
    inject(writer, turn, Injection.objects.create(turn=turn, kind=Injection.RESULT, data=data))


def consume(writer: Writer, turn: Turn) -> list[JsonObject]:
    """What came in for ``turn``, as blocks for its model, each once."""
    waiting = list(turn.injections.filter(consumed_at=None))
    turn.injections.filter(pk__in=[injection.pk for injection in waiting]).update(consumed_at=writer.now)
    return [block for injection in waiting for block in _blocks(injection)]


def _blocks(injection: Injection) -> list[JsonObject]:
    if "trigger" in injection.data:
        return trigger_blocks(injection.data["trigger"], with_data=True)
    call_id = injection.data.get("callId", "")
    payload = bounded(call_id, injection.data.get("payload"))
    return [injection_block(injection.kind, payload, tool=injection.data.get("tool", ""), call_id=call_id)]


def set_aside(writer: Writer, number: int) -> None:
    """The turn with this number goes on with whatever comes next; 0 for none."""
    writer.session.put_aside = number
    writer.session.save(update_fields=["put_aside"])


def take_up(writer: Writer, turn: Turn) -> None:
    """Something has come in for a turn that was put aside: it goes on, as soon as a runner has it."""
    TURN.check(turn.status, TurnStatus.QUEUED)
    turn.status = TurnStatus.QUEUED
    turn.save(update_fields=["status"])
    writer.add("turn", turn_data(turn, turn.status, reason="came-in"), turn=turn)
    writer.wake_runner()
    set_aside(writer, 0 if (found := aside_in(writer.session)) is None else found.number)


def aside_in(session: Session) -> Turn | None:
    """The newest turn that was put aside and waits for nobody's decision."""
    asked = Turn.objects.filter(session=session, approvals__state=ApprovalStatus.PENDING).values("pk")
    found = Turn.objects.filter(session=session, status=TurnStatus.SUSPENDED).exclude(pk__in=asked)
    return found.select_related("session").order_by("-number").first()
