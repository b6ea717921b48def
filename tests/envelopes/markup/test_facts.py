"""The law of the approval card: every leaf of the arguments is in sight or announced, and says exactly what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest
from babel import Locale
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envelopes.markup.arguments import shown
from envelopes.markup.context import PageContext
from envelopes.markup.facts import MAX_ROWS, Fact, Facts, Where, facts, words_for_nothing
from envelopes.markup.writing import read, same
from envelopes.protocol.unseen import hides
from envelopes.registries.shown import Declared
from envelopes.transports.panel.presenter.approval import ApprovalView
from envelopes.transports.panel.presenter.part_view import RenderContext
from envelopes.types import Json, JsonObject
from tests.envelopes.transports.panel.talk import parse

LOCALES = {name: Locale.parse(name) for name in ("en_GB", "de", "ar")}
NAMES = ["flight", "day", "total", "currency", "email", "people", "x.y", "Not given", "a\u202eb"]
FORMATS = ["any", "text", "number", "money", "date", "time", "datetime", "yes-no", "list"]

odd = st.text(
    st.sampled_from(" \t\n\u00a0\u200b\u202e\u3164\ufe0f\u0301\u0430abc\"'<·") | st.characters(), max_size=12
)
texts = (
    odd
    | st.sampled_from(
        ["", "Not given", "empty", "2", "true", "null", "{}", '"x"', "GBP", "2027-08-15", "2027-8-5"]
    )
    | st.sampled_from(
        ["2027-08-15T11:35", "11:35", "188.50", "ls" + " " * 300 + "; rm -rf /", "word " * 150, "a\n" * 40]
    )
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=8,
)


@st.composite
def declarations(draw: st.DrawFn) -> list[JsonObject]:
    found: list[JsonObject] = []
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        made = Declared(
            (name,),
            draw(st.sampled_from(["Title", "Not given", "T\u200bitle", "Total price"])),
            draw(st.sampled_from(FORMATS)),  # type: ignore[arg-type]
            currency=draw(st.sampled_from(["", "currency", "GBP", "flight"])),
            minor=draw(st.booleans()),
            beside=draw(st.sampled_from(["", "", "flight", "day", "nowhere", name])),
            unit=draw(st.sampled_from([None, ("ticket", "tickets")])),
            words=draw(st.sampled_from([{}, {}, {"GBP": "Pounds", "2": "Two"}, {"a": "x", "b": "x"}])),
            sum=draw(st.booleans()),
            default=draw(st.none() | scalars.map(lambda value: (value,))),
            required=draw(st.booleans()),
        )
        found.append(made.dump())
        if draw(st.booleans()):
            inside = draw(
                st.sampled_from(
                    [(name, None), (name, "flight"), (name, None, "flight"), (name, None, "currency")]
                )
            )
            found.append(Declared(inside, "Inner", draw(st.sampled_from(FORMATS))).dump())  # type: ignore[arg-type]
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


RIGHT: dict[str, st.SearchStrategy[Json]] = {
    "text": texts,
    "number": st.integers(-5, 20000) | st.floats(-9, 9),
    "money": st.integers(-99, 99999) | st.decimals(-99, 9999, places=3).map(float) | st.just("188.50"),
    "date": st.dates().map(str) | st.just("2027-8-15"),
    "datetime": st.sampled_from(["2027-08-15T11:35", "2027-08-15T11:35:00Z", "2027-08-15 11:35"]),
    "time": st.sampled_from(["11:35", "25:00"]),
    "yes-no": st.booleans(),
    "list": st.lists(scalars, max_size=4),
    "any": values,
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[list[JsonObject], JsonObject]:
    """A declaration, and arguments that mostly keep to it."""
    declared = draw(declarations())
    args: JsonObject = {}
    for item in declared:
        if len(item["path"]) == 1 and draw(st.integers(0, 5)):
            right = RIGHT[item.get("format", "any")]
            args[item["path"][0]] = draw(
                right if draw(st.integers(0, 3)) else values | st.sampled_from(["", None])
            )
    if draw(st.booleans()):
        args |= {"currency": "GBP"}
    return declared, args | draw(st.dictionaries(st.sampled_from(NAMES) | odd, values, max_size=2))


def leaves(value: Json, where: Where = ()) -> Iterator[tuple[Where, Json]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*where, key))
    elif isinstance(value, list) and value:
        for at, inner in enumerate(value):
            yield from leaves(inner, (*where, at))
    else:
        yield where, value


def every(found: Facts) -> list[Fact]:
    return [fact for row in (*found.rows, *found.strange) for fact in row.facts]


def at(args: JsonObject, where: Where) -> Json:
    value: Json = args
    for step in where:
        value = value[step]
    return value


def takes_text(made: Declared | None) -> bool:
    return made is not None and made.format in ("text", "date", "time", "datetime") and not made.words


def read_alone(text: str, made: Declared | None) -> Json:
    """The value that a reader takes a text for. None of what stands for nothing may be among them."""
    assert text.strip().casefold() not in {word.casefold() for word in words_for_nothing().values()}
    if takes_text(made) and not text.startswith('"'):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


CALLS = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@CALLS
@given(calls(), st.sampled_from(list(LOCALES)))
def test_every_leaf_stands_in_a_row_and_says_what_it_is(
    call: tuple[list[JsonObject], JsonObject], name: str
) -> None:
    declared, args = call
    found, known = (
        facts(declared, args, LOCALES[name]),
        {tuple(item["path"]): Declared.load(item) for item in declared},
    )
    said: dict[Where, int] = {}
    for fact in every(found):
        for where in fact.at:
            said[where] = said.get(where, 0) + 1
        if not fact.at:
            assert fact.how == "none" or fact.default
            continue
        value = at(args, fact.at[0])
        made = known.get(tuple(None if isinstance(step, int) else step for step in fact.at[0]))
        if fact.how in ("text", "json"):
            assert same(fact.text if fact.how == "text" else json.loads(fact.text), value)
            # The same by the words alone, without how they are set.
            # (A field for text does not take a number: such a call is refused before anybody is asked.)
            if isinstance(value, str) or not takes_text(made):
                assert same(read_alone(fact.text, made), value)
        elif fact.how == "none":
            assert made is not None
            default = fact.text == words_for_nothing()["absent"]
            assert made.default == (value,) if default else value == ""
        else:
            assert made is not None
            currency = at(args, fact.at[1]) if len(fact.at) > 1 else None
            if made.format == "money" and not made.words and currency is None:
                holder = known.get((*made.path[:-1], made.currency))
                currency = (
                    args.get(made.currency)
                    if made.currency in args
                    else holder.default[0]
                    if holder is not None and holder.default
                    else made.currency
                )
            pieces = fact.text.split("\n")
            assert same(read(made, pieces, LOCALES[name], currency, text=isinstance(value, str)), value)
            if len(fact.at) > 1:
                assert fact.at[1][:-1] == fact.at[0][:-1]
    for where, _value in leaves(args) if args else ():
        assert said.get(where), where
    assert sum(fact.sum for fact in every(found)) <= 1


@pytest.mark.parametrize("text", ['"x"', '"', "Not given", " not GIVEN ", "Empty", "chosen by the tool"])
def test_a_text_that_says_what_stands_for_nothing_is_quoted(text: str) -> None:
    declared = [Declared(("to",), "To", "text").dump()]
    for found in (facts(declared, {"to": text}, LOCALES["en_GB"]), facts([], {"to": text}, LOCALES["en_GB"])):
        assert [(json.loads(fact.text), fact.how) for fact in every(found)] == [(text, "json")]


def test_a_key_that_no_field_declares_stands_apart_under_its_own_name() -> None:
    declared = [Declared(("to",), "To", "text").dump()]
    found = facts(declared, {"to": "Ada", "To": "Eve", "bcc": ["x", "y"]}, LOCALES["en_GB"])
    assert [[part.text for part in row.label] for row in found.rows] == [["To"]]
    assert [[(part.text, part.kind) for part in row.label] for row in found.strange] == [
        [("To", "key")],
        [("bcc", "key")],
    ]


DOTS = "\u00b7\u0387\u2022\u2027\u2219\u22c5\u30fb\uff65\ua78f"


@pytest.mark.parametrize("dot", DOTS)
def test_no_text_passes_for_two_values_of_one_line(dot: str) -> None:
    """A dot parts the values of a line; the card draws it."""
    text = f"bob@x.y {dot} eve@x.y"
    # One value of a list that takes any, beside another one; and alone.
    for value in ([text, "c"], text):
        found = [fact for fact in every(facts([], {"to": value}, LOCALES["en_GB"])) if dot in fact.text]
        assert [(json.loads(fact.text), fact.how) for fact in found] == [(text, "json")]
    # What stands beside another field.
    declared = [Declared(("to",), "To", "text").dump(), Declared(("cc",), "Copy", "text", beside="to").dump()]
    (row,) = facts(declared, {"to": text, "cc": "Ann"}, LOCALES["en_GB"]).rows
    assert [(fact.text, fact.how) for fact in row.facts] == [
        (json.dumps(text, ensure_ascii=False), "json"),
        ("Ann", "text"),
    ]
    # A field for one text that has its line to itself.
    (row,) = facts(declared[:1], {"to": text}, LOCALES["en_GB"]).rows
    assert [(fact.text, fact.how) for fact in row.facts] == [(text, "text")]


@pytest.mark.parametrize("letters", [("\u05d0", "\u05d1"), ("\u0627", "\u0628"), ("\u0661", "\u0662")])
def test_a_key_and_its_value_never_change_places(letters: tuple[str, str]) -> None:
    """What is written from right to left takes what stands between two texts along, unless it is isolated."""
    one, two = letters
    call = {"approvalId": "ap", "toolName": "t", "args": {"m": {one: {two: two}}}}
    card = ApprovalView("c", "sally", call, {"question": "Sure?"})
    (root,) = parse(card.html(RenderContext(PageContext("s", {}, "en-GB"), lambda owner, surface_id: "")))
    (pre,) = root.iter("pre")
    assert ["".join(bdi.itertext()) for bdi in pre.iter("bdi")] == [one, two, two]
    assert [(code.get("dir"), code.text) for code in next(root.iter("dt")).iter("code")] == [
        ("auto", "m"),
        ("auto", one),
        ("auto", two),
    ]
    whole = every(facts([], {f"{one}{number}": two for number in range(MAX_ROWS + 1)}, LOCALES["en_GB"]))
    assert whole[0].text.isascii()
    assert (
        "\u00e4"
        in every(facts([], {f"\u00e4{number}": 1 for number in range(MAX_ROWS + 1)}, LOCALES["en_GB"]))[
            0
        ].text
    )


def test_what_was_not_sent_is_shown_with_what_runs_for_it() -> None:
    declared = [
        Declared(
            ("copies",), "Copies", "number", default=(2,), required=False, unit=("copy", "copies")
        ).dump(),
        Declared(("note",), "Note", "text", default=("",), required=False).dump(),
        Declared(("id",), "Id", "text", required=False).dump(),
    ]
    found = facts(declared, {}, LOCALES["en_GB"])
    assert [(fact.text, fact.how) for fact in every(found)] == [
        ("2 copies", "written"),
        ("Not given", "none"),
        ("Chosen by the tool", "none"),
    ]


def test_more_rows_than_anybody_reads_become_one_that_has_to_be_opened() -> None:
    args = {f"k{number}": number for number in range(MAX_ROWS + 1)}
    found = facts([], args, LOCALES["en_GB"])
    (fact,) = every(found)
    assert json.loads(fact.text) == args
    assert len(shown(found, "v").folded) == 1


# -- as it is drawn ---------------------------------------------------------------------------------------------------


def written(element: ET.Element) -> str:
    """The characters that an element shows or names."""
    kind = element.get("class") or ""
    if "is-shut" in kind or "is-open" in kind:
        return ""
    inside = "".join([element.text or "", *(written(child) + (child.tail or "") for child in element)])
    if "b-ctrl--alike" in kind:
        return ""
    if "b-ctrl" in kind.split():
        codes = [chr(int(f"0x{code[2:]}", 0)) for code in (element.get("title") or "").split()]
        many = re.match(r"(\d+) \N{MULTIPLICATION SIGN} ", inside)
        return "".join(codes) * (int(many[1]) if many else 1)
    if counted := re.fullmatch(r"(\d+) (blank|tab|line break)s?", inside) if kind == "b-gap" else None:
        return {"blank": " ", "tab": "\t", "line break": "\n"}[counted[2]] * int(counted[1])
    return "\n" if kind == "b-eol" else inside


@CALLS
@given(calls())
def test_x2_every_character_is_in_sight_or_has_to_be_opened_before_approve_counts(
    drawn_from: tuple[list[JsonObject], JsonObject],
) -> None:
    declared, args = drawn_from
    found = facts(declared, args, LOCALES["en_GB"])
    call = {"approvalId": "ap", "toolName": "t", "args": args}
    card = ApprovalView("c", "sally", call, {"question": "Sure?", "fields": declared})
    context = PageContext("s", {"sally": "Sally"}, "en-GB")
    (root,) = parse(card.html(RenderContext(context, lambda owner, surface_id: "")))
    drawn = [piece for dd in root.iter("dd") for piece in dd if "is-none" not in (piece.get("class") or "")]
    told = [fact for fact in every(found) if fact.how in ("text", "json")]
    texts = [fact.text for fact in told]
    folded = 0
    for piece in drawn:
        if piece.tag == "details":
            folded += 1
            whole = piece.find("div")
            assert whole is not None and written(whole) in texts
            text = written(whole)
            head, chip, tail = list(piece[0])
            first, last = written(head), written(tail)
            assert text.startswith(first) and text.endswith(last) and last
            shut = "".join(chip[0].itertext())
            assert shut.startswith(f"{len(text) - len(first) - len(last)} more character")
    for piece in drawn:
        for words in "".join(piece.itertext()).splitlines():
            assert "  " not in words and not any(map(hides, words))
    for fact in told:
        assert fact.text in [
            written(piece) if piece.tag != "details" else written(piece[1]) for piece in drawn
        ]
    deny, approve = (button for button in root.iter("button") if button.get("data-decide"))
    assert (approve.get("aria-disabled") == "true") == bool(folded)
    assert deny.get("aria-disabled") is None
    first_ = next((p for p in root.iter("p") if p.get("id") == "cf"), None)
    assert (first_ is not None) == bool(folded)
    assert folded == (len(list(first_.iter("a"))) if first_ is not None else 0)
