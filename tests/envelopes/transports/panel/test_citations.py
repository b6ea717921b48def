"""Sources and the marks of them at the values that they are about (D10)."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes.transports.panel.presenter.thread import Thread
from tests.envelopes.transports.panel.talk import Talk, surface, words

FLIGHTS = {
    "flights": [{"number": "EJ4521", "price": 94}, {"number": "BA2043", "price": 187}],
    "note": "Direct",
}


def cite(
    talk: Talk, path: object, title: str = "Timetable", *, url: str = "https://a.example/", **more: Any
) -> None:
    slot = {key: more.pop(key) for key in ("slotKey", "dataKind") if key in more}
    talk.part("citation", data={"path": path, "title": title, "url": url, **more}, **slot)


def marks(talk: Talk) -> list[tuple[str, str]]:
    """Of each mark in the data, its number and what it stands behind."""
    page = talk.reloaded()
    parents = {child: parent for parent in page.root.iter() for child in parent}
    found = []
    for card in page.select("b-surface"):
        for button in card.iter("button"):
            if "b-cite" in (button.get("class") or ""):
                number = words(button)
                found.append((number, words(parents[button]).removesuffix(number).strip()))
    return found


def entries(talk: Talk) -> list[list[str]]:
    return [[words(mark) for mark in row.iter("button")] for row in talk.reloaded().select("b-cites")]


def test_the_value_that_it_points_to_carries_the_mark() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data=FLIGHTS, dataKind="flights")
    cite(talk, "/flights/1/price")
    cite(talk, "/note", "Airline", url="https://b.example/")
    assert marks(talk) == [("1", "187"), ("2", "Direct")]
    assert entries(talk) == [["1", "2"]]
    pops = {pop.get("id") for pop in talk.page.select("b-pop")}
    buttons = [each for each in talk.page.root.iter("button") if "b-cite" in (each.get("class") or "")]
    # Native buttons that open native popovers: keyboard and touch need nothing more.
    assert {each.get("popovertarget") for each in buttons} <= pops
    assert {each.get("type") for each in buttons} == {"button"}
    assert "Source 1: Timetable" in {each.get("aria-label") for each in buttons}


@pytest.mark.parametrize("first", ["data", "citation"])
def test_the_order_of_data_and_citation_does_not_matter(first: str) -> None:
    talk = Talk()
    talk.turn(1)
    steps = [lambda: talk.part("domain-data", data=FLIGHTS), lambda: cite(talk, "/note")]
    for step in steps if first == "data" else reversed(steps):
        step()
    talk.settle()
    assert marks(talk) == [("1", "Direct")]


def test_one_source_cited_twice_is_one_entry_with_both_quotes_and_two_marks() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data=FLIGHTS)
    cite(talk, "/flights/0/price", quote="94 pounds")
    talk.part("response", "Two flights.")
    cite(talk, "/flights/1/price", quote="187 pounds")
    cite(talk, "/flights/1/price", quote="187 pounds")
    talk.settle()
    assert entries(talk) == [["1"]]
    assert marks(talk) == [("1", "94"), ("1", "187")]
    (pop,) = [each for each in talk.page.select("b-pop") if "Timetable" in words(each)]
    assert [words(each) for each in pop.iter("q")] == ["94 pounds", "187 pounds"]


def test_of_several_data_the_last_with_a_value_there_is_meant_unless_a_slot_is_named() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"price": 1, "only": "here"}, slotKey="first")
    talk.part("domain-data", data={"price": 2}, slotKey="second")
    cite(talk, "/price")
    cite(talk, "/only", "B", url="")
    cite(talk, "/price", "C", url="", slotKey="first")
    cite(talk, "/only", "D", url="", slotKey="second")
    talk.settle()
    assert marks(talk) == [("3", "1"), ("2", "here"), ("1", "2")]
    assert entries(talk) == [["1", "2", "3", "4"]]


def test_data_that_a_surface_shows_takes_the_mark_away_from_data_before_it() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"price": 1}, dataKind="old")
    talk.part("domain-data", data={"price": 2}, dataKind="shown")
    talk.part("a2ui-surface", data=surface("s", model={"n": "2"}), dataKind="shown")
    cite(talk, "/price")
    talk.settle()
    assert marks(talk) == []
    assert entries(talk) == [["1"]]


@pytest.mark.parametrize(
    ("path", "behind"),
    [
        ("", "note Direct"),
        ("/deep", 'a b {"c"'),
        ("/deep/a/b/c/d", '{"d": 1}'),
        ("/long/70", "Showing the first 50 of 80 entries."),
        ("/a~1b", "slash"),
        ("/m~0n", "tilde"),
    ],
)
def test_what_is_not_drawn_by_itself_is_marked_where_it_is_held(path: str, behind: str) -> None:
    talk = Talk()
    talk.turn(1)
    data = {
        "long": list(range(80)),
        "a/b": "slash",
        "m~n": "tilde",
        "deep": {"a": {"b": {"c": {"d": 1}}}},
        "note": "Direct",
    }
    talk.part("domain-data", data=data)
    cite(talk, path)
    talk.settle()
    ((number, held),) = marks(talk)
    assert number == "1"
    assert held.endswith(behind) or behind in held


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"path": 7, "title": ["x"], "url": {}, "quote": None},
        {"path": "flights/0", "title": "No slash"},
        {"path": "/nothing/there", "title": "T"},
        {"path": "/flights/01", "title": "T"},
        {"path": "/flights/99999999999999999999", "title": "T"},
        {"path": "/~2", "title": "T"},
        {"path": "/" * 5000, "title": "T"},
        {"title": "x" * 100_000, "quote": "y" * 100_000},
    ],
)
def test_whatever_a_citation_holds_the_rest_is_there(data: dict[str, Any]) -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data=FLIGHTS)
    talk.part("citation", data=data)
    talk.part("response", "All the same.")
    talk.settle()
    assert marks(talk) == []
    assert "All the same." in words(talk.reloaded().root)


def test_marks_are_the_same_from_a_snapshot_in_the_middle() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data=FLIGHTS)
    cite(talk, "/note")
    talk.thread = Thread.restore(talk.context, talk.thread.snapshot())
    cite(talk, "/flights/0/price")
    talk.settle()
    assert marks(talk) == [("1", "94"), ("1", "Direct")]


def test_a_hostile_title_is_text_in_mark_and_popover() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data=FLIGHTS)
    cite(
        talk,
        "/note",
        '"><script>alert(1)</script>',
        url="javascript:alert(1)",
        quote="<img src=x onerror=alert(1)>",
    )
    talk.settle()
    page = talk.reloaded()
    assert marks(talk) == [("1", "Direct")]
    assert [each for each in page.root.iter() if each.tag in ("script", "img") or each.get("onerror")] == []
    assert not [link for link in page.root.iter("a") if "javascript" in (link.get("href") or "")]
