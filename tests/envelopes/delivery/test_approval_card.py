"""The approval card: shows all of what will run, is drawn from rows only, says what came of it."""

from __future__ import annotations

import pytest

from tests.envelopes.delivery.talk import Talk, words


def pending(**ask: object) -> Talk:
    talk = Talk()
    talk.me("Book it")
    talk.turn(1)
    talk.ask(**ask)  # type: ignore[arg-type]
    talk.turn(1, "suspended")
    return talk


def test_a_pending_card_asks_and_offers_two_equal_answers() -> None:
    talk = pending(riskNote="spends money", why="It can be refunded until noon.")
    card = talk.reloaded().select("b-approval")[0]
    assert card.get("data-state") == "pending"
    told = words(card)
    for shown in (
        "Needs your approval",
        "High risk: spends money",
        "Buy one ticket?",
        "flights.book",
        "NV 418",
    ):
        assert shown in told
    assert "It can be refunded until noon." in told
    assert "9f2c 41ab" in told
    buttons = [(b.get("data-decide"), b.get("data-approval")) for b in card.iter("button")]
    assert buttons == [("denied", "ap"), ("granted", "ap")]
    assert card.find(".//*[@autofocus]") is None
    assert [p.question for p in talk.thread.pending] == ["Buy one ticket?"]


def test_all_arguments_are_on_the_card_however_long_nested_or_hidden() -> None:
    args = {
        "to": "a\u202eb\u200bc",
        "body": "x" * 1000,
        "lines": "one\ntwo",
        "deep": {"list": [1, True, None, {}, [], ""], "s": "1"},
        "k\u2066ey": "v",
    }
    card = pending(args=args).reloaded().select("b-approval")[0]
    told = words(card)
    assert "U+202E" in told
    assert "U+200B" in told
    assert "U+2066" in told
    assert "x" * 1000 in told
    assert "All 1000 characters" in told
    rows = {words(row[0]).replace(" ", ""): words(row[1]) for row in card.iter("tr")}
    assert rows["deep.list[0]"] == "1"
    assert rows["deep.list[1]"] == "true"
    assert rows["deep.list[2]"] == "null"
    assert rows["deep.list[3]"] == "{}"
    assert rows["deep.list[5]"] == "empty text"
    assert rows["deep.s"] == "1"
    codes = {words(code) for code in card.iter("code")}
    assert {
        "1",
        "true",
        "null",
        "{}",
        "[]",
        "flights.book",
    } <= codes  # told apart from text that looks the same


def test_a_label_stands_beside_the_name_and_never_for_it() -> None:
    args = {"lead_passenger": "Ada", "email": "", "deep": {"lead_passenger": "x"}}
    card = pending(args=args, labels={"lead_passenger": "Lead passenger", "email": 7, "gone": "Gone"})
    table = card.reloaded().select("b-approval")[0].iter("tr")
    rows = {words(row[0]).replace(" ", ""): words(row[1]) for row in table}
    assert rows == {"Leadpassengerlead_passenger": "Ada", "email": "empty text", "deep.lead_passenger": "x"}


def test_very_many_arguments_are_still_all_there() -> None:
    told = words(pending(args={f"k{n}": n for n in range(500)}).reloaded().select("b-approval")[0])
    assert '"k499": 499' in told


@pytest.mark.parametrize(
    ("state", "more", "shown", "told"),
    [
        ("running", {}, "running", "You can close this page"),
        ("succeeded", {"summary": "Booked 6X9K2L."}, "done", "Booked 6X9K2L"),
        (
            "failed",
            {"error": {"code": "x", "message": "The card was declined. Nothing was paid."}},
            "failed",
            "declined",
        ),
        ("unknown", {}, "unknown", "will not be tried again"),
    ],
)
def test_a_granted_card_says_what_came_of_it(
    state: str, more: dict[str, object], shown: str, told: str
) -> None:
    talk = pending(label="Booking the flight")
    talk.decide("granted")
    assert words(talk.card()).startswith("Booking the flight Approved in chat")
    talk.tool("running")
    talk.tool(state, **more)
    card = talk.reloaded().select("b-approval")[0]
    assert card.get("data-state") == shown
    assert told in words(card)
    assert "Approved in chat, 09:40" in words(card)
    assert "NV 418" in words(card)
    assert not list(card.iter("button"))
    assert talk.thread.pending == []


def test_a_settled_card_is_a_line_that_opens() -> None:
    talk = pending()
    talk.decide("granted")
    talk.tool("succeeded", summary="Booked 6X9K2L.")
    fold = talk.reloaded().select("b-approval")[0].find("details")
    assert fold is not None
    assert fold.get("open") is None
    assert words(fold[0]).startswith("Booked 6X9K2L Approved in chat")


def test_denied_and_expired_are_told_apart() -> None:
    talk = pending()
    talk.ask("bp")
    talk.decide("denied", reason="too dear")
    talk.decide("denied", "bp", reason="expired", decidedByName="policy:expiry", source="policy")
    denied, expired = talk.reloaded().select("b-approval")
    assert denied.get("data-state") == "denied"
    assert "Denied in chat" in words(denied)
    assert "Reason: too dear" in words(denied)
    assert expired.get("data-state") == "expired"
    assert "No decision by 09:40" in words(expired)
    assert "policy:expiry" not in words(expired)
    for card in (denied, expired):
        assert "Nothing was run." in words(card)
        assert not list(card.iter("button"))


def test_a_decision_made_elsewhere_names_who_and_where() -> None:
    talk = pending()
    talk.decide("granted", decidedByName="Jonas Weber", source="admin")
    assert "Approved by Jonas Weber in the admin" in words(talk.card())


def test_each_card_answers_to_its_own_id_only() -> None:
    talk = pending()
    talk.ask("bp", args={"flight": "AT 2207"})
    talk.decide("granted", "bp")
    states = [card.get("data-state") for card in talk.reloaded().select("b-approval")]
    assert states == ["pending", "running"]
    talk.decide("denied", "nobody")
    assert states == [card.get("data-state") for card in talk.reloaded().select("b-approval")]


def test_a_late_decision_row_changes_nothing() -> None:
    talk = pending()
    talk.decide("denied", reason="expired")
    assert talk.decide("granted") == []
    assert talk.tool("running") == []
    assert talk.card().get("data-state") == "expired"


def test_a_question_asked_twice_has_one_card() -> None:
    talk = pending()
    assert talk.ask() == []
    assert len(talk.reloaded().select("b-approval")) == 1


def test_an_outcome_may_come_after_the_turn_has_settled() -> None:
    talk = pending()
    talk.decide("granted")
    talk.tool("unknown")
    talk.settle()
    talk.tool("succeeded", summary="It was booked after all.")
    assert talk.reloaded().select("b-approval")[0].get("data-state") == "done"


def test_a_turn_that_ends_takes_its_open_question_with_it() -> None:
    talk = pending()
    talk.settle(1, "cancelled")
    card = talk.reloaded().select("b-approval")[0]
    assert "The turn ended before a decision. Nothing was run." in words(card)
    assert not list(card.iter("button"))
    assert talk.thread.pending == []


def test_without_a_deadline_the_card_says_so() -> None:
    assert "No time limit" in words(pending(expires=None).card())
    assert "Expires at 10:00" in words(pending().card())


def test_a_second_attempt_is_called_one() -> None:
    assert "This is attempt 2." in words(pending(attempt=2).card())
