from __future__ import annotations

from django.db import models

from envelopes.models.ids import public_id


class Session(models.Model):
    """One conversation: its participants, its log, its surfaces.

    ``last_seq`` is the number of the newest row of its log; the row of this table is the lock under which the log
    grows, so numbers have no gaps. ``made_with`` is the SHA-256 of the key that the page made up for it: asking again
    with that key finds it (D62).

    ``held_by`` is the actor that keeps the conversation, where that is not its own: the next message is for it.
    ``put_aside`` is the number of a turn that goes on with whatever comes next; 0 for none. ``viewed``: somebody counts
    what is delivered of it, so whoever appends gives numbers (``log.numbering``).

    ``taken_by`` is the key of the member of staff who has taken it over (``turns.takeover``); "" while its agent
    answers. ``finishing`` is the number of the turn that was at work then and may end first; 0 for none.
    """

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    actor = models.CharField(max_length=64)
    title = models.CharField(max_length=120, blank=True)
    locale = models.CharField(max_length=35, default="en-US")
    timezone = models.CharField(max_length=64, default="UTC")
    last_seq = models.BigIntegerField(default=0)
    turn_count = models.PositiveIntegerField(default=0)
    held_by = models.CharField(max_length=64, blank=True, editable=False)
    put_aside = models.PositiveIntegerField(default=0, editable=False)
    made_with = models.CharField(max_length=64, blank=True, editable=False)
    # A database default, since a process of the version before may still write while this one starts.
    viewed = models.BooleanField(default=False, db_default=False, editable=False)
    taken_by = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    finishing = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "conversation"
        ordering = ["-updated_at", "-pk"]
        permissions = [
            ("operate_session", "Can take over conversations and write notes"),
            ("export_session", "Can export conversations"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["made_with"], condition=~models.Q(made_with=""), name="session_made_once"
            )
        ]
        indexes = [models.Index(fields=["-updated_at", "-id"], name="session_newest")]

    def __str__(self) -> str:
        return self.title or f"Conversation {self.public_id[:8]}"
