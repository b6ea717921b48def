"""Ines without a model, for a first look and for tests: a function of what a model would be sent. It is asked again
after each of its replies, and keeps nothing itself."""

from __future__ import annotations

import re

from envelopes import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Outcome, Reply, Say, data, text
from helpdesk.cards import WHERE

ORDER = re.compile(r"L-\d{4}")
EUROS = re.compile(r"(\d+(?:\.\d{1,2})?) euros")
MOVES = {
    "hold": ("on-hold", "Your case is on hold."),
    "that is all": ("closed", "Glad to help. I have closed your case."),
}


def script(request: ModelRequest) -> Reply:
    conversation = Conversation(request)
    words = conversation.text
    if conversation.action is not None and conversation.action["name"] == WHERE:
        return _where(conversation, str(conversation.action["context"]["number"]))
    for word, (state, done) in MOVES.items():
        if word in words.lower():
            return _move(conversation, state, done)
    number = ORDER.search(words)
    if number is None:
        return _clarify("Which order is it about? Its number begins with L.")
    if "refund" in words.lower():
        return _refund(conversation, number[0], EUROS.search(words))
    if "where" in words.lower():
        return _where(conversation, number[0])
    return _find(conversation, number[0])


def _find(conversation: Conversation, number: str) -> Reply:
    found = conversation.result("find_order")
    if found is None:
        return Reply([Call("find_order", {"number": number})])
    return _answer(_failed(found) or "Here is your order.")


def _where(conversation: Conversation, number: str) -> Reply:
    told = conversation.result("ask_carrier")
    if told is None:
        return Reply([Call("ask_carrier", {"number": number})])
    if not told.late:
        # It has begun, or could not; its result comes when it is there.
        return _answer(_failed(told)) if told.is_error else _wait("The carrier is looking for it.")
    return Reply([Say([data("helpdesk.parcel", told.content), text("response", "It comes today.")])])


def _refund(conversation: Conversation, number: str, euros: re.Match[str] | None) -> Reply:
    if euros is None:
        return _clarify("How many euros shall I refund?")
    paid = conversation.result("refund")
    if paid is None:
        args = {"number": number, "euros": euros[1], "reason": conversation.text}
        return Reply([Call("refund", args)])
    return _answer(_failed(paid) or f"{euros[1]} euros are on their way to you.")


def _move(conversation: Conversation, state: str, done: str) -> Reply:
    moved = conversation.result("respond")
    if moved is None:
        return Reply([Say([data("setState", {"case.status": state})], "awaiting")])
    if moved.content.get("refused"):
        return _answer("This case is closed, and stays so. Please begin a new conversation.")
    return _answer(done)


def _failed(outcome: Outcome) -> str:
    return str(outcome.content.get("message", "That did not work.")) if outcome.is_error else ""


def _answer(words: str) -> Reply:
    return Reply([Say([text("response", words)])])


def _clarify(words: str) -> Reply:
    return Reply([Say([text("clarify", words)], "clarifying")])


def _wait(words: str) -> Reply:
    return Reply([Say([text("ack", words)], "awaiting")])
