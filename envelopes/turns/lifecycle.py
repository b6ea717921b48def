"""Opening and settling turns: what intake, runner and approvals share. All of it inside an open append."""

from __future__ import annotations

from django.db import transaction

from envelopes.conf import conf
from envelopes.log.append import Writer
from envelopes.models import Injection, Turn
from envelopes.models.turn import WRITTEN
from envelopes.part_types.error import ERROR
from envelopes.protocol.rows import SettledData
from envelopes.providers.transcript import own_messages, without_thinking
from envelopes.registries.actors import actors
from envelopes.registries.statuses import TURN, TurnStatus
from envelopes.registries.turn_states import emits_envelope, turn_states
from envelopes.signals import turn_settled
from envelopes.turns import delegating, joining, journal
from envelopes.turns.closing import close_calls, is_stopped
from envelopes.turns.converging import merged_parts
from envelopes.turns.deciding import TOO_LONG
from envelopes.turns.injecting import consume, inject, inject_outcome, set_aside
from envelopes.turns.mailbox import mailbox_of
from envelopes.turns.opening import open_turn, trigger_again, turn_data
from envelopes.turns.parts import append_parts
from envelopes.turns.stopping import Stopper
from envelopes.types import JsonObject

__all__ = [
    "consume",
    "delegate",
    "fail",
    "hand_over",
    "inject",
    "inject_outcome",
    "leave",
    "open_turn",
    "put_aside",
    "settle",
    "time_out",
    "turn_data",
]

MAX_HANDOFFS = 5

_END = (
    *WRITTEN, "steps", "recoveries", "status", "finalized_by", "settled_at", "lease_owner", "lease_until",
)  # fmt: skip


_LEFT = (
    *WRITTEN, "steps", "recoveries", "status", "lease_owner", "lease_until", "seconds_left", "deadline",
)  # fmt: skip


def hand_over(writer: Writer, turn: Turn, actor: str, *, turn_state: str = "passed") -> None:
    """Settle ``turn`` and begin that of the actor that takes over: it gets what started this one, what was gathered,
    and whatever still comes in. Actors that keep passing on are stopped instead, and the person is told.
    """
    hops = turn.trigger.get("handoff", {}).get("hops", 0) + 1
    if hops > MAX_HANDOFFS:
        fail(writer, turn, "passed_too_often", f"The agents passed this on {hops} times and nobody answered.")
        return
    _settle(writer, turn, turn_state=turn_state, finalized_by="passed")
    handoff = {"from": turn.actor, "mailbox": mailbox_of(turn), "hops": hops}
    turn.passed_to = open_turn(
        writer,
        {**trigger_again(turn), "handoff": handoff},
        actor=actor,
        originators=turn.originators,
        goes_on=turn,
        delegated_from=turn.delegated_from,
    )
    turn.save(update_fields=["passed_to"])
    _dispatch(writer, turn)


def delegate(writer: Writer, turn: Turn, actor: str, task: str) -> None:
    """Let ``actor`` answer in ``turn``, which waits for that and spends none of its own time on it. Actors that keep
    asking each other are stopped instead."""
    if delegating.depth_of(turn) >= delegating.MAX_DEPTH:
        text = f"{delegating.MAX_DEPTH} agents asked each other, and the next one is one too many."
        fail(writer, turn, "delegated_too_often", text)
        return
    leave(writer, turn, TurnStatus.WAITING, reason="peer")
    delegating.ask(writer, turn, actor, task, mailbox_of(turn))


