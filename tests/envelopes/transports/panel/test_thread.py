"""The thread on its main path: what a person sees for each kind of row, live and after a reload."""

from __future__ import annotations

from datetime import timedelta

import pytest

from envelopes.transports.panel.presenter.thread import Thread
from tests.envelopes.transports.panel.talk import Page, Talk, delete, pending, surface, update, words


def test_a_turn_from_question_to_answer() -> None:
    talk = Talk()
    talk.me("Find a flight")
    talk.turn(1)
    assert talk.thread.busy
    assert talk.page.select("b-typing")
    talk.part("ack", "Looking at flights")
    talk.part("thinking", "Compared 14 flights.")
    talk.part("response", "**One** fits.")
    talk.settle()
    page = talk.reloaded()
    assert not talk.thread.busy
    assert page.find("empty") is None
    assert not page.select("b-typing")
    fold = page.select("b-ack")[0]
    assert fold.tag == "details"
    assert fold.get("open") is None
    assert words(fold[0]) == "Compared 14 flights · 4 s"
    assert words(fold[1]) == "Looking at flights"
    assert words(page.select("b-prose")[0]) == "One fits."
    assert page.select("b-prose")[0].find(".//strong") is not None
    assert [words(time) for time in page.root.iter("time")][1] == "09:40"


def test_a_turn_that_goes_on_without_a_word_adds_no_time_to_what_it_did_before_it_asked() -> None:
    """What it took after the question is not what was waited for before it."""
    talk = Talk()
    talk.me("Book it")
    talk.turn(1)
    talk.part("ack", "Asking for your approval")
    talk.ask()
    talk.turn(1, "suspended")
    told = "Asking for your approval · 3 s"
    assert words(talk.page.select("b-ack")[0]) == told
    talk.decide("granted")
    talk.turn(1)
    talk.at += timedelta(seconds=20)
    talk.part("response", "Booked.")
    talk.settle()
    assert [words(line) for line in talk.reloaded().select("b-ack")] == [told]


def test_what_a_turn_says_after_a_question_has_its_time() -> None:
    talk = Talk()
    talk.me("Book it")
    talk.turn(1)
    talk.part("ack", "Asking for your approval")
    talk.ask()
    talk.turn(1, "suspended")
    talk.decide("granted")
    talk.turn(1)
    talk.at += timedelta(seconds=20)
    talk.part("ack", "Booking")
    talk.settle()
    (fold,) = talk.reloaded().select("b-ack")
    assert words(fold[0]) == "Booking · 25 s"


def test_the_first_message_gives_the_title() -> None:
    talk = Talk()
    ops = talk.me("  Find   a flight\nto Corfu " + "x" * 200)
    assert talk.thread.title.startswith("Find a flight to Corfu xxx")
    assert len(talk.thread.title) == 80
    assert ["t", "title", talk.thread.title] in ops
    talk.me("Another")
    assert talk.thread.title.startswith("Find a flight")


def test_a_message_carries_the_clients_id_so_that_its_own_copy_can_go() -> None:
    talk = Talk()
    talk.me("Hello", id="abc123")
    assert talk.page.select("b-me")[0].get("data-mid") == "abc123"


def test_the_same_part_id_continues_a_bubble_and_none_starts_one() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("response", "Let me look. ", partId="m1")
    talk.part("progress", data={"id": "m1", "label": "searching"})
    talk.part("response", "Found it.", partId="m1")
    talk.part("response", "Else.")
    talk.settle()
    assert [words(prose) for prose in talk.reloaded().select("b-prose")] == [
        "Let me look. Found it.",
        "Else.",
    ]


def test_streamed_text_is_replaced_by_its_part_and_withdrawn_text_goes() -> None:
    talk = Talk()
    talk.me("Hi")
    talk.turn(1)
    assert talk.thread.container(1) == "t1-0p"
    assert talk.page.find("t1-0p") is not None
    assert ["d", "vL1-0"] in talk.part("response", "Done.", live="L1-0")
    assert talk.row("withdrawn", {"live": ["L1-1", "L1-2"]}, turn=1) == [["d", "vL1-1"], ["d", "vL1-2"]]
    assert ["t", "t1-0v", ""] in talk.settle()


def test_a_key_that_is_no_id_removes_nothing() -> None:
    talk = Talk()
    talk.turn(1)
    assert talk.row("withdrawn", {"live": ['x" onclick="', "", 3, "ä"]}, turn=1) == []


