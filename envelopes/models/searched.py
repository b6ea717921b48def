"""What lists of conversations ask of one, and the words that it is found by: kept beside the log by ``search``, which
makes all of it from the log again where it is lost."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from envelopes.models.session import Session

STALE = -1
"""The ``seq`` of facts that are to be made anew: what they were made of has changed beside the log."""


class ConversationFacts(models.Model):
    """One conversation as its rows up to ``seq`` made it.

    ``place`` orders conversations by when something was last said in them, and no two have the same: milliseconds since
    1970 above its lowest 20 bits (``search.places``). ``owner`` is a ``Principal.key``. ``has_approval`` and
    ``has_error``: somebody was asked, something went wrong, at any time. ``last_words`` is the end of what was said.
    ``is_cut``: only the last of its words are searched.
    """

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="facts")
    seq = models.BigIntegerField()
    place = models.BigIntegerField(unique=True)
    state = models.CharField(max_length=9)
    actor = models.CharField(max_length=64)
    owner = models.CharField(max_length=80, blank=True)
    has_approval = models.BooleanField(default=False)
    has_error = models.BooleanField(default=False)
    last_words = models.CharField(max_length=200, blank=True)
    is_cut = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "conversation facts"
        indexes = [
            models.Index(fields=["state", "place"], name="facts_state"),
            models.Index(fields=["actor", "place"], name="facts_actor"),
            models.Index(fields=["owner", "place"], name="facts_owner"),
            models.Index(fields=["place"], condition=Q(has_approval=True), name="facts_approval"),
            models.Index(fields=["place"], condition=Q(has_error=True), name="facts_error"),
            models.Index(fields=["session"], condition=Q(seq=STALE), name="facts_stale"),
        ]

    def __str__(self) -> str:
        return f"Facts of session {self.session_id} up to {self.seq}"


class ConversationWords(models.Model):
    """What was said in a conversation, a line each time, for the lines that a search shows. What is looked up is made
    of it, and differs between databases (``search.backends``)."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="words")
    said = models.TextField(blank=True)

    class Meta:
        verbose_name_plural = "conversation words"

    def __str__(self) -> str:
        return f"Words of session {self.session_id}"


class SearchCursor(models.Model):
    """The one row that says how far the log has been followed: conversations that have not changed since
    ``known_until`` are known. ``lease_owner`` is the process that follows it, until ``lease_until``."""

    known_until = models.DateTimeField()
    lease_owner = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField()

    def __str__(self) -> str:
        return f"Known until {self.known_until}"
