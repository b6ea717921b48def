"""The approval card: shows all of what will run, is drawn from rows only, says what came of it."""

from __future__ import annotations

import json
from xml.etree.ElementTree import Element

import pytest

from envelopes.registries.doors import Door, doors
from tests.envelopes.transports.panel.talk import Talk, words


def pending(**ask: object) -> Talk:
    talk = Talk()
    talk.me("Book it")
    talk.turn(1)
    talk.ask(**ask)  # type: ignore[arg-type]
    talk.turn(1, "suspended")
    return talk


def answers(card: Element) -> list[Element]:
    return [button for button in card.iter("button") if button.get("data-decide")]


def rows(card: Element) -> dict[str, str]:
    """What the card says for people, by label."""
    return {words(row[0]): words(row[1]) for part in card.iter("dl") for row in part}


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
    buttons = [(b.get("data-decide"), b.get("data-approval")) for b in answers(card)]
    assert buttons == [("denied", "ap"), ("granted", "ap")]
    assert card.find(".//*[@autofocus]") is None
    assert [p.question for p in talk.pending] == ["Buy one ticket?"]


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
    for name in ("right-to-left override", "zero-width space", "left-to-right isolate"):
        assert name in told
    assert "x" * 1000 in told
    assert "760 more characters" in told
    shown = rows(card)
    assert shown["deep , list 1"] == "1"
    assert shown["deep , list 2"] == "true"
    assert shown["deep , list 3"] == "null"
    assert shown["deep , list 4"] == "{}"
    assert shown["deep , list 6"] == '""'
    # Told apart from the number.
    assert shown["deep , s"] == '"1"'
    assert shown["to"] == "a right-to-left override b zero-width space c"


def test_titles_stand_for_declared_arguments_and_never_for_others() -> None:
    args = {"lead_passenger": "Ada", "email": "", "Lead passenger": "Eve", "deep": {"lead_passenger": "x"}}
    fields = [
        {"path": ["lead_passenger"], "title": "Lead passenger", "format": "text"},
        {"path": ["email"], "title": "Email", "format": "text", "default": [""], "required": False},
        {"path": ["gone"], "title": "Gone", "format": "text"},
    ]
    card = pending(args=args, fields=fields).reloaded().select("b-approval")[0]
    declared, others = card.iter("dl")
    assert [(words(row[0]), words(row[1])) for row in declared] == [
        ("Lead passenger", "Ada"),
        ("Email", "Not given"),
        ("Gone", "Not given"),
    ]
    assert [words(row[0]) for row in others] == ["Lead passenger", "deep , lead_passenger"]
    assert all(row[0].find("code") is not None for row in others)
    assert "the tool declares no such argument" in words(card)


def test_very_many_arguments_are_still_all_there_and_have_to_be_opened() -> None:
    card = pending(args={f"k{n}": n for n in range(500)}).reloaded().select("b-approval")[0]
    assert '"k499": 499' in words(card)
    assert [button.get("aria-disabled") for button in answers(card)] == [None, "true"]


def test_the_exact_call_holds_names_every_argument_and_the_digest() -> None:
    args = {
        "command": "ls" + " " * 300 + "; rm",
        "n": [1, {"a": None}],
        "odd": "a\u200bb\u00a0\ue000 \U0001d173",
    }
    card = pending(args=args).reloaded().select("b-approval")[0]
    box = next(card.iter("pre"))
    text = "".join(box.itertext())
    assert text.startswith("flights.book {")
    assert '"command": "ls 300 \N{MULTIPLICATION SIGN} U+0020 ; rm"' in text
    assert r'"odd": "a\u200bb\u00a0\ue000 \ud834\udd73"' in text
    put_back = text.removeprefix("flights.book ").replace(" 300 \N{MULTIPLICATION SIGN} U+0020 ", " " * 300)
    assert json.loads(put_back) == args
    assert "9f2c41ab 00000000" in words(card)