def _answer_asker(writer: Writer, turn: Turn, problem: JsonObject | None, stopped_by: Stopper) -> None:
    """Tell the turn that delegated this one what came of it: it goes on, or is settled with it, as its state says. Who
    stops an actor that was asked stops whoever asked it."""
    if turn.delegated_from is None or turn.finalized_by == "passed":
        # Whoever took it over answers.
        return
    asker = Turn.objects.select_related("session").get(pk=turn.delegated_from.pk)
    if asker.status != TurnStatus.WAITING:
        return
    if turn.finalized_by == "cancelled":
        settle(writer, asker, turn_state="error", finalized_by="cancelled", stopped_by=stopped_by)
        return
    answer = delegating.answer_of(writer, turn, problem)
    state = turn_states.get(asker.turn_state)
    if state is None or not state.terminal:
        data = {"payload": answer.told}
        inject(writer, asker, Injection.objects.create(turn=asker, kind=delegating.INJECTION, data=data))
    elif answer.is_one:
        settle(writer, asker, turn_state=state.name, finalized_by=state.finalized_by, context="delegated")
    else:
        why = str((answer.problem or {}).get("message") or f"{turn.actor} could not do it.")
        fail(writer, asker, "not_answered", why)


def settle(
    writer: Writer,
    turn: Turn,
    *,
    turn_state: str,
    finalized_by: str,
    context: str = "",
    problem: JsonObject | None = None,
    stopped_by: Stopper = "person",
) -> None:
    """Settle ``turn``: its row, its ``settled`` event, and a new turn for whatever came in too late for it.

    ``finalized_by``: complete, clarifying, error, cancelled, timeout (D9); ``hand_over`` settles with passed (D67).
    What its jobs append after this is late, or belongs to the turn that goes on with it (``turns.late``). A person who
    stops a turn stops its jobs, and so does the end of its time: their results would otherwise begin a turn that nobody
    asked for. ``context``: what became of ``llm-context``, where an originator consumes it. ``problem``, ``{code,
    message}``, is for whoever delegated the turn. ``stopped_by`` counts where it was cancelled.
    """
    if emits_envelope(turn_state) and (whole := merged_parts(writer, turn)):
        append_parts(writer, turn, whole, "runtime", state=turn_state)
    _settle(
        writer,
        turn,
        turn_state=turn_state,
        finalized_by=finalized_by,
        context=context,
        problem=problem,
        stopped_by=stopped_by,
    )
    _dispatch(writer, turn)


def _settle(
    writer: Writer,
    turn: Turn,
    *,
    turn_state: str,
    finalized_by: str,
    context: str = "",
    problem: JsonObject | None = None,
    stopped_by: Stopper = "person",
) -> None:
    TURN.check(turn.status, TurnStatus.SETTLED)
    if turn.may_have_calls:
        close_calls(writer, turn, finalized_by, stopped_by)
    # Thinking is the model's own within a turn (D17); what is kept of it has a row. What earlier turns have said stands
    # with them: kept with each that has read it, it would take many times its room.
    turn.messages = without_thinking(own_messages(turn.messages, turn.number))
    turn.status, turn.turn_state, turn.finalized_by = TurnStatus.SETTLED, turn_state, finalized_by
    turn.settled_at, turn.live, turn.lease_owner, turn.lease_until = writer.now, {}, "", None
    writer.store(turn, _END)
    end: SettledData = {"turnState": turn_state, "finalizedBy": finalized_by}
    if context and turn.wants_context:
        end["llmContext"] = context
    if problem is not None:
        end["problem"] = problem
    if finalized_by == "cancelled":
        end["stoppedBy"] = stopped_by
    if turn.delegated_from is not None:
        end["delegatedFrom"] = turn.shown_in
    writer.add("settled", end, turn=turn)
    session, number, name, now = turn.session_id, turn.public_id, writer.session.public_id, writer.now
    if turn.number < writer.session.turn_count:
        # The next turn in the queue may run now. An earlier one that is queued again has rung: the runner of this turn
        # remembers that (``Runner.wake``). Where only another process heard it, the sweep finds that turn.
        writer.wake_runner()
    transaction.on_commit(lambda: journal.settled(turn, name, now))
    transaction.on_commit(
        lambda: turn_settled.send(
            sender=Turn, session_id=session, turn_id=number, turn_state=turn_state, finalized_by=finalized_by
        )
    )
    if turn.delegated_from is not None:
        _answer_asker(writer, turn, problem, stopped_by)
    else:
        _keep_conversation(writer, turn)


