"""The text of a respond() call while it is written: never wrong, never early, and all of it in the end."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import jiter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envelopes.errors import RespondRefused
from envelopes.protocol.respond import check_respond
from envelopes.protocol.text import clean_text
from envelopes.registries.part_types import part_types
from envelopes.runtime.respond_stream import RespondStream, TextGrown

AWKWARD: dict[str, Any] = {
    "parts": [
        {
            "metadata": {"partType": "ack", "partId": "p\u00e9"},
            "text": 'K\u00f8benhavn \U0001f600 "q" \\u0000 \\ / \n\t',
        },
        {
            "metadata": {"partType": "response"},
            "text": "half \ud83d emoji, nul \x00, bell \x07, \udc00\ud83d, end \ufffe",
        },
        {"text": "text before its type", "metadata": {"partType": "thinking"}},
        {"partType": "clarify", "text": "flat"},
        {"data": {"parts": [{"text": "not me"}], "text": "nor me"}, "metadata": {"partType": "domain-data"}},
        {"metadata": {"partType": "reasoning-trace"}, "text": "secret"},
        {"metadata": {"partType": "llm-context", "n": -12.5e3}, "text": "internal"},
        {"metadata": {"partType": "response", "extra": {"text": "deeper"}}, "text": ""},
    ],
    "turnState": "complete",
    "note": "text of the note",
}


def feed(fragments: Iterable[str]) -> tuple[dict[int, str], list[TextGrown]]:
    """The text of each part as told, and all growths; offsets must fit."""
    stream = RespondStream()
    told: dict[int, str] = defaultdict(str)
    growths: list[TextGrown] = []
    for fragment in fragments:
        for grown in stream.feed(fragment):
            assert grown.text, "a growth is never empty"
            assert grown.offset == len(told[grown.part])
            told[grown.part] += grown.text
            growths.append(grown)
    return told, growths


def streamable(value: Any) -> dict[int, str]:
    """What should be told of a whole call: the cleaned text of each part whose text streams."""
    found = {}
    for number, part in enumerate(value["parts"]):
        metadata = part.get("metadata") or {"partType": part.get("partType")}
        kind = part_types.get(metadata["partType"])
        if kind and kind.streams_text and part.get("text"):
            found[number] = clean_text(part["text"])
    return found


@pytest.mark.parametrize("ascii_only", [True, False])
def test_every_split_position(ascii_only: bool) -> None:
    raw = json.dumps(AWKWARD, ensure_ascii=ascii_only)

    for cut in range(len(raw) + 1):
        told, _ = feed([raw[:cut], raw[cut:]])
        assert told == streamable(AWKWARD)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_every_prefix_tells_a_prefix(ascii_only: bool) -> None:
    raw = json.dumps(AWKWARD, ensure_ascii=ascii_only)
    final = streamable(AWKWARD)

    stream = RespondStream()
    told: dict[int, str] = defaultdict(str)
    for char in raw:
        for grown in stream.feed(char):
            told[grown.part] += grown.text
            assert final[grown.part].startswith(told[grown.part])
            assert grown.text.encode(), "never half a character"
    assert told == final
    assert stream.close(raw) == AWKWARD


def test_what_is_told_of_a_part() -> None:
    _, growths = feed([json.dumps(AWKWARD)])

    assert [(g.part, g.part_type, g.part_id) for g in growths] == [
        (0, "ack", "p\u00e9"),
        (1, "response", None),
        (2, "thinking", None),
        (3, "clarify", None),
    ]


part_texts = st.text(st.characters(codec=None) | st.sampled_from('\x00\x1b\ud83d\ude00\\"u\n')) | st.just(
    "x" * 50
)
parts = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {
                "partType": st.sampled_from(
                    ["ack", "response", "error", "thinking", "progress", "no-such", "approval-request"]
                )
            },
            optional={"partId": st.none() | st.text(max_size=140), "dataKind": st.text(max_size=3)},
        )
    },
    optional={
        "text": part_texts | st.integers(),
        "data": st.dictionaries(st.text(max_size=3), part_texts, max_size=2),
    },
).flatmap(lambda part: st.permutations(list(part.items())).map(dict))


@settings(deadline=None)
@given(st.lists(parts, min_size=1, max_size=4), st.booleans(), st.data())
def test_what_is_told_is_what_becomes_valid(found: list[Any], ascii_only: bool, data: st.DataObject) -> None:
    raw = json.dumps({"parts": found, "turnState": "complete"}, ensure_ascii=ascii_only)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))

    told, _ = feed(raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True))

    try:
        call = check_respond(RespondStream().close(raw))
    except RespondRefused:
        return
    final = {
        number: part.text
        for number, part in enumerate(call.parts)
        if part.text and part_types[part.part_type].streams_text
    }
    assert told == final


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8") | st.sampled_from('\x00\x1b\\"u\n')), st.booleans())
def test_it_tells_what_jiter_sees(text: str, ascii_only: bool) -> None:
    """An oracle that is not ours: jiter's partial parse, fed with every prefix."""
    value = {"parts": [{"metadata": {"partType": "ack"}, "text": text}], "turnState": "complete"}
    raw = json.dumps(value, ensure_ascii=ascii_only)

    stream, told = RespondStream(), ""
    for end in range(1, len(raw) + 1):
        told += "".join(grown.text for grown in stream.feed(raw[end - 1]))
        seen = jiter.from_json(raw[:end].encode(), partial_mode="trailing-strings")
        parts_seen = seen.get("parts") or [{}]
        assert told == clean_text(parts_seen[0].get("text", ""))