def test_what_waits_in_line_stays_below_the_answer_that_is_being_written() -> None:
    talk = Talk()
    talk.me("First")
    talk.turn(1)
    talk.me("Second")
    talk.turn(2, "queued")
    talk.part("response", "Answer one")
    talk.settle(1)
    talk.turn(2)
    talk.part("response", "Answer two", turn=2)
    text = talk.reloaded().text()
    assert text.index("Answer one") < text.index("Second") < text.index("Answer two")


def test_a_suspended_turn_goes_on_in_a_new_segment_below_a_newer_turn() -> None:
    talk = Talk()
    talk.me("Book it")
    talk.turn(1)
    talk.ask()
    talk.turn(1, "suspended")
    assert not talk.thread.busy
    talk.me("And a hotel?")
    talk.turn(2)
    talk.part("response", "Here are hotels", turn=2)
    talk.settle(2)
    talk.decide("granted")
    talk.turn(1, "queued")
    talk.turn(1)
    assert talk.thread.container(1) == "t1-1p"
    talk.tool("succeeded", summary="Booked.")
    talk.part("response", "It is booked")
    talk.settle(1)
    page = talk.reloaded()
    assert [turn.get("id") for turn in page.select("b-turn")] == ["t1-0", "t2-0", "t1-1"]
    text = page.text()
    assert text.index("Booked") < text.index("And a hotel?") < text.index("It is booked")


def test_a_question_back_is_answered_by_one_of_its_choices() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("clarify", "Which airport?", {"choices": ["Kastrup", "Either"]})
    talk.settle(1, "clarifying")
    buttons = [element for element in talk.page.root.iter("button") if element.get("data-say")]
    assert [button.get("data-say") for button in buttons] == ["Kastrup", "Either"]
    talk.me(" kastrup ")
    card = talk.reloaded().select("b-clarify")[0]
    assert card.get("data-state") == "answered"
    assert words(card) == "Which airport? You answered: kastrup"


def test_what_is_none_of_the_choices_is_a_message_and_no_answer() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("clarify", "Which airport?", {"choices": ["Kastrup", "Either"]})
    talk.part("clarify", "And when?")
    talk.settle(1, "clarifying")
    talk.me("Is it warm in Corfu?")
    page = talk.reloaded()
    assert [words(card) for card in page.select("b-clarify")] == ["Which airport?", "And when?"]
    assert not [element for element in page.root.iter("button") if element.get("data-say")]
    talk.me("Kastrup")
    assert "You answered" not in talk.reloaded().text()


def test_an_error_part_offers_to_try_again_with_what_was_asked() -> None:
    talk = Talk()
    talk.me("Fly me to Atlantis")
    talk.turn(1)
    talk.part("error", "Nothing was booked.", {"title": "No answer", "code": "timeout", "retry": True})
    talk.settle(1, "error")
    error = talk.reloaded().select("b-error")
    assert len(error) == 1
    assert words(error[0]) == "No answer Nothing was booked. Try again Details timeout"
    assert [b.get("data-say") for b in error[0].iter("button")] == ["Fly me to Atlantis"]


@pytest.mark.parametrize(
    ("how", "by", "told"),
    [
        ("error", "", "This answer couldn’t be finished"),
        ("timeout", "", "This took too long"),
        ("cancelled", "", "You stopped this answer."),
        ("cancelled", "person", "You stopped this answer."),
        ("cancelled", "staff", "Staff stopped this answer."),
        ("cancelled", "program", "This answer was stopped."),
    ],
)
def test_every_end_says_what_it_was(how: str, by: str, told: str) -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("response", "Half")
    talk.settle(1, how, **({"stoppedBy": by} if by else {}))
    assert told in talk.reloaded().text()
    assert "Half" in talk.page.text()


def test_a_wait_for_a_model_is_over_once_it_answers_or_another_runner_asks_it() -> None:
    talk = Talk()
    retry = {
        "number": 1,
        "of": 4,
        "mode": "model",
        "at": "2026-03-12T08:50:00Z",
        "who": "Claude",
        "why": "busy",
    }
    for number, over in ((1, {"reason": "model", "retry": {**retry}}), (2, {"reason": "recovered"})):
        talk.me("Hello")
        talk.turn(number, reason="started")
        talk.turn(number, reason="model", retry=retry)
        assert _moving(talk) == "Claude is busy, trying again at 09:50"
        over.get("retry", {}).pop("at", None)
        talk.turn(number, **over)
        assert _moving(talk) == "Tried again (1 of 4)"
        # It has been told that; who is taken over from now waits for nothing.
        talk.part("ack", "Searching", turn=number)
        talk.turn(number, reason="recovered")
        assert _moving(talk) == "Searching"
        talk.settle(number)


