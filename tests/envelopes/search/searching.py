"""What tests of the search do again and again."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from envelopes import search
from envelopes.models import ConversationFacts, SearchCursor, Session
from envelopes.search import Filters, Follower, read_query


def follow() -> None:
    """As a process does it that was away until now."""
    SearchCursor.objects.update(lease_until=timezone.now())
    follower = Follower()
    while follower.look():
        pass


def found(words: str = "", **filters: Any) -> list[int]:
    follow()
    return search.listed(Filters(read_query(words), **filters), size=50).sessions


def facts(session: Session) -> ConversationFacts:
    follow()
    return ConversationFacts.objects.get(session=session)
