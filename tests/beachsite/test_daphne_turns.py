"""What ours changes about daphne's sockets, without a server: who takes turns, and what waits for an application."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from envelopes.serving.daphne_backpressure import Inbox
from envelopes.serving.daphne_sockets import Protocol, Turns


def test_so_many_are_under_way_and_the_others_follow_in_order() -> None:
    turns, begun = Turns(2), list[str]()
    for name in "abcd":
        turns.ask(partial(begun.append, name))
    assert begun == ["a", "b"]
    turns.done()
    assert begun == ["a", "b", "c"]
    turns.done()
    turns.done()
    turns.done()
    assert begun == ["a", "b", "c", "d"]
    turns.ask(partial(begun.append, "e"))
    turns.ask(partial(begun.append, "f"))
    turns.ask(partial(begun.append, "g"))
    assert begun[4:] == ["e", "f"]


def test_who_is_done_at_once_lets_the_next_one_begin() -> None:
    turns, begun = Turns(1), list[int]()

    def begin(number: int) -> None:
        begun.append(number)
        turns.done()

    for number in range(3):
        turns.ask(partial(begin, number))
    assert begun == [0, 1, 2]


def test_a_thousand_that_went_away_while_they_waited_let_the_next_one_begin() -> None:
    turns, begun = Turns(1), list[str]()
    turns.ask(partial(begun.append, "first"))
    for _ in range(1_000):
        turns.ask(turns.done)
    turns.ask(partial(begun.append, "last"))
    turns.done()
    assert begun == ["first", "last"]


def test_one_that_raises_as_it_begins_keeps_nobody_from_beginning_later() -> None:
    turns, begun = Turns(2), list[str]()
    with pytest.raises(ZeroDivisionError):
        turns.ask(lambda: 1 / 0)
    turns.ask(partial(begun.append, "next"))
    assert begun == ["next"]


def test_the_options_of_a_connection_are_its_class_s() -> None:
    from envelopes.serving.daphne_sockets import Factory

    factory = Factory(None)
    factory.setProtocolOptions(autoPingTimeout=7)
    assert issubclass(factory.protocol, Protocol)
    assert factory.protocol.autoPingTimeout == 7
    assert factory.protocol.maxMessagePayloadSize == factory.maxMessagePayloadSize > 0
    assert not factory.protocol.failByDrop
    # A function among them is called as the factory's is: a browser that offers compression hung in its handshake.
    assert factory.protocol().perMessageCompressionAccept is factory.perMessageCompressionAccept


async def test_messages_come_in_the_order_in_which_they_were_put() -> None:
    inbox = Inbox()
    inbox.put_nowait(1)
    inbox.put_nowait(2)
    assert [await inbox.get(), await inbox.get()] == [1, 2]
    waiting = asyncio.ensure_future(inbox.get())
    await asyncio.sleep(0)
    inbox.put_nowait(3)
    inbox.put_nowait(4)
    assert await waiting == 3
    assert await inbox.get() == 4


async def test_a_message_is_not_lost_with_whoever_stopped_waiting_for_it() -> None:
    inbox = Inbox()
    waiting = asyncio.ensure_future(inbox.get())
    await asyncio.sleep(0)
    inbox.put_nowait(1)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert await inbox.get() == 1