def _moving(talk: Talk) -> str:
    (line,) = [each for each in talk.reloaded().select("b-ack") if each.get("data-live") is not None]
    return words(line)


def test_a_turn_that_said_nothing_leaves_nothing() -> None:
    talk = Talk()
    talk.me("Hi")
    talk.turn(1)
    talk.settle(1, "passed")
    assert not talk.reloaded().select("b-turn")


def test_a_click_is_a_line_of_its_own() -> None:
    talk = Talk()
    talk.row("action", {"action": {}, "owner": "sally", "target": "a1-2", "label": "Nordvind NV 418"})
    assert words(talk.reloaded().select("b-event")[0]).startswith("You pressed Nordvind NV 418")


def test_days_are_those_of_the_sessions_time_zone() -> None:
    talk = Talk(timezone="Pacific/Kiritimati", locale="de")
    talk.me("Morgens")
    talk.row("message", {"text": "Abends", "name": ""}, after=5 * 3600)
    talk.row("message", {"text": "Am nächsten Tag", "name": ""}, after=6 * 3600)
    days = [
        time.get("datetime") for time in talk.reloaded().root.iter("time") if time.get("data-day") is not None
    ]
    assert days == ["2026-03-12", "2026-03-13"]


@pytest.mark.parametrize(
    "strange", [{"timezone": "Mars/Olympus"}, {"locale": "xx-nowhere"}, {"timezone": "../etc"}]
)
def test_a_context_nobody_knows_still_gives_a_page(strange: dict[str, str]) -> None:
    talk = Talk(**strange)
    talk.me("Hi")
    talk.turn(1)
    file = {"artifactId": "1", "mimeType": "application/pdf", "sizeBytes": 182_000, "name": "a.pdf"}
    talk.part("artifact", data=file)
    assert "PDF, 182 kB" in talk.reloaded().text()


# -- surfaces ---------------------------------------------------------------------------------------------------------


def test_a_card_is_framed_by_the_runtime_and_updated_in_place() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("a2ui-surface", data=surface("f", model={"n": "first"}))
    card = talk.page.select("b-surface")[0]
    assert "Card from Sally" in words(card)
    assert "first" in words(card)
    ops = talk.part("a2ui-surface", data=update("f", "/n", "second"))
    assert {op[0] for op in ops} == {"t", "r"}
    page = talk.reloaded()
    assert "second" in page.text()
    assert "Updated 09:40" in page.text()
    talk.settle()
    talk.part("a2ui-surface", data=delete("f"), turn=2)
    card = talk.reloaded().select("b-surface")[0]
    assert card.get("data-state") == "closed"
    assert "second" not in words(card)


def test_whose_card_it_is_stands_where_no_card_can_write() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("a2ui-surface", data=surface("f", model={"n": "Card from your bank"}))

    (card,) = talk.reloaded().select("b-surface")
    assert (card.get("role"), card.get("aria-label")) == ("group", "Card from Sally")
    body, button, about = list(card)
    assert "Card from your bank" in words(body)
    assert button.get("popovertarget") == about.get("id")
    assert words(about).startswith("Card from Sally Shown ")
    # No bar for it.
    assert talk.page.select("b-surface__head") == []


@pytest.mark.parametrize("how", ["cancelled", "error", "timeout"])
def test_p14_a_card_whose_turn_broke_off_waits_for_nothing(how: str) -> None:
    half = surface(
        "f",
        {"id": "root", "component": "Column", "children": ["here", "missing"]},
        {"id": "here", "component": "Text", "text": "Here"},
    )
    talk = Talk()
    talk.turn(1)
    talk.part("a2ui-surface", data=half)
    talk.part("progress", data={"id": "a", "label": "Reading"})
    assert "did not arrive" not in talk.page.text()

    talk.settle(1, "error", finalizedBy=how)

    (card,) = talk.reloaded().select("b-surface")
    assert "The rest of this card did not arrive." in words(card)
    (progress,) = talk.page.select("b-progress")
    assert ("Stopped" if how == "cancelled" else "Failed") in words(progress)
    # A later turn may still send it.
    rest = {"surfaceId": "f", "components": [{"id": "missing", "component": "Text", "text": "There"}]}
    talk.turn(2)
    talk.part("a2ui-surface", data={"version": "v0.9", "updateComponents": rest}, turn=2)
    assert "did not arrive" not in talk.reloaded().text()


