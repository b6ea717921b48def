from __future__ import annotations

from django.db import models

from envelopes.models.ids import public_id
from envelopes.models.session import Session
from envelopes.part_types.llm_context import LLM_CONTEXT
from envelopes.protocol.respond import RESPOND
from envelopes.registries.statuses import TURN

WRITTEN = (
    "messages", "told_from", "tokens", "cost", "model", "results", "live", "corrections", "correction", "nudges",
    "turn_state",
)  # fmt: skip
"""The fields of a turn that a reply writes, and nobody but the runner that holds its lease."""


class Turn(models.Model):
    """From an inbound event to settlement, run by one runner at a time.

    ``status`` is where it stands (``statuses.TURN``); ``turn_state`` what its actor declared last. Everything
    that a runner needs to go on after a crash is here: ``messages`` (the model's, in the shape of the Messages API),
    ``model`` (which one wrote them), ``results`` (answers to the tool calls of the last reply, by call id),
    ``correction`` (what the model has to hear with them), ``live`` (the text that streams now).
    ``attempt`` counts claims; it fences every write, so a runner that was overtaken cannot write. ``recoveries`` counts
    how often in a row it was taken over from a runner that was gone, without a step in between.

    ``originators`` (``protocol.originators``) are those who began it, as they were then: what they consume decides what
    is made for its end (D59).

    ``passed_to`` is the turn that goes on with this one: that of the actor that took it over (respond() document,
    "passTo"), or the one that a job began after it had settled. What still comes in for it is that turn's.

    ``delegated_from`` is the turn that asked this one's actor and waits for its answer (respond() document,
    "delegated"): what this one says stands there.

    ``joined`` is the turn that has read the message which opened this one, and answers it (D66).

    ``told_from`` is the number of the first turn that its model has read of, itself where that is none; 0 where no
    model has read anything (``turns.window``).

    ``tokens`` and ``cost`` are what its replies have taken so far, as their provider counted and the settings price it.

    ``deadline`` is when its time is up, in seconds since 1970: from when a runner first had it, as far as it is the
    agent's time. While people or a peer are waited for there is none, and ``seconds_left`` is what is left of it.
    ``due_at``, in seconds since 1970 too, is when a turn begins that tries an earlier one again.
    """

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    # By ``turn_number``.
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns", db_index=False)
    number = models.PositiveIntegerField()
    actor = models.CharField(max_length=64)
    status = models.CharField(max_length=9, choices=[(s, s) for s in TURN.states], default="queued")
    turn_state = models.CharField(max_length=32, blank=True)
    finalized_by = models.CharField(max_length=16, blank=True)
    trigger = models.JSONField(default=dict)
    trigger_seq = models.BigIntegerField(default=0)
    originators = models.JSONField(default=list)
    messages = models.JSONField(default=list)
    # A database default, since a process of the version before may still write while this one starts.
    told_from = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    tokens = models.PositiveBigIntegerField(default=0, db_default=0, editable=False)
    cost = models.FloatField(default=0.0, db_default=0.0, editable=False)
    model = models.CharField(max_length=128, blank=True)
    results = models.JSONField(default=dict)
    live = models.JSONField(default=dict)
    corrections = models.PositiveIntegerField(default=0)
    nudges = models.PositiveIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    correction = models.TextField(blank=True)
    cancel_requested = models.BooleanField(default=False)
    attempt = models.PositiveIntegerField(default=0)
    recoveries = models.PositiveIntegerField(default=0)
    lease_owner = models.CharField(max_length=128, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, blank=True)
    passed_to = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="passed_from"
    )
    delegated_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="delegations", db_index=False
    )
    joined = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="joining", db_index=False
    )
    seconds_left = models.FloatField(default=1800.0)
    deadline = models.FloatField(null=True, blank=True)
    due_at = models.FloatField(null=True, blank=True)

    class Meta:
        verbose_name = "answer"
        # By the column: by the relation would join the session and sort by its own order.
        ordering = ["session_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="turn_number"),
            models.UniqueConstraint(
                fields=["session"], condition=models.Q(status="running"), name="turn_one_running_a_session"
            ),
        ]
        indexes = [
            models.Index(fields=["status", "lease_until"], name="turn_runnable"),
            # Of a long conversation nobody reads all turns to find that none is at work.
            models.Index(fields=["session", "status"], name="turn_at_work"),
            # Of the few turns that another one is about, so that all others pay nothing for it.
            models.Index(
                fields=["delegated_from"],
                condition=models.Q(delegated_from__isnull=False),
                name="turn_delegations",
            ),
            models.Index(fields=["joined"], condition=models.Q(joined__isnull=False), name="turn_joining"),
            # Every process asks once a second which of them are due; while jobs go on many wait, and none is.
            models.Index(fields=["deadline"], condition=models.Q(status="waiting"), name="turn_deadline"),
            models.Index(
                fields=["due_at"],
                condition=models.Q(status="waiting", due_at__isnull=False),
                name="turn_due_at",
            ),
            # What failed today, for the desk.
            models.Index(fields=["turn_state", "settled_at"], name="turn_ended"),
        ]

    def __str__(self) -> str:
        return f"Answer {self.number}"

    @property
    def may_have_calls(self) -> bool:
        """Whether there may be tool calls of this turn, or of one that it goes on with: for a turn that has none
        nobody need look for them, nor for what they bring in. A call is stored together with the block that made it."""
        return self.goes_on or any(
            block.get("type") == "tool_use" and block.get("name") != RESPOND
            for message in self.messages
            if message["role"] == "assistant" and not isinstance(message["content"], str)
            for block in message["content"]
        )

    @property
    def wants_context(self) -> bool:
        """Whether somebody who began it consumes ``llm-context`` (D59): then a translator may have to be asked for its
        end. The answer of one that was delegated is part of another one's."""
        if self.delegated_from_id is not None:
            return False
        return any(LLM_CONTEXT.name in originator["consumes"] for originator in self.originators)

    @property
    def home(self) -> Turn:
        """The turn in which what this one says stands: itself, or that of whoever delegated it. Asks the database only
        then."""
        return self if self.delegated_from is None else self.delegated_from.home

    @property
    def shown_in(self) -> int:
        """The number of ``home``."""
        return self.home.number

    @property
    def place(self) -> tuple[int, ...]:
        """Where it stands in the turn that ``shown_in`` names, for what streams (``protocol.bubbles``): behind what
        that had said when it began to wait, and before what it says when it goes on. Empty for a turn of its own."""
        asker = self.delegated_from
        return () if asker is None else (*asker.place, asker.attempt + 1, 0, self.number)

    def holder(self) -> Turn:
        """The turn that has now what this one began: itself, unless another goes on with it. Asks the database only
        then."""
        turn = self
        while turn.passed_to is not None:
            turn = turn.passed_to
        return turn

    @property
    def goes_on(self) -> bool:
        """Whether it may go on with an earlier turn: it was handed that, or begun by what a job of it brought in."""
        return "handoff" in self.trigger or self.trigger.get("kind") == "injection"

    def lineage(self) -> list[Turn]:
        """This turn, after those that it goes on with. Asks the database only if there may be any."""
        turns = [self]
        while turns[0].goes_on:
            earlier = Turn.objects.filter(passed_to=turns[0]).first()
            if earlier is None:
                break
            turns.insert(0, earlier)
        return turns