# -- nothing hides ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("ls" + " " * 300 + "; rm -rf /", "ls 300 blanks ; rm -rf /"),
        (" ls ", "1 blank ls 1 blank"),
        ("ls\t\t\tx", "ls 3 tabs x"),
        ("a\n\n\nb", "a 3 line breaks b"),
        ("a\u00a0b", "a no-break space b"),
        ("a\u1680b", "a ogham space mark b"),
        ("a\u2000\u200ab", "a en quad hair space b"),
        ("a\u3000b", "a ideographic space b"),
        ("a\u2800b", "a Braille pattern blank b"),
        ("a\ufe0fb", "a variation selector-16 b"),
        ("a\U0001d173b", "a musical symbol begin beam b"),
        ("a\u3164\u3164b", "a 2 \N{MULTIPLICATION SIGN} Hangul filler b"),
        ("a\x1bb\x08", "a escape b backspace"),
        ("a\U000e0041b", "a tag latin capital letter a b"),
        ("p\u0430ypal.example", "p\u0430 Cyrillic small letter a ypal.example"),
        ("z" + "\u0301" * 9, "z 9 combining marks"),
    ],
)
def test_x2_blanks_are_counted_and_what_cannot_be_seen_has_a_name(value: str, told: str) -> None:
    card = pending(args={"command": value}).reloaded().select("b-approval")[0]
    shown = rows(card).get("command") or words(next(card.iter("td")))
    assert shown == told.replace("latin", "Latin")


def test_x2_both_ends_of_a_long_value_are_in_sight_and_the_rest_is_counted() -> None:
    value = "Dear team, " + "please " * 300 + "and wire 90,000 to Eve."
    card = pending(args={"message": value}).reloaded().select("b-approval")[0]
    summary = words(next(item for item in card.iter("summary") if "Exact call" not in words(item)))
    assert summary.startswith("Dear team, please")
    assert summary.endswith("and wire 90,000 to Eve.")
    assert "more characters" in summary and "blanks" in summary
    deny, approve = answers(card)
    assert (deny.get("aria-disabled"), approve.get("aria-disabled")) == (None, "true")


def test_x8_question_reason_and_why_name_what_they_hide() -> None:
    talk = pending(question="Pay\u202e Eve\u00a0now?", why="It\u200b is  fine.")
    card = talk.reloaded().select("b-approval")[0]
    assert "Pay right-to-left override Eve no-break space now?" in words(card)
    assert "It zero-width space is 2 blanks fine." in words(card)
    talk.decide("denied", reason="No\u2066 way", decidedByName="M\u200baria")
    card = talk.reloaded().select("b-approval")[0]
    assert "No left-to-right isolate way" in words(card)
    assert "Denied by M zero-width space aria" in words(card)
    assert "Pay right-to-left override Eve" in words(card)


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
    assert not answers(card)
    assert talk.pending == []


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
    assert "too dear" in words(denied)
    assert expired.get("data-state") == "expired"
    assert "No decision by 09:40" in words(expired)
    assert "policy:expiry" not in words(expired)
    for card in (denied, expired):
        assert "Nothing was run." in words(card)
        assert not answers(card)


def test_a_decision_made_elsewhere_names_who_and_where() -> None:
    talk = pending()
    talk.decide("granted", decidedByName="Jonas Weber", source="admin")
    assert "Approved by Jonas Weber in the desk" in words(talk.card())


def test_any_door_that_is_registered_says_where_and_no_other_says_chat() -> None:
    with doors.including(Door("email", "by email")):
        for name, told in (("", "Approved by email"), ("Jonas Weber", "Approved by Jonas Weber by email")):
            talk = pending()
            talk.decide("granted", decidedByName=name, source="email")
            assert told in words(talk.card())
    talk = pending()
    talk.decide("granted", decidedByName="", source="email")
    assert "Approved, 0" in words(talk.card())
    assert "in chat" not in words(talk.card())


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