def test_work_that_is_all_done_folds_to_one_line() -> None:
    talk = Talk()
    talk.turn(1)
    for name in "ab":
        talk.part("progress", data={"id": name, "label": name, "status": "done", "group": "Research"})
    assert talk.page.select("b-bar")
    talk.settle()
    (progress,) = talk.reloaded().select("b-progress")
    assert (progress.tag, progress.get("open")) == ("details", None)
    assert words(progress[0]) == "Research · 2 of 2"


def test_an_error_offers_what_can_work_instead() -> None:
    talk = Talk()
    talk.me("Fly me to Atlantis")
    talk.turn(1)
    talk.part("error", "Nobody flies there.", {"code": "no_route", "choices": ["Fly to Corfu", " ", 7]})
    (error,) = talk.reloaded().select("b-error")
    assert [button.get("data-say") for button in error.iter("button")] == ["Fly to Corfu"]


def test_an_edit_changes_the_card_and_not_its_note() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("a2ui-surface", data=surface("f", model={"n": "first"}))
    patch = [{"op": "replace", "path": "/n", "value": "mine"}]
    talk.row("edit", {"owner": "sally", "surfaceId": "f", "ops": patch})
    assert "mine" in talk.reloaded().text()
    assert "Updated" not in talk.page.text()


def test_a_card_of_which_nothing_could_be_applied_says_so() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("a2ui-surface", data={"version": "v0.9", "nonsense": {}})
    talk.part("a2ui-surface", data=update("nowhere", "/n", 1))
    talk.part("a2ui-surface", data=delete("nowhere"))
    assert talk.reloaded().text().count("This card couldn’t be shown") == 2


def test_data_is_shown_only_where_no_card_of_the_turn_shows_it() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("domain-data", data={"price": 94}, dataKind="flights")
    talk.part("domain-data", data={"sun": "yes"}, dataKind="weather")
    talk.part("a2ui-surface", data=surface("f", model={"n": "94"}), dataKind="flights")
    # The agent's card shows it from here on; what was drawn of it before is out of sight.
    assert [words(element) for element in talk.page.select("a2-data")] == ["sun yes"]
    talk.settle()
    assert [words(element) for element in talk.reloaded().select("a2-data")] == ["sun yes"]


# -- other parts ------------------------------------------------------------------------------------------------------


def test_sources_are_numbered_through_the_turn() -> None:
    talk = Talk()
    talk.turn(1)
    for number in range(3):
        talk.part(
            "citation",
            data={"path": f"p{number}", "title": f"T{number}", "url": f"https://a.example/{number}"},
        )
        if number == 1:
            talk.part("response", "More")
    rows = talk.reloaded().select("b-cites")
    assert [[words(mark) for mark in row.iter("button")] for row in rows] == [["1", "2"], ["3"]]
    marks = list(rows[0].iter("button"))
    pops = {pop.get("id") for pop in talk.page.select("b-pop")}
    assert {mark.get("popovertarget") for mark in marks} <= pops


def test_a_place_in_the_data_stands_for_a_source_only_where_nothing_else_does() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("citation", data={"path": "/weather", "title": "Climate", "url": "https://a.example/"})
    talk.part("citation", data={"path": "/food", "title": ""})
    titled, bare = (words(pop) for pop in talk.reloaded().select("b-pop"))
    assert "Climate" in titled and "/weather" not in titled
    assert "/food" in bare


def test_internal_parts_never_reach_the_page() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("response", "Two flights found.")
    talk.part("llm-context", "INTERNAL-ANALYSIS")
    talk.part("reasoning-trace", data={"text": "SECRET-THOUGHT"})
    talk.part("setState", data={"cart.status": "paid"})
    talk.part("no-such-part", "UNKNOWN")
    talk.part("__proto__", "PROTO")
    talk.settle()
    text = talk.html()
    for hidden in ("INTERNAL", "SECRET", "paid", "UNKNOWN", "PROTO"):
        assert hidden not in text


def test_a_registered_type_without_a_drawing_is_readable() -> None:
    from envelopes.registries.part_types import PartType, part_types

    with part_types.including(PartType("acme.board", frozenset({"actor"}), "flush", "once", data="optional")):
        talk = Talk()
        talk.turn(1)
        talk.part("acme.board", "A move", {"from": "e2"})
        assert "A move from e2" in talk.reloaded().text()


def test_audit_rows_show_nothing() -> None:
    talk = Talk()
    assert talk.row("free-text", {"text": "LEAK"}, turn=1) == []
    assert talk.row("unheard-of", {}) == []