def _keep_conversation(writer: Writer, turn: Turn) -> None:
    """Who the next message is for: the actor of a turn that settles in a state that holds it, and it lets go with the
    next turn of its own that does not."""
    session, state = writer.session, turn_states.get(turn.turn_state)
    keeper = session.held_by
    if state is not None and state.holds_actor:
        keeper = turn.actor if turn.actor != session.actor else ""
    elif keeper == turn.actor:
        keeper = ""
    if keeper != session.held_by:
        session.held_by = keeper
        session.save(update_fields=["held_by"])


def leave(writer: Writer, turn: Turn, status: TurnStatus, *, reason: str) -> None:
    """Nothing more to do for now: the session is free for other turns. The time of ``turn`` goes on only while a job of
    its own is at work."""
    TURN.check(turn.status, status)
    if reason != "job" and turn.deadline is not None:
        turn.seconds_left, turn.deadline = max(0.0, turn.deadline - writer.now.timestamp()), None
    turn.status, turn.lease_owner, turn.lease_until, turn.live = status, "", None, {}
    writer.store(turn, _LEFT)
    if status == TurnStatus.SUSPENDED and writer.session.finishing == turn.shown_in:
        # It has ended as far as it can: what comes of the answer is the agent's when it has the conversation again.
        writer.session.finishing = 0
        writer.session.save(update_fields=["finishing"])
    writer.add("turn", turn_data(turn, status, reason=reason), turn=turn)


def put_aside(writer: Writer, turn: Turn) -> bool:
    """Let go of the actor of ``turn`` until something comes in: False where something has already."""
    if turn.may_have_calls and turn.injections.filter(consumed_at=None).exists():
        return False
    if joining.waiting(writer, turn):
        return False
    leave(writer, turn, TurnStatus.SUSPENDED, reason="state")
    set_aside(writer, turn.number)
    return True


def _dispatch(writer: Writer, turn: Turn) -> None:
    """Give what came in too late for ``turn`` to whoever goes on with it."""
    if not turn.may_have_calls:
        # Only calls bring something in.
        return
    came = turn.injections.filter(consumed_at=None).exclude(kind=Injection.STAFF)
    if is_stopped(turn.finalized_by):
        # Jobs that were done a moment before: nobody asks any more.
        came.filter(kind=Injection.RESULT).update(consumed_at=writer.now)
    for injection in came:
        inject(writer, turn, injection)


def fail(
    writer: Writer, turn: Turn, code: str, text: str, *, title: str = "This answer could not be finished"
) -> None:
    """Tell the person what went wrong, as an error part of the runtime, and settle. Of a turn that was delegated
    whoever waits for it is told instead. Where it was too long, the next one begins with what is new."""
    if code == TOO_LONG:
        turn.told_from = turn.number
    _fail(writer, turn, code, text, title=title, finalized_by="error")


def time_out(writer: Writer, turn: Turn) -> None:
    """Its time is up: say so, end what is open as when a person stops it, and settle (D9)."""
    known = actors.get(turn.actor)
    seconds = conf.BEACH_TURN_SECONDS if known is None else known.budget
    text = f"This took longer than {_span(seconds)} and was stopped. What is not shown above was not done."
    _fail(writer, turn, "turn_timeout", text, title="This took too long", finalized_by="timeout")


def _fail(writer: Writer, turn: Turn, code: str, text: str, *, title: str, finalized_by: str) -> None:
    if turn.delegated_from is None:
        part: JsonObject = {
            "metadata": {"partType": ERROR.name},
            "text": text,
            "data": {"code": code, "title": title},
        }
        append_parts(writer, turn, [part], "runtime", state="error")
    name = writer.session.public_id
    transaction.on_commit(lambda: journal.failed(turn, name, code))
    problem = None if turn.delegated_from is None else {"code": code, "message": text}
    settle(writer, turn, turn_state="error", finalized_by=finalized_by, problem=problem)


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes > 1 else f"{seconds:g} seconds"