@pytest.mark.parametrize("state", ["running", "succeeded", "failed", "unknown"])
def test_the_reason_of_an_approval_is_shown_as_the_field_promises(state: str) -> None:
    talk = pending(label="Booking the flight")
    talk.decide("granted", reason="The fare\u2066 still holds.", decidedByName="Maria", source="admin")
    talk.tool(state, **({"summary": "Booked."} if state == "succeeded" else {}))

    card = talk.reloaded().select("b-approval")[0]

    assert "Reason: The fare left-to-right isolate still holds." in words(card)
    # In sight, also where the card is folded.
    folds = [text for fold in card.iter("details") for text in fold.itertext()]
    assert not any("still holds" in text for text in folds)


def test_reasons_of_several_stand_with_their_names_before_and_after() -> None:
    talk = pending(deciders=["owner", "group:Managers"], needed=2)
    grant = {"approvalId": "ap", "by": "x", "name": "Ada", "role": "owner", "source": "chat", "given": 1}
    talk.row("grant", {**grant, "reason": "I need it.", "needed": 2}, turn=1)
    assert "Ada approved: I need it." in said_on(talk.reloaded().select("b-approval")[0])
    decisions = [
        {"decision": "granted", "name": "Ada", "reason": "I need it."},
        {"decision": "granted", "name": "Bo"},
    ]
    talk.decide("granted", reason="", decidedByName="Bo", source="admin", decisions=decisions)

    told = said_on(talk.reloaded().select("b-approval")[0])

    assert "Reason given by Ada: I need it." in told and told.count("Reason") == 1


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
    assert not answers(card)
    assert talk.pending == []


def test_without_a_deadline_the_card_says_so() -> None:
    assert "No time limit" in words(pending(expires=None).card())
    assert "Expires Mar 12, 10:00" in words(pending().card())


def test_a_second_attempt_is_called_one() -> None:
    assert "This is attempt 2." in words(pending(attempt=2).card())


# -- its rule ----------------------------------------------------------------------------------------------------


def said_on(card: Element) -> str:
    """Its text as it is read: names stand in elements of their own."""
    return " ".join("".join(card.itertext()).split())


def test_a_rule_of_its_own_says_who_decides_and_as_what() -> None:
    deciders = ["owner", "group:Travel <managers>", "permission:shop.refund"]
    card = pending(deciders=deciders, fourEyes=True).reloaded().select("b-approval")[0]

    assert card.get("data-deciders") == "owner member"
    told = said_on(card)
    assert (
        "the person in this conversation, a member of “Travel <managers>” or whoever has the permission"
        in told
    )
    assert "Whoever asked for it cannot." in told


@pytest.mark.parametrize("deciders", [None, ["owner", "permission:envelopes.decide_approval", "peer:desk"]])
def test_the_rule_of_every_tool_is_as_it_was(deciders: list[str] | None) -> None:
    card = pending(**({} if deciders is None else {"deciders": deciders})).reloaded().select("b-approval")[0]

    assert card.get("data-deciders") is None
    assert "Only the person in this conversation, or staff who approve, can decide." in said_on(card)


def test_it_says_how_many_have_approved_and_who_and_how_many_more_are_needed() -> None:
    talk = pending(deciders=["owner", "group:Managers"], needed=3)
    told = said_on(talk.reloaded().select("b-approval")[0])
    assert "0 of 3 approved, 3 more are needed" in told
    for given, name in enumerate(("Ada", "")):
        grant = {
            "approvalId": "ap",
            "by": name,
            "name": name,
            "role": "owner",
            "source": "chat",
            "reason": "",
        }
        talk.row("grant", {**grant, "given": given + 1, "needed": 3}, turn=1)
    card = talk.reloaded().select("b-approval")[0]

    told = said_on(card)
    assert "2 of 3 approved, 1 more is needed" in told
    assert "Ada approved" in told and "The visitor approved" in told
    assert len(card.findall(".//li[@data-state='done']")) == 2
    assert len(answers(card)) == 2
    decisions = [{"decision": "granted", "name": name} for name in ("Ada", "Bo", "Cy")]
    talk.decide("granted", decidedByName="Cy", source="admin", decisions=decisions)
    assert "Approved by Ada, Bo and Cy" in said_on(talk.reloaded().select("b-approval")[0])


