"""Looking up tokens, on both databases: the same conversations, in the same order, as plain Python finds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from django.db import connections
from django.utils import timezone

from envelopes.models import ConversationFacts, ConversationWords
from envelopes.search.backends import backend_for
from envelopes.search.folding import asked_tokens, tokens_of
from envelopes.search.places import place_of
from tests.envelopes.log.databases import make_session

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

DOTLESS = "\N{LATIN SMALL LETTER DOTLESS I}"
TEXTS = (
    "Zürich, Flug EJ4521 für Frau Müller-Lüdenscheidt",
    "a refund for BCH-7KD20, ada@example.org",
    "Œuvre de L’Abbé Prévôt; 東京行きの航空券を予約",
    "AND OR NOT NEAR(a b) * \" ' : ^ - ( ) { } \\ % _ tokens:x",
    "رحلة إلى بيروت और हिन्दी में Ωμέγα ΣΊΣΥΦΟΣ",
    f"I\u0307stanbul {DOTLESS}l{DOTLESS}k e\u0301te\u0301 straße 1e5 12abc abc12 3.14 -7 +44/20",
)
ASKED = (
    *("zurich", "ZÜRICH flu", "muller-lud", "ludenscheidt", "ej45", "j4521", "ada@example.org", "7kd20 ada"),
    *(
        "œuvre prevot",
        "oeuvre",
        "東京",
        "航空券",
        "航",
        "空港",
        "AND",
        "NOT NEAR",
        "a b",
        "token",
        "tokens:x",
    ),
    *("_", "%", "بيروت", "हिन्दी", "ωμεγα", "σίσυφος", "istanbul", "ilik", "été", "strasse", "example"),
    *("1e5", "12a", "12abc", "3.14", "44/20"),
)


@pytest.fixture
def stored(alias: str) -> Iterator[dict[int, set[str]]]:
    """The tokens of conversations, by their place."""
    backend, now = backend_for(alias), timezone.now()
    kept: dict[int, set[str]] = {}
    for text in TEXTS:
        session = make_session(alias)
        place = place_of(now, session.pk)
        ConversationFacts.objects.using(alias).create(
            session=session, seq=0, place=place, state="empty", actor="a"
        )
        ConversationWords.objects.using(alias).create(session=session, said=text)
        backend.store(session.pk, place, None, tokens := tokens_of([text]))
        kept[place] = tokens
    yield kept
    ConversationFacts.objects.using(alias).all().delete()


def found(name: str, tokens: list[tuple[str, bool]]) -> list[int]:
    """The places of those that are found, newest first."""
    matching = backend_for(name).matching(tokens)
    statement = (
        f"SELECT f.place FROM {matching.source} WHERE {matching.condition} ORDER BY {matching.place} DESC"  # noqa: S608
    )
    with connections[name].cursor() as cursor:
        cursor.execute(statement, matching.values)
        return [place for (place,) in cursor.fetchall()]


def expected(kept: dict[int, set[str]], tokens: list[tuple[str, bool]]) -> list[int]:
    return sorted(
        (
            place
            for place, has in kept.items()
            if all(
                any(one.startswith(token) for one in has) if begins else token in has
                for token, begins in tokens
            )
        ),
        reverse=True,
    )


def test_each_query_finds_the_same_everywhere(alias: str, stored: dict[int, set[str]]) -> None:
    asked = [tokens for text in ASKED if (tokens := asked_tokens(text))]
    picked = random.Random(12)
    every = sorted(set().union(*stored.values()))
    asked += [[(token[: picked.randint(1, 8)], True)] for token in picked.sample(every, 40)]
    hits = 0

    for tokens in asked:
        assert found(alias, tokens) == expected(stored, tokens), tokens
        hits += bool(expected(stored, tokens))

    assert hits > 60


def test_what_is_stored_anew_takes_the_place_of_what_was_there(
    alias: str, stored: dict[int, set[str]]
) -> None:
    facts = ConversationFacts.objects.using(alias).get(place=min(stored))
    was, facts.place = facts.place, facts.place + (1 << 30)
    facts.save(using=alias)
    backend_for(alias).store(facts.session_id, facts.place, was, {"lisbon"})

    assert found(alias, [("lisbon", False)]) == [facts.place]
    assert found(alias, [("zurich", False)]) == []


def test_tokens_go_with_their_conversation(alias: str, stored: dict[int, set[str]]) -> None:
    facts = ConversationFacts.objects.using(alias).select_related("session").get(place=min(stored))
    facts.session.delete()

    assert found(alias, [("zurich", False)]) == []
    if connections[alias].vendor == "sqlite":
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM envelopes_conversationtokens")
            assert cursor.fetchone() == (len(stored) - 1,)
