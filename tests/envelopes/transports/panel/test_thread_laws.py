"""Two laws of the thread, for any rows in any order: what operations built is what a reload draws, and a snapshot
changes nothing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envelopes.protocol.merging import STRATEGIES
from envelopes.transports.panel.presenter.thread import Thread
from tests.envelopes.transports.panel.talk import ENGINE, Page, Talk, delete, surface, update

turns = st.integers(1, 3)
words = st.sampled_from(["", "a", "Look **here**", "<b>&\"'", "x\n\n- y", "\u202eevil", "long " * 60])
names = st.sampled_from(["f", "g"])
approvals = st.sampled_from(["ap", "bp"])
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 20) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
progress = st.fixed_dictionaries(
    {"id": st.sampled_from(["p", "q", "r"])},
    optional={
        "label": words,
        "current": values,
        "total": values,
        "status": st.sampled_from(["todo", "running", "done", "failed", "skipped"]),
        "group": st.sampled_from(["", "Hotels"]),
    },
)

part = st.one_of(
    st.tuples(
        st.just("part"), turns, st.sampled_from(["ack", "thinking", "error", "clarify"]), words, st.none()
    ),
    st.tuples(st.just("part"), turns, st.just("response"), words, st.none() | st.sampled_from(["m1", "m2"])),
    st.tuples(st.just("data"), turns, st.just("progress"), progress),
    st.tuples(st.just("data"), turns, st.just("domain-data"), st.dictionaries(words, values, max_size=3)),
    st.tuples(
        st.just("gathered"),
        turns,
        st.dictionaries(st.sampled_from("ab"), st.lists(st.integers(0, 9), max_size=2) | values, max_size=2),
        st.fixed_dictionaries(
            {},
            optional={
                "slotKey": names,
                "dataKind": st.sampled_from(["k", "l"]),
                "mergeStrategy": st.sampled_from(STRATEGIES),
                "own": st.just(True),
            },
        ),
    ),
    st.tuples(st.just("shown"), turns, st.sampled_from(["", "f", "k"])),
    st.tuples(
        st.just("data"), turns, st.just("citation"), st.fixed_dictionaries({"path": words, "title": words})
    ),
    st.tuples(
        st.just("data"),
        turns,
        st.just("artifact"),
        st.fixed_dictionaries({"artifactId": names, "mimeType": words, "sizeBytes": st.integers(0, 10**9)}),
    ),
    st.tuples(
        st.just("data"), turns, st.just("a2ui-surface"), names.map(lambda n: surface(n, model={"n": 1}))
    ),
    st.tuples(
        st.just("data"),
        turns,
        st.just("a2ui-surface"),
        st.builds(update, names, st.just("/n"), st.integers()),
    ),
    st.tuples(st.just("data"), turns, st.just("a2ui-surface"), names.map(delete)),
    st.tuples(st.just("data"), turns, st.just("a2ui-surface"), st.dictionaries(words, values, max_size=2)),
)
other = st.one_of(
    st.tuples(st.just("me"), words),
    st.tuples(st.just("click"), words),
    st.tuples(
        st.just("turn"), turns, st.sampled_from(["queued", "running", "running", "suspended", "waiting"])
    ),
    st.tuples(st.just("on"), st.just(3), st.integers(1, 2)),
    st.tuples(st.just("settle"), turns, st.just("passed")),
    st.tuples(
        st.just("settle"), turns, st.sampled_from(["complete", "clarifying", "error", "cancelled", "timeout"])
    ),
    st.tuples(st.just("ask"), turns, approvals, st.dictionaries(words, values, max_size=3)),
    st.tuples(
        st.just("decide"), turns, approvals, st.sampled_from(["granted", "denied"]), st.just("expired")
    ),
    st.tuples(
        st.just("tool"), turns, approvals, st.sampled_from(["running", "succeeded", "failed", "unknown", "?"])
    ),
)
steps = st.lists(part | other, min_size=1, max_size=25)


def take(talk: Talk, step: tuple[Any, ...]) -> None:
    kind, *rest = step
    if kind == "me":
        talk.me(rest[0])
    elif kind == "click":
        talk.row("action", {"action": {}, "owner": "sally", "target": "a1", "label": rest[0]})
    elif kind == "turn":
        talk.turn(*rest)
    elif kind == "settle":
        talk.settle(*rest)
    elif kind == "ask":
        talk.ask(rest[1], turn=rest[0], args=rest[2])
    elif kind == "decide":
        talk.decide(rest[2], rest[1], turn=rest[0], reason=rest[3] if rest[2] == "denied" else None)
    elif kind == "tool":
        talk.tool(rest[2], rest[1], turn=rest[0])
    elif kind == "gathered":
        more = dict(rest[2])
        talk.part("domain-data", data=rest[1], turn=rest[0], own_card=more.pop("own", False), **more)
    elif kind == "shown":
        talk.part("a2ui-surface", data=surface("h", model={"n": 1}), turn=rest[0], dataKind=rest[1])
    elif kind == "on":
        talk.turn(rest[0], "queued", goesOn=rest[1])
    elif kind == "data":
        talk.part(rest[1], data=rest[2], turn=rest[0])
    else:
        more = {"partId": rest[3]} if rest[3] else {}
        talk.part(rest[1], rest[2], turn=rest[0], **more)


@settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.integers(0, 24))
def test_operations_build_what_a_reload_draws_and_snapshots_change_nothing(
    given_steps: list[tuple[Any, ...]], cut: int
) -> None:
    talk = Talk()
    for number, step in enumerate(given_steps):
        if number == cut:
            # Another process goes on from here, and so does a page that was loaded here.
            kept = json.loads(json.dumps(talk.thread.snapshot()))
            talk.thread = Thread.restore(talk.context, kept)
            assert talk.thread.snapshot() == kept
            talk.surfaces = ENGINE.restore(json.loads(json.dumps(talk.surfaces.snapshot())))
            talk.page = Page(talk.html())
        take(talk, step)
    talk.reloaded()
    ids = [element.get("id") for element in talk.page.root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_when_every_turn_has_settled_nothing_moves_any_more(given_steps: list[tuple[Any, ...]]) -> None:
    talk = Talk()
    for step in given_steps:
        take(talk, step)
    for number in (1, 2, 3):
        talk.settle(number)
    assert not talk.thread.busy
    for moving in ("b-typing", "b-spin", "b-caret"):
        assert not talk.page.select(moving)
    assert all(bar.get("value") is not None for bar in talk.page.root.iter("progress"))
