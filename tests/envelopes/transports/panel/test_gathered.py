"""An agent's data in the thread: at once, one card a slot, brought up to date where it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envelopes.transports.panel.presenter import gathered
from envelopes.transports.panel.presenter.thread import Thread
from tests.envelopes.transports.panel.talk import Talk, surface, update, words

ROME: Any = {"slotKey": "ta.research-rome", "mergeStrategy": "append"}


def _data(talk: Talk) -> list[str]:
    return [words(element) for element in talk.reloaded().select("a2-data")]


def _lines(talk: Talk) -> list[tuple[str, str]]:
    """What later turns say of cards further up: words, and where they lead."""
    found = [link for line in talk.reloaded().select("b-ack") for link in line.iter("a")]
    return [(words(link), link.get("href") or "") for link in found]


def test_data_is_drawn_as_soon_as_it_is_there() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"price": 94}, dataKind="flights")
    talk.part("response", "One flight.")

    assert _data(talk) == ["price 94"]
    talk.settle()
    assert _data(talk) == ["price 94"]


def test_data_of_one_kind_is_one_card_of_its_turn() -> None:
    talk = Talk()
    for turn in (1, 2):
        talk.turn(turn)
        for price in (94, 95):
            talk.part("domain-data", data={"price": price * turn}, turn=turn, dataKind="flights")
        talk.settle(turn)

    # A kind says nothing of whether another turn speaks of the same flights.
    assert _data(talk) == ["price 95", "price 190"]
    assert _lines(talk) == []


def test_a_later_turn_brings_the_card_of_its_slot_up_to_date_and_says_where() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"sights": ["Forum"]}, **ROME)
    talk.settle(1)
    (card,) = talk.page.select("b-surface")
    talk.me("What else?")
    talk.turn(2)
    for sight in ("Pantheon", "Trevi"):
        talk.part("domain-data", data={"sights": [sight]}, turn=2, **ROME)

    assert _data(talk) == ["sights Forum Pantheon Trevi"]
    assert [element.get("id") for element in talk.page.select("b-surface")] == [card.get("id")]
    assert "Updated" in words(talk.page.select("b-surface")[0])
    assert _lines(talk) == [("ta.research-rome", f"#{card.get('id')}")]
    assert card.get("tabindex") == "-1"
    # It is in the turn that brought it.
    (line,) = [line for line in talk.page.select("b-ack") if list(line.iter("a"))]
    assert line in list(talk.page.select("b-turn")[1].iter())


def test_the_same_again_changes_nothing_but_is_referred_to() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"a": 1}, slotKey="s")
    talk.settle(1)
    talk.turn(2)
    ops = talk.part("domain-data", data={"a": 1}, turn=2, slotKey="s")

    assert [op[0] for op in ops] == ["i"]
    assert "Updated 09:" not in talk.page.text()


def test_the_actor_that_takes_over_goes_on_with_the_data_of_the_turn() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"l": [1]}, dataKind="k", mergeStrategy="append")
    talk.settle(1, "passed")
    talk.turn(2, "queued", goesOn=1)
    talk.turn(2)
    talk.part("domain-data", data={"l": [2]}, turn=2, dataKind="k", mergeStrategy="append")
    talk.settle(2)

    assert _data(talk) == ["l 1 2"]


def test_a_card_of_the_agent_takes_the_place_of_the_generic_view() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"price": 94}, dataKind="flights")
    talk.part("domain-data", data={"sun": "yes"}, dataKind="weather")
    talk.part("a2ui-surface", data=surface("f", model={"n": "94"}), dataKind="flights")
    talk.part("domain-data", data={"price": 95}, dataKind="flights")

    assert _data(talk) == ["sun yes"]


def test_a_surface_of_which_nothing_came_takes_no_place() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"price": 94}, dataKind="flights")
    talk.part("a2ui-surface", data={"version": "v0.9", "nonsense": {}}, dataKind="flights")

    assert _data(talk) == ["price 94"]


def test_what_a_card_of_the_agent_covers_is_still_what_later_data_joins() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"sights": ["Forum"]}, **ROME)
    talk.part("a2ui-surface", data=surface("f", model={"n": "Forum"}), slotKey=ROME["slotKey"])
    talk.settle(1)
    assert _data(talk) == []
    talk.turn(2)
    talk.part("domain-data", data={"sights": ["Trevi"]}, turn=2, **ROME)

    assert _data(talk) == ["sights Forum Trevi"]
    assert len(_lines(talk)) == 1


def test_where_a_turn_shows_its_data_itself_it_refers_to_no_card() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"sights": ["Forum"]}, **ROME)
    talk.settle(1)
    talk.turn(2)
    talk.part("domain-data", data={"sights": ["Trevi"]}, turn=2, **ROME)
    talk.part("a2ui-surface", data=surface("f", model={"n": "Trevi"}), turn=2, slotKey=ROME["slotKey"])

    assert _data(talk) == ["sights Forum Trevi"]
    assert _lines(talk) == []


def test_a_card_that_has_left_the_window_is_brought_up_to_date_in_what_is_kept() -> None:
    talk = Talk()
    talk.thread = Thread(talk.context, 6)
    talk.turn(1)
    talk.part("domain-data", data={"sights": ["Forum"]}, **ROME)
    talk.settle(1)
    for number in range(2, 40):
        talk.me("Next")
        talk.turn(number)
        talk.part("response", "Yes.", turn=number)
        talk.settle(number)
    assert "Forum" not in talk.html()

    kept = json.loads(json.dumps(talk.thread.snapshot()))
    talk.thread = Thread.restore(talk.context, kept, 6)
    talk.turn(40)
    talk.part("domain-data", data={"sights": ["Trevi"]}, turn=40, **ROME)

    (view,) = talk.thread.model.found(("slot", ROME["slotKey"]), gathered.SlotCard)
    assert view.data == {"sights": ["Forum", "Trevi"]}
    assert talk.thread.model.afar[view.id] == 2
    assert f'href="#{view.id}"' in talk.html()


def test_only_so_many_slots_are_brought_up_to_date_and_the_others_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gathered, "OPEN_CARDS", 2)
    talk = Talk()
    talk.turn(1)
    for slot in ("a", "b", "a", "c"):
        talk.part("domain-data", data={slot: 1}, slotKey=slot)
    talk.settle(1)
    talk.turn(2)
    talk.part("domain-data", data={"b": 2}, turn=2, slotKey="b")

    # "b" had changed before "a".
    assert _data(talk) == ["a 1", "b 1", "c 1", "b 2"]
    cards = [words(card) for card in talk.page.select("b-surface")]
    assert ["Later data stands in a card of its own." in card for card in cards] == [True, True, False, False]


def test_a_card_takes_in_only_so_much_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "LONGEST", 40)
    talk = Talk()
    talk.turn(1)
    for _ in range(3):
        talk.part("domain-data", data={"l": ["x" * 10]}, **ROME)

    assert len(talk.reloaded().select("b-surface")) == 2
    assert talk.page.text().count("Later data stands in a card of its own.") == 1


def test_a_card_takes_in_integers_of_any_length() -> None:
    talk = Talk()
    talk.turn(1)
    for number in (10**30, 10**31):
        talk.part("domain-data", data={"l": [number]}, **ROME)

    (card,) = talk.reloaded().select("b-surface")
    assert words(card).startswith("l 1e+30 1e+31")


def test_data_that_the_agent_shows_itself_is_drawn_only_where_it_has_not_by_the_end() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"price": 94}, own_card=True, dataKind="flights")
    talk.part("domain-data", data={"sun": "yes"}, own_card=True, dataKind="weather")
    talk.part("response", "One flight.")
    assert _data(talk) == []
    talk.part("a2ui-surface", data=surface("f", model={"n": "94"}), dataKind="flights")
    talk.settle(1)

    # Below what was said, which somebody may be reading.
    assert _data(talk) == ["sun yes"]
    assert talk.page.text().endswith("sun yes Data from Sally Shown 09:40")


def test_data_that_waits_is_drawn_when_a_person_has_to_decide_something() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"price": 94}, own_card=True, dataKind="flights")
    talk.ask("ap")
    talk.turn(1, "suspended")

    assert _data(talk) == ["price 94"]


def test_a_later_turn_whose_own_card_does_not_come_brings_the_one_above_out() -> None:
    talk = Talk()
    for turn in (1, 2):
        talk.turn(turn)
        talk.part("domain-data", data={"sights": [turn]}, turn=turn, own_card=True, **ROME)
        if turn == 1:
            talk.part("a2ui-surface", data=surface("f", model={"n": 1}), slotKey=ROME["slotKey"])
        assert _data(talk) == []
        talk.settle(turn)

    assert _data(talk) == ["sights 1 2"]
    assert len(_lines(talk)) == 1


def test_a_surface_that_a_later_turn_brings_up_to_date_is_referred_to_where_it_stands() -> None:
    """As a template does that draws this slot: the surface follows its data."""
    talk = Talk()
    for turn in (1, 2):
        talk.turn(turn)
        talk.part("domain-data", data={"sights": [turn]}, turn=turn, **ROME)
        shows = surface("f", model={"n": 1}) if turn == 1 else update("f", "/n", 2)
        talk.part("a2ui-surface", data=shows, turn=turn, slotKey=ROME["slotKey"])
        talk.settle(turn)

    assert _data(talk) == []
    (card,) = talk.page.select("b-surface")
    assert "2" in words(card)
    assert _lines(talk) == [("ta.research-rome", f"#{card.get('id')}")]