def test_it_tells_the_person_in_the_conversation_that_they_have_approved_and_who_is_missing() -> None:
    talk = pending(deciders=["owner", "group:Managers"], needed=3)
    card = talk.reloaded().select("b-approval")[0]
    assert card.get("data-given") is None and card.get("data-four-eyes") is None
    grant = {"approvalId": "ap", "by": "x", "name": "Ada", "source": "chat", "reason": "", "needed": 3}
    talk.row("grant", {**grant, "role": "group:Managers", "given": 1}, turn=1)
    assert talk.reloaded().select("b-approval")[0].get("data-given") is None
    talk.row("grant", {**grant, "role": "owner", "given": 2}, turn=1)
    card = talk.reloaded().select("b-approval")[0]

    assert card.get("data-given") is not None
    assert "You approved this. 1 more person has to approve before it runs." in said_on(card)


def test_it_says_to_the_page_that_whoever_asked_may_not_decide() -> None:
    card = pending(deciders=["owner", "group:Managers"], fourEyes=True).reloaded().select("b-approval")[0]

    assert card.get("data-four-eyes") is not None


@pytest.mark.parametrize(
    ("by", "name", "said"),
    [
        ("policy:small", "Small refunds", "Approved by the rule “Small refunds”"),
        ("policy:reuse:x", "Ada", "Approved before by Ada, and taken once more"),
        ("policy:reuse:x", "", "Approved before by the visitor, and taken once more"),
    ],
)
def test_what_nobody_was_asked_about_says_by_which_rule_it_ran(by: str, name: str, said: str) -> None:
    talk = pending()
    data = {"approvalId": "ap", "decision": "granted", "decidedBy": by, "decidedAt": "2026-03-12T08:50:00Z"}
    talk.part("approval-response", data=data, decidedByName=name, source="policy")
    talk.tool("succeeded")

    assert said in said_on(talk.reloaded().select("b-approval")[0])


def test_a_question_that_is_asked_anew_takes_the_place_of_the_old_one_with_what_has_changed() -> None:
    fields = [
        {"path": ["flight"], "title": "Flight", "format": "text"},
        {"path": ["seats"], "title": "Seats"},
    ]
    was, now = {"flight": "NV 418", "seats": ["1A", "1B"]}, {"flight": "NV 77", "seats": ["1A"]}
    talk = pending(args=was, fields=fields, editable=True)
    first = talk.reloaded().select("b-approval")[0]
    talk.row("grant", {"approvalId": "ap", "name": "Ada", "needed": 2, "given": 1}, turn=1)
    talk.ask(
        "new", args=now, fields=fields, replaces="ap", version=2, was=was, editable=True, editedByName="Bo"
    )
    (card,) = talk.reloaded().select("b-approval")

    assert card.get("id") == first.get("id")
    assert [button.get("data-approval") for button in answers(card)] == ["new", "new"]
    assert "Bo changed 2 values. This is what will run." in said_on(card)
    assert [words(gone) for gone in card.iter("del")] == ["NV 418", "1A, 1B"]
    assert [words(new) for new in card.iter("ins")] == ["NV 77", "1A"]
    (edit,) = [link for link in card.iter("a") if "edit" in (link.get("class") or "")]
    assert (edit.get("href"), words(edit)) == ("/chat/s/edit/new", "Edit again")
    # Whoever decides by the old id decides nothing on this card.
    talk.decide("granted", "ap")
    assert talk.reloaded().select("b-approval")[0].get("data-state") == "pending"
