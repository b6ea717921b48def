"""What a page may ask for, and what is said to what is none of it."""

from __future__ import annotations

import json

import pytest

from a2ui import A2uiError, LimitError
from a2ui.gallery import access, replay
from a2ui.gallery.request import (
    DOINGS,
    JOURNAL_BYTES,
    MESSAGES,
    PROGRAM_BYTES,
    Refused,
    journal,
    new_doing,
    read,
    requested,
)
from beachsite.suite import ROOT


def test_nothing_asked_is_the_last_step_of_nothing():
    found = requested({})

    assert (found.step, found.journal, found.locale, found.strict) == (MESSAGES, (), "en-US", False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("locale", "xx"),
        ("locale", "en-US" * 1000),
        ("timezone", "../../etc/passwd"),
        ("timezone", "Mars/Base"),
        ("version", "v9"),
        ("width", "1"),
        ("theme", '"><script>'),
        ("step", "-1"),
        ("step", "1e3"),
        ("step", "²"),
        ("step", "9" * 5000),
        ("journal", "{}"),
        ("journal", "[1]"),
        ("journal", "[" * 100_000),
        ("journal", '[{"at": 1, "type": "drop", "target": "a1"}]'),
        ("journal", '[{"at": true, "type": "edit", "target": "a1"}]'),
        ("journal", '[{"at": 1, "type": "edit", "target": "a1", "more": 1}]'),
        ("journal", '[{"at": 1, "type": "edit", "target": "a1", "ms": 1e300}]'),
        ("journal", '[{"at": 1, "type": "edit", "target": "a1", "value": NaN}]'),
    ],
)
def test_what_no_page_of_ours_would_send_is_refused(name, value):
    with pytest.raises(A2uiError):
        requested({name: value})


def test_a_journal_has_limits():
    row = {"at": 1, "type": "edit", "target": "a1", "value": "x"}
    with pytest.raises(LimitError):
        journal(json.dumps([row] * (DOINGS + 1)))
    with pytest.raises(LimitError):
        journal(json.dumps([row | {"value": "x" * JOURNAL_BYTES}]))


NOTHING = ["", "5", "null", "[]", '{"type": "edit"}', '{"type": "edit", "target": 5}', "{", "[" * 9999]


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_nothing_that_can_be_done(text):
    with pytest.raises(A2uiError):
        new_doing(text, at=1, ms=1)


def test_when_something_was_done_is_what_the_server_says():
    doing = new_doing('{"type": "edit", "target": "a1", "at": 400, "ms": 1}', at=2, ms=77)

    assert (doing.at, doing.ms) == (2, 77)


@pytest.mark.parametrize(
    "text", ['[{"a": 1}, {"a": 2}]', '{"a": 1}\n{"a": 2}\n', '{"messages": [{"a": 1}, {"a": 2}]}']
)
def test_a_program_may_be_written_in_several_ways(text):
    assert read(text) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("text", "line"),
    [('[\n  {"a": 1},\n  {"a" 2}\n]', 3), ('{"a": 1}\n{"b": 2}\n{"c" 3}', 3), ("nonsense", 1)],
)
def test_what_is_no_json_says_where(text, line):
    with pytest.raises(A2uiError) as caught:
        read(text)

    assert caught.value.code == "INVALID_JSON"
    assert caught.value.facts["line"] == line


def test_a_program_has_limits():
    with pytest.raises(LimitError, match="bytes"):
        read('"' + "é" * PROGRAM_BYTES + '"')
    with pytest.raises(LimitError, match="messages"):
        read(json.dumps([1] * (MESSAGES + 1)))
    with pytest.raises(A2uiError):
        read("[" * 100_000 + "]" * 100_000)
    with pytest.raises(Refused, match="no program"):
        read(" \n")


def test_every_limit_is_documented():
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8").split("## Of the gallery")[1]
    allowed = [line.split(" | ")[1] for line in text.splitlines() if line.startswith("| ")][2:]
    limits = (
        PROGRAM_BYTES,
        MESSAGES,
        DOINGS,
        JOURNAL_BYTES,
        replay.SECONDS,
        replay.HTML_CHARS,
        access.REQUESTS,
        access.WAITING,
    )

    assert allowed == [f"{limit:,.0f}" for limit in limits]
    assert f"in {access.SECONDS} seconds" in text


@pytest.mark.parametrize(("target", "version"), [("1.0", "1.0"), ("0.9.1", "v0.9.1")])
def test_the_program_can_be_shown_in_another_version(target, version):
    program = [
        {"version": "v0.9", "deleteSurface": {"surfaceId": "s"}},
        {"version": "v1.0", "deleteSurface": {"surfaceId": "s"}},
        {"beginRendering": {"surfaceId": "s", "root": 5}},
        {"version": "v7"},
        5,
    ]

    found = requested({"program": json.dumps(program), "version": target}).converted()

    done = {"version": version, "deleteSurface": {"surfaceId": "s"}}
    assert found.messages == [done, done, *program[2:]]
    assert [note.message for note in found.notes if note.kind == "kept"] == [2, 3, 4]


def test_a_program_as_it_is_written_has_nothing_to_tell():
    found = requested({"program": '[{"version": "v7"}]'}).converted()

    assert (found.messages, found.notes) == ([{"version": "v7"}], [])


def test_the_limit_holds_for_the_messages_of_another_version_too():
    new = {
        "version": "1.0",
        "createSurface": {"surfaceId": "s", "dataModel": {}, "components": [{"id": "root"}]},
    }

    with pytest.raises(LimitError, match=f"{3 * MESSAGES} messages|1,500 messages"):
        requested({"program": json.dumps([new] * MESSAGES), "version": "0.9.1"}).converted()
