"""What is kept of a stream (5.2, 5.3, 10.4 rows 10 to 14), and what a receiver makes of it (5.4, 5.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envelopes.errors import ValidationFailed
from envelopes.transports.live.contracts import Channel, Receiver, StreamBuffer, cursor, policy_of
from envelopes.types import JsonObject

CHANNELS = {
    "none": Channel(),
    "latest": Channel(replay="latest"),
    "state": Channel(mode="replace", replay="latest"),
    "all": Channel(replay="all"),
    "more": Channel(replay="all"),
}


def sent(channel: str, payload: Any = None, **more: Any) -> JsonObject:
    return {"sessionId": "s", "channel": channel, "mode": "append", "payload": payload, **more}


def recorded(*channels: str, capacity: int = 256) -> StreamBuffer:
    buffer = StreamBuffer(capacity)
    for number, channel in enumerate(channels, start=1):
        assert buffer.record(sent(channel, number), CHANNELS)["seq"] == number
    return buffer


A3 = ("all",) * 3
A5 = ("all",) * 5

REPLAYS: list[tuple[str, StreamBuffer, int | None, list[int], bool]] = [
    ("11: a ring of three, five recorded", recorded(*A5, capacity=3), 0, [3, 4, 5], True),
    ("12: a ring of two from 0", recorded(*A3, capacity=2), 0, [2, 3], True),
    ("12: a ring of two from 2", recorded(*A3, capacity=2), 2, [3], False),
    ("from the one that went", recorded(*A3, capacity=2), 1, [2, 3], False),
    ("10: none uses numbers up and keeps nothing", recorded("none", "none"), 0, [], False),
    ("10: the latest only", recorded("latest", "latest", "latest"), 0, [3], False),
    ("the latest, seen already", recorded("latest"), 1, [], False),
    (
        "13: mixed, in order",
        recorded("all", "latest", "none", "all", "all", "latest"),
        0,
        [1, 4, 5, 6],
        False,
    ),
    ("one of each channel", recorded("latest", "state", "latest", "state"), 0, [3, 4], False),
    (
        "a fresh subscription",
        recorded("all", "latest", "_ggui:preview", "_ggui:lifecycle"),
        None,
        [3, 4],
        False,
    ),
    ("a fresh one is not told of what it never asked for", recorded(*A5, capacity=3), None, [], False),
    ("the server's own are all kept", recorded("_ggui:lifecycle", "_ggui:lifecycle"), 1, [2], False),
    ("but no typos", recorded("_ggui:preveiw", "all"), 0, [2], False),
    ("above the cursor", recorded("all"), 99, [], False),
    ("one channel's ring is another's", recorded("all", "more", "more", capacity=2), 0, [2, 3], True),
    ("the latest is never evicted", recorded("latest", *A5, capacity=2), 0, [1, 5, 6], True),
]


@pytest.mark.parametrize(
    ("buffer", "from_seq", "expected", "truncated"), [r[1:] for r in REPLAYS], ids=[r[0] for r in REPLAYS]
)
def test_a_replay(buffer: StreamBuffer, from_seq: int | None, expected: list[int], truncated: bool) -> None:
    stored = StreamBuffer.of(json.loads(json.dumps(buffer.as_json())), buffer.capacity)

    for one in (buffer, stored):
        found = one.replay(from_seq, CHANNELS)
        assert [envelope["seq"] for envelope in found.envelopes] == expected
        assert [envelope["payload"] for envelope in found.envelopes] == expected
        assert found.truncated is truncated


def test_up_to_where_the_snapshot_was_taken() -> None:
    found = recorded(*A5).replay(1, CHANNELS, until=3)

    assert [envelope["seq"] for envelope in found.envelopes] == [2, 3]


def test_the_contract_of_now_says_what_is_replayed() -> None:
    buffer = recorded("all", "latest", capacity=1)
    buffer.record(sent("all"), CHANNELS)

    assert buffer.replay(0, None).envelopes == ()
    assert buffer.replay(0, {}).truncated is False
    assert buffer.replay(0, {"all": Channel()}).envelopes == ()
    assert [e["seq"] for e in buffer.replay(0, {"latest": Channel(replay="latest")}).envelopes] == [2]
    assert buffer.replay(0, {"latest": Channel(replay="latest")}).truncated is False


def test_streams_count_for_themselves_and_again_from_one_after_a_clear() -> None:
    one, other = recorded(*A3), recorded("all")
    assert (one.seq, other.seq) == (3, 1)

    one.clear()
    one.clear()

    assert one.replay(0, CHANNELS).envelopes == () and one.replay(0, CHANNELS).truncated is False
    assert one.record(sent("all"), CHANNELS)["seq"] == 1


@pytest.mark.parametrize("capacity", [0, -1, True])
def test_a_ring_has_room(capacity: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        StreamBuffer(capacity)


def test_a_smaller_ring_lets_the_oldest_go() -> None:
    smaller = StreamBuffer.of(recorded(*A5).as_json(), 2)

    assert [envelope["seq"] for envelope in smaller.replay(0, CHANNELS).envelopes] == [4, 5]
    assert smaller.replay(0, CHANNELS).truncated is True
    assert smaller.record(sent("all"), CHANNELS)["seq"] == 6


def test_policies() -> None:
    named = {
        name: policy_of(name, CHANNELS)
        for name in ("none", "latest", "all", "gone", "_ggui:preview", "_ggui:x")
    }

    assert named == {
        "none": "none",
        "latest": "latest",
        "all": "all",
        "gone": "none",
        "_ggui:preview": "all",
        "_ggui:x": "none",
    }


@pytest.mark.parametrize("value", [True, False, -1, 1.0, "1", None, [], 1.5])
def test_a_cursor_is_a_whole_number(value: Any) -> None:
    with pytest.raises(ValidationFailed, match="fromSeq is a whole number"):
        cursor(value)
    assert cursor(0) == 0 and cursor(7) == 7


# ---- the receiver


def test_appending_and_replacing() -> None:
    receiver = Receiver()
    for number, mode in enumerate(["append", "append", "replace", "append"], start=1):
        assert receiver.take({**sent("log", number), "mode": mode, "seq": number})

    log = receiver.channels["log"]
    assert (list(log.all), log.latest, log.complete) == ([3, 4], 4, False)


def test_what_comes_twice_is_dropped_and_what_has_no_number_is_taken() -> None:
    receiver = Receiver()
    assert receiver.take({**sent("log", "a"), "seq": 1})
    assert receiver.take({**sent("log", "b"), "seq": 3})
    assert not receiver.take({**sent("log", "a"), "seq": 1})
    assert not receiver.take({**sent("log", "x"), "seq": 2})
    assert receiver.take(sent("log", "delta")) and receiver.take(sent("log", "delta"))

    assert list(receiver.channels["log"].all) == ["a", "b", "delta", "delta"]
    assert receiver.resume == 3


def test_a_fresh_subscription_takes_what_is_replayed_below_the_ack() -> None:
    receiver = Receiver()
    receiver.acknowledged(9)

    assert receiver.take({**sent("_ggui:lifecycle", "early"), "seq": 2})
    assert receiver.resume == 9


def test_who_comes_back_drops_what_it_had() -> None:
    receiver = Receiver(from_seq=4)
    receiver.acknowledged(6)

    assert [receiver.take({**sent("log"), "seq": seq}) for seq in (4, 5, 6)] == [False, True, True]
    assert receiver.resume == 6


def test_completion_comes_with_its_payload_and_stays() -> None:
    receiver = Receiver()
    receiver.take({**sent("log", "end", complete=True), "seq": 1})
    assert receiver.channels["log"].complete and receiver.channels["log"].latest == "end"

    receiver.take({**sent("log", "late"), "seq": 2})
    assert receiver.channels["log"].complete and list(receiver.channels["log"].all) == ["end", "late"]


def test_the_servers_own_channels_keep_their_last_256() -> None:
    receiver = Receiver()
    for seq in range(1, 301):
        receiver.take({**sent("_ggui:lifecycle", seq), "seq": seq})
        receiver.take(sent("log", seq))

    assert list(receiver.channels["_ggui:lifecycle"].all) == list(range(45, 301))
    assert len(receiver.channels["log"].all) == 300


def test_a_receiver_that_loses_what_it_likes_has_each_delivery_once_and_in_order() -> None:
    buffer, receiver = StreamBuffer(), Receiver()

    def comes_back() -> None:
        for envelope in buffer.replay(receiver.resume, CHANNELS).envelopes:
            receiver.take(envelope)
            receiver.take(envelope)

    lost = False
    for number in range(1, 60):
        live = buffer.record(sent("all", number), CHANNELS)
        lost = lost or number % 5 == 0
        if not lost:
            assert receiver.take(live)
        elif number % 7 == 0:
            comes_back()
            lost = False
    comes_back()

    assert list(receiver.channels["all"].all) == list(range(1, 60))