def test_text_waits_for_the_end_of_metadata() -> None:
    stream = RespondStream()

    assert stream.feed('{"parts":[{"text":"early","metadata":{"partType":"ack"') == []
    assert stream.feed("}") == [TextGrown(0, "ack", None, 0, "early")]


def test_a_type_that_is_only_a_beginning_releases_nothing() -> None:
    """`ack` might still become `ack-internal`."""
    stream = RespondStream()

    assert stream.feed('{"parts":[{"text":"early","partType":"ack') == []
    assert stream.feed('-internal","x":1}]}') == []


def test_a_second_type_stops_the_part() -> None:
    told, growths = feed(
        ['{"parts":[{"metadata":{"partType":"ack"},"text":"shown ', 'on","partType":"response"', ',"x":1}]}']
    )

    assert told == {0: "shown "}
    assert {g.part_type for g in growths} == {"ack"}
    assert feed(['{"parts":[{"partType":"ack","metadata":{"partType":"ack"},"text":"no"}]}'])[0] == {}


@pytest.mark.parametrize(
    "metadata",
    [
        '{"partType":7}',
        '{"partType":null}',
        '{"partType":["ack"]}',
        '{"partType":"ack","partId":7}',
        '{"partType":"ack","partId":{}}',
        '{"partType":"ack","partId":"' + "x" * 129 + '"}',
        '{"partType":"ack "}',
        '{"partType":"ACK"}',
        '{"partType":"ack\\u0000"}',
        '{"partType":"response","partType":"ack"}',
        "{}",
        "[]",
        '"ack"',
        "null",
    ],
)
def test_metadata_that_cannot_be_valid_tells_nothing(metadata: str) -> None:
    assert feed([f'{{"parts":[{{"metadata":{metadata},"text":"no"}}],"turnState":"complete"}}'])[0] == {}


@pytest.mark.parametrize("part_id", ["null", '""', '"p1"', '"\\u00e9\\u0000"'])
def test_part_ids(part_id: str) -> None:
    raw = f'{{"parts":[{{"metadata":{{"partId":{part_id},"partType":"ack"}},"text":"yes"}}],"turnState":"complete"}}'

    _, growths = feed(raw)

    assert {g.part_id for g in growths} == {check_respond(json.loads(raw)).parts[0].metadata.partId}


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "null",
        "[]",
        '"parts"',
        "12",
        '{"parts":"text"}',
        '{"parts":{"0":{"metadata":{"partType":"ack"},"text":"no"}}}',
        '{"parts":[[{"metadata":{"partType":"ack"},"text":"no"}]]}',
        '{"part":[{"metadata":{"partType":"ack"},"text":"no"}]}',
        '[{"parts":[{"metadata":{"partType":"ack"},"text":"no"}]}]',
        '{"parts":[{"metadata":{"partType":"ack"},"text":["no"]}]}',
        '{"parts":[{"metadata":{"partType":"ack"},"text":{"text":"no"}}]}',
        '{"parts":[{"metadata":{"partType":"ack","text":"no"}}]}',
        '{"parts":[{"metadata":{"partType":"ack"},"Text":"no"}]}',
    ],
)
def test_text_elsewhere_is_nothing(raw: str) -> None:
    assert feed(raw)[0] == {}


def test_malformed_json_stops_it_quietly() -> None:
    begin = '{"parts":[{"metadata":{"partType":"ack"},"text":"told'

    assert feed([begin, '" oops', ',"text":"more"}]}'])[0] == {0: "told"}
    assert feed([begin, "\n more"])[0] == {0: "told"}
    assert feed([begin, '"}],"parts":[{"metadata":{"partType":"ack"},"text":"again"}]}'])[0] == {0: "told"}
    assert feed([begin, '"}]} {', "more"])[0] == {0: "told"}


def test_a_character_cut_in_two_by_the_transport() -> None:
    raw = '{"parts":[{"metadata":{"partType":"ack"},"text":"\ud83d\ude00"}],"turnState":"complete"}'
    cut = raw.index("\ude00")

    told, growths = feed([raw[:cut], raw[cut:]])

    assert told == {0: "\U0001f600"}
    assert len(growths) == 1
    assert RespondStream().close(raw)["parts"][0]["text"] == "\U0001f600"


def test_beyond_the_limit_nothing_is_told() -> None:
    stream = RespondStream(limit=55)
    begin = '{"parts":[{"metadata":{"partType":"ack"},"text":"12345'

    assert stream.feed(begin) != []
    assert stream.feed("678901") == []
    with pytest.raises(RespondRefused) as caught:
        stream.close(begin + "678901")
    assert caught.value.facts == {"path": "", "reason": "too_large", "limit": 55}


@pytest.mark.parametrize(
    ("raw", "reason", "path"),
    [
        ('{"parts":[{"metadata":{"partType":"ack"},"text":"Hal', "truncated", "/parts/0/text"),
        ('{"parts":[{"metadata":{"partType":"ack"}]}', "malformed", "/parts/0/metadata"),
        ('{"parts":[],"parts":[]}', "duplicate_key", "/parts"),
        ('{"parts":[{"data":{"x":NaN}}]}', "not_a_number", "/parts/0/data/x"),
        ('{"parts":' + "[" * 70, "too_deep", "/parts" + "/0" * 65),
        ("", "truncated", ""),
    ],
)
def test_close_says_what_is_wrong(raw: str, reason: str, path: str) -> None:
    with pytest.raises(RespondRefused) as caught:
        RespondStream().close(raw)

    assert caught.value.code == "VALIDATION_FAILED"
    assert (caught.value.facts["reason"], caught.value.facts["path"]) == (reason, path)
    assert caught.value.message.endswith(".")