def test_pictures_come_only_from_where_they_may() -> None:
    talk = Talk(image_hosts=frozenset({"good.example"}))
    talk.turn(1)
    for url in (
        "https://good.example/a.png",
        "https://evil.example/a.png",
        "javascript:alert(1)",
        "/files/1",
    ):
        picture = {"artifactId": url, "mimeType": "image/png", "sizeBytes": 10, "name": "x", "url": url}
        # As the runtime says of one that it has looked at.
        picture |= {"width": 4, "height": 3} if url.startswith("/") else {}
        talk.part("artifact", data=picture)
    assert [img.get("src") for img in talk.reloaded().root.iter("img")] == [
        "https://good.example/a.png",
        "/files/1",
    ]
    assert "javascript" not in talk.html()


# -- keeping ----------------------------------------------------------------------------------------------------------


def test_a_snapshot_goes_on_as_if_nothing_had_happened() -> None:
    talk = Talk()
    talk.me("Book it")
    talk.turn(1)
    talk.part("progress", data={"id": "a", "label": "A", "current": 1, "total": 3})
    talk.part("citation", data={"path": "p", "title": "T"})
    talk.part("domain-data", data={"x": [1, {"kind": "day", "id": "view"}]})
    talk.ask()
    kept = talk.thread.snapshot()
    other = Thread.restore(talk.context, kept)
    assert other.snapshot() == kept
    assert other.html(talk.surfaces) == talk.html()
    assert pending(other) == talk.pending
    assert [card.approval_id for card in pending(other)] == ["ap"]
    for row in (talk.rows[-1], *talk.rows[2:4]):
        assert other.apply(row, []) == talk.thread.apply(row, [])
    assert kept == Thread.restore(talk.context, kept).snapshot()


def test_the_page_of_an_empty_conversation_has_no_blocks() -> None:
    talk = Talk()
    assert talk.html() == ""
    assert Page("").find("empty") is not None
    assert talk.pending == []


@pytest.mark.parametrize(
    ("title", "body", "shown"),
    [
        ("No answer.", "Nothing was booked..", "No answer Nothing was booked."),
        ("No answer", "Nothing was booked", "No answer Nothing was booked."),
        ("", "The system is down.", "The system is down"),
        ("", "The system is down..", "The system is down"),
        ("Wait...", "Nothing was booked...", "Wait... Nothing was booked..."),
        ("It broke. Twice.", "Was it me?", "It broke. Twice. Was it me?"),
    ],
)
def test_an_error_has_one_full_stop_and_its_headline_none(title: str, body: str, shown: str) -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("error", body, {"title": title, "code": "E42"})
    (error,) = talk.reloaded().select("b-error")
    (details,) = error.iter("details")
    assert words(error) == f"{shown} Details E42"
    assert details.get("open") is None and words(details) == "Details E42"


def test_times_and_titles_that_are_short_or_clipped_say_the_whole_when_pointed_at() -> None:
    talk = Talk(locale="en-GB")
    talk.me("Hello")
    talk.turn(1)
    talk.part("response", "Hi")
    talk.part("artifact", data={"artifactId": "a", "name": f"{'plan ' * 30}.txt", "mimeType": "text/plain"})
    page = talk.reloaded()
    times = [time for time in page.root.iter("time") if time.get("data-day") is None]
    assert {time.get("title") for time in times} == {"Thursday, 12 March 2026, 09:40"}
    (name,) = page.select("b-file__name")
    assert name.get("title") == name.text


def test_headings_of_an_answer_stand_below_the_name_of_who_speaks_and_skip_no_level() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("response", "### a\n\n# b\n\n###### c\n\n## d\n\n#### e")
    headings = [
        element for element in talk.reloaded().root.iter() if element.tag in {f"h{n}" for n in range(1, 7)}
    ]
    assert [(element.tag, element.text) for element in headings] == [
        ("h2", "Sally"),
        ("h3", "a"),
        ("h3", "b"),
        ("h4", "c"),
        ("h4", "d"),
        ("h5", "e"),
    ]


def test_each_answer_that_was_stopped_says_so_below_its_own_question() -> None:
    talk = Talk()
    talk.me("Find flights")
    talk.turn(1)
    talk.part("ack", "Searching")
    talk.me("Only direct ones")
    talk.turn(2, "queued")
    # As they end: what waits at once, what is at work when its runner hears of it.
    talk.settle(2, "cancelled")
    talk.settle(1, "cancelled")
    said = [words(turn) for turn in talk.reloaded().select("b-turn")]
    assert [one.count("You stopped this answer.") for one in said] == [1, 1]
    assert "Searching" in said[0]
