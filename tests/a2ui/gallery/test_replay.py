"""A program played again: the same every time, and bounded."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count

import pytest

from a2ui import ActionError, InputError, LimitError
from a2ui.gallery import replay as module
from a2ui.gallery.replay import Replay
from a2ui.gallery.request import DOINGS, Doing, PlayRequest, journal
from tests.a2ui.gallery.page import FIELDS, GO, LINK, MANY, NAME, SECRET, text
from tests.a2ui.programs import components, create, data, message, path, row

WISH = PlayRequest(program=text(FIELDS))


def play(wish=WISH, **options):
    return Replay(wish, wish.messages(), **options)


def edit(target, value, at=4):
    return Doing(at=at, type="edit", target=target, value=value, ms=1_000)


def test_each_step_says_what_it_sent():
    played = play().overview()

    assert [step.number for step in played.steps] == [1, 2, 3, 4]
    assert [op[0] for op in played.steps[3].ops] == ["x", "t"]
    assert played.steps[0].size > 100 and played.steps[3].size < 400
    assert [step.ops for step in played.steps[:3]] == [(), (), ()]


def test_the_chosen_step_is_what_is_seen():
    seen = play(replace(WISH, step=3)).overview().seen

    assert seen.models["s"]["name"] == "Ines"
    assert ">Ines<" in seen.surfaces[0][2]
    assert seen.before["s"] == {}


def test_before_the_first_message_there_is_nothing():
    played = play(replace(WISH, step=0)).overview()

    assert played.seen.surfaces == ()
    assert len(played.steps) == 4


def test_an_edit_is_a_few_fragments_and_a_row_that_can_be_played_again():
    done = play().do(edit(NAME, "Bea"))
    assert [op for op in done.ops if op[0] == "t"] == [["t", "a1-3", "Bea"]]

    later = play(WISH.doing(edit(NAME, "Bea")))
    played = later.overview()
    assert played.seen.models["s"]["name"] == "Bea"
    assert [row.value for row in played.journal] == ["Bea"]


def test_what_was_done_at_an_earlier_step_is_there_at_a_later_one_until_the_agent_writes():
    wish = WISH.doing(edit(NAME, "Bea", at=3))

    assert play(replace(wish, step=3)).overview().seen.models["s"]["name"] == "Bea"
    assert play(replace(wish, step=4)).overview().seen.models["s"]["name"] == "Ada"


def test_going_back_keeps_what_was_done_later():
    wish = replace(WISH.doing(edit(NAME, "Bea")), step=2)

    done = play(wish).do(edit(NAME, "Cleo", at=2))

    after = replace(wish, journal=tuple(done.played.journal)).doing(edit(NAME, "Cleo", at=2))
    assert [row.value for row in after.journal] == ["Cleo", "Bea"]


def test_edits_of_one_field_in_a_row_are_one_row():
    wish = WISH
    for value in ("B", "Be", "Bea"):
        wish = wish.doing(edit(NAME, value))

    assert [row.value for row in wish.journal] == ["Bea"]


def test_a_click_is_told_with_the_data_of_that_moment():
    done = play(WISH.doing(edit(NAME, "Bea"))).do(Doing(at=4, type="action", target=GO, ms=1_700_000_000_123))
    said = done.played.said[-1]

    assert said.message["action"]["context"] == {"who": "Bea"}
    assert said.message["action"]["timestamp"] == "2023-11-14T22:13:20.123Z"
    assert said.data["a2uiClientDataModel"]["surfaces"]["s"]["name"] == "Bea"


def test_a_click_that_the_browser_follows_is_not_told_to_the_agent():
    done = play().do(Doing(at=4, type="action", target=LINK))

    assert done.url == "https://a2ui.org/"
    assert done.played.said[-1].message is None


def test_more_of_a_list():
    done = play().do(Doing(at=4, type="show", target=MANY))

    assert any(op[0] == "i" for op in done.ops)


def test_an_obscured_value_is_in_no_model_and_nothing_that_is_said():
    wish = WISH.doing(edit(SECRET, "hunter2"))
    done = play(wish).do(Doing(at=4, type="action", target=GO))

    assert done.played.seen.models["s"]["secret"] == {"$secret": "value-1"}
    assert "hunter2" not in repr(done.played.said) + repr(done.ops) + repr(done.played.seen)


@pytest.mark.parametrize("target", ["a1-3", "a1-99", "nothing", "", "a2-1", "a1-1-ix"])
def test_what_is_no_field_cannot_be_written(target):
    with pytest.raises(InputError):
        play().do(edit(target, "x"))
    with pytest.raises(ActionError):
        play().do(Doing(at=4, type="action", target=target))


def test_rows_that_fit_no_more_are_left_out_and_counted():
    played = play(replace(WISH, journal=(edit("a1-99", "x"), edit(NAME, "Bea")))).overview()

    assert played.lost == 1
    assert [row.value for row in played.journal] == ["Bea"]


def test_faults_are_told_in_the_words_of_the_protocol_and_its_version():
    wish = PlayRequest(
        program=text(
            [
                message("updateDataModel", "nobody", value=1),
                {"version": "v1.0", "deleteSurface": {"surfaceId": "s", "odd": 1}},
                {"version": "1.0", "deleteSurface": 5},
            ]
        )
    )
    first, second, third = play(wish).overview().said

    assert first.message["error"]["code"] == "STATE_ERROR"
    assert second.message["version"] == "v1.0"
    assert first.message["version"] == "v0.9"
    # 1.0 has no words for what belongs to no surface.
    assert third.message is None
    assert third.note


def test_time_that_is_over_stops_between_two_messages():
    ticks = count()

    played = play(clock=lambda: next(ticks) * 0.9).overview()

    assert played.stopped == 2
    assert len(played.steps) == 1


def test_a_page_that_would_be_too_large_is_not_drawn(monkeypatch):
    monkeypatch.setattr(module, "HTML_CHARS", 200)
    program = [
        create("a"),
        create("b"),
        create("c"),
        *(components(row("root", "Text", text="x" * 90), surface=s) for s in "abc"),
    ]

    surfaces = play(PlayRequest(program=text(program))).overview().seen.surfaces

    assert [bool(html) for _, _, html in surfaces] == [True, False, False]


def test_a_large_program_keeps_the_operations_of_one_step_only():
    long = "x" * 4_000
    program = [
        create("s"),
        components(
            row("root", "List", children={"componentId": "line", "path": "/l"}),
            row("line", "Text", text=path("/t")),
        ),
        data({"l": list(range(900)), "t": long}),
        *(data(f"{at} {long}", "/t") for at in range(40)),
    ]

    played = play(PlayRequest(program=text(program))).overview()

    assert sum(bool(step.ops) for step in played.steps) <= 1
    assert sum(step.size for step in played.steps) > 10_000_000


def test_the_journal_has_an_end():
    wish = WISH
    for at in range(DOINGS):
        wish = wish.doing(edit(NAME if at % 2 else SECRET, "x"))

    with pytest.raises(LimitError, match="Start over"):
        wish.doing(edit(NAME if DOINGS % 2 else SECRET, "x"))


def test_a_journal_is_played_in_the_order_of_its_steps():
    rows = [
        {"at": 4, "type": "edit", "target": NAME, "value": "late"},
        {"at": 3, "type": "edit", "target": NAME, "value": "early"},
    ]

    assert [row.value for row in journal(json.dumps(rows))] == ["early", "late"]
