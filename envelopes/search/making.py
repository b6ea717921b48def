"""What is kept of a conversation, made of its log: its facts, its words, its tokens. Nothing is stored here."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.translation import gettext as _

from envelopes.access import Principal
from envelopes.log.read import delivered_rows
from envelopes.models import ConversationFacts, Participant, Session
from envelopes.models.searched import STALE
from envelopes.protocol.rows import Row
from envelopes.protocol.text import shorten
from envelopes.search import said
from envelopes.search.behind import known_until
from envelopes.search.folding import tokens_of
from envelopes.search.places import place_of
from envelopes.search.said import KINDS, bounded, lines_of, shown_at, spoken_in
from envelopes.search.standing import Conversation, standing
from envelopes.search.states import state_of

logger = logging.getLogger(__name__)

LAST_WORDS = 200
_KINDS = (*KINDS, "settled")


@dataclass(frozen=True)
class Made:
    """``was`` is what was known before, None for nothing. ``said`` and ``tokens`` are None where none has changed.
    ``known_until`` is how far the log was known before any of this was read."""

    facts: ConversationFacts
    was: ConversationFacts | None
    said: str | None
    tokens: set[str] | None
    known_until: datetime


def make(pks: Sequence[int], *, anew: bool = False) -> Iterator[Made]:
    """What is kept of these conversations, as they are when it is asked for; ``anew``, from the first row on. In
    ascending order, one by one: of a long one that is half a megabyte."""
    owners: Mapping[int, Participant] | None = None
    since = known_until()
    for one in standing(pks):
        news = _news(one, anew=anew)
        if news.before is not None and not news.read.lines:
            # Of most of those in which a job goes on this is all: nobody has said anything.
            yield _as_before(news, news.before, since)
            continue
        owners = _owners(pks) if owners is None else owners
        known = _known(one.session.pk) if news.before is not None else ""
        if known is None:
            # They were lost.
            news, known = _news(one, anew=True), ""
        yield _with_words(news, owners.get(one.session.pk), known, since)


@dataclass
class _News:
    """A conversation and what is new in it. ``before`` is what was known before that; None where all of it is new."""

    conversation: Conversation
    before: ConversationFacts | None
    read: _Read

    def facts(self, **fields: Any) -> ConversationFacts:
        """What is known by now, but for what follows from its words."""
        session = self.conversation.session
        return ConversationFacts(
            session_id=session.pk,
            seq=session.last_seq,
            state=state_of(self.conversation.standing),
            actor=session.actor,
            has_approval=self.conversation.asked,
            has_error=self.read.has_error or (self.before is not None and self.before.has_error),
            **fields,
        )


def _news(one: Conversation, *, anew: bool) -> _News:
    was, session = one.facts, one.session
    # Of a backup that was restored the log may be shorter than what is known of it.
    if anew or was is None or was.seq == STALE or was.seq > session.last_seq:
        return _News(one, None, _read(session.pk, 0, session.last_seq))
    return _News(one, was, _read(session.pk, was.seq, session.last_seq))


def _as_before(news: _News, was: ConversationFacts, since: datetime) -> Made:
    """Whose words and people are what they were: where those change, all of it is made anew (``STALE``)."""
    facts = news.facts(place=was.place, owner=was.owner, last_words=was.last_words, is_cut=was.is_cut)
    return Made(facts, was, None, None, since)


def _with_words(news: _News, owner: Participant | None, known: str, since: datetime) -> Made:
    read, was, session = news.read, news.before, news.conversation.session
    told, is_cut = bounded("\n".join(read.lines if was is None else [known, *read.lines]))
    facts = news.facts(
        place=place_of(read.at or session.created_at, session.pk),
        owner=Principal(owner.user, owner.owner_key).key if owner is not None else "",
        last_words=shorten(read.spoken or (read.lines[-1] if read.lines else ""), LAST_WORDS),
        is_cut=is_cut or read.is_cut or (was is not None and was.is_cut),
    )
    return Made(facts, news.conversation.facts, told, tokens_of([told, *_names(session, owner)]), since)


def _owners(pks: Sequence[int]) -> Mapping[int, Participant]:
    found = Participant.objects.filter(session__in=pks, role=Participant.Role.OWNER).select_related("user")
    return {owner.session_id: owner for owner in found.order_by("-pk")}


_KNOWN = "SELECT said FROM envelopes_conversationwords WHERE session_id = %s"


def _known(pk: int) -> str | None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_KNOWN, [pk])
        found = cursor.fetchone()
    return found[0] if found is not None else None


@dataclass
class _Read:
    """``at`` is when the last of ``lines`` was said; ``spoken`` is the last that somebody said, and did not only
    show."""

    lines: list[str] = field(default_factory=list)
    at: Any = None
    spoken: str = ""
    has_error: bool = False
    is_cut: bool = False


def _read(session_pk: int, after: int, upto: int) -> _Read:
    """Of data that an interface shows at one place, the last alone: a job that goes on changing it must not take the
    place of all that was said."""
    read = _Read()
    told: OrderedDict[tuple[str, ...], list[str]] = OrderedDict()
    size = 0
    for row in delivered_rows(session_pk, after, upto, _KINDS):
        read.has_error |= _is_error(row)
        lines, places = _lines(session_pk, row), shown_at(row)
        about = ("row", str(row.seq)) if places is None else ("shown", *places)
        size -= _size(told.pop(about, ()))
        if not lines:
            continue
        told[about] = lines
        size += _size(lines)
        read.at = row.at
        read.spoken = spoken_in(row) or read.spoken
        if size > 2 * said.CHARACTERS:
            # Of twice as much, so that what is replaced next leaves room.
            while size - (oldest := _size(next(iter(told.values())))) >= said.CHARACTERS:
                told.popitem(last=False)
                size -= oldest
                read.is_cut = True
    read.lines = [line for some in told.values() for line in some]
    return read


def _size(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _lines(session_pk: int, row: Row) -> list[str]:
    try:
        return lines_of(row)
    except (KeyError, TypeError, AttributeError, ValueError):
        # Rows outlive the code that wrote them; one that cannot be read must not keep all others from being found.
        logger.exception("Row %d of session %d cannot be read for the search.", row.seq, session_pk)
        return []


def _is_error(row: Row) -> bool:
    ended = row.data.get("finalizedBy")
    return row.kind == "settled" and (
        ended in ("error", "timeout") or (row.data.get("turnState") == "error" and ended != "cancelled")
    )


def _names(session: Session, owner: Participant | None) -> Iterable[str]:
    """What a conversation is called, and who it is with: found however much was said since."""
    yield session.title
    yield session.public_id
    if owner is None:
        return
    yield owner.name
    if owner.owner_key and ":" not in owner.owner_key:
        # In the words of the page, and of whoever reads it.
        yield _("Guest {}").format(owner.owner_key)
        yield f"guest {owner.owner_key}"
    yield owner.owner_key
    if owner.user is not None:
        yield str(owner.user.get_username())
        yield str(owner.user.get_full_name())
        yield str(getattr(owner.user, owner.user.get_email_field_name(), "") or "")
