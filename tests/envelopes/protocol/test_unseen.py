"""Nothing hides in a text: every character without a shape of its own is found, and nothing is lost on the way."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envelopes.protocol.unseen import Mark, glimpse, hides, is_plain, marks, name_of, taken_apart

# Default_Ignorable_Code_Point of DerivedCoreProperties.txt, which Python does not carry.
IGNORABLE = (
    "00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFF8 "
    "1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)
BLANK_GLYPHS = "\u2800\U00016fe4\U0001d159\U00013441\U00013442"
TEXTS = st.text(
    st.characters()
    | st.sampled_from(" \t\n\u00a0\u200b\u202e\ufe0f\u3164\u0301\u0430\u03bfa")
    | st.just(" "),
    max_size=60,
)


def kinds(text: str) -> list[tuple[str, int]]:
    return [(mark.kind, mark.length) for mark in marks(text)]


def test_x2_every_blank_but_the_space_and_every_invisible_character_is_found() -> None:
    missed = []
    for group in IGNORABLE.split():
        first, _, last = group.partition("-")
        codes = range(int(first, 16), int(last or first, 16) + 1)
        missed += [hex(code) for code in codes if not hides(chr(code))]
    # Of every category without a shape, on the planes where there is anything but private use.
    without = ("Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn")
    for code in (
        *range(0x14000),
        *range(0x16F00, 0x17000),
        *range(0x1BC00, 0x1F000),
        *range(0xE0000, 0xE0200),
    ):
        if unicodedata.category(chr(code)) in without and chr(code) not in " \t\n" and not hides(chr(code)):
            missed.append(hex(code))
    assert missed == []
    assert all(map(hides, BLANK_GLYPHS))
    # What has a shape, or takes part in one, is left alone.
    assert not any(map(hides, "aé§€漢字ह🤷क्षאب\u093e\u0bcd\u0e34\ua8f9"))


@settings(max_examples=75, deadline=None)
@given(TEXTS)
def test_the_marks_of_a_text_are_the_text(text: str) -> None:
    found = marks(text)
    assert "".join(mark.text for mark in found) == text
    assert all(mark.length for mark in found)
    for mark in found:
        if mark.kind == "text":
            assert not any(hides(character) for character in mark.text)
            assert "  " not in mark.text and "\n" not in mark.text and "\t" not in mark.text
        if mark.kind == "hidden":
            assert len(set(mark.text)) == 1


def test_what_is_taken_for_plain_without_a_look_is_plain() -> None:
    plain = [character for number in range(0x30000) if is_plain(character := chr(number))]
    assert set("aéßł\u2013“€") < set(plain) and not {"\u00a0", "\u00ad", "\u0301", "\u0430"} & set(plain)
    for character in plain:
        for text in (character, f"a{character}b", f"{character} é", f"é {character}{character}"):
            assert is_plain(text) and taken_apart(text) == [Mark("text", text)], text


@settings(max_examples=200)
@given(st.text(st.sampled_from("ab éß\u2013“ \t\n\u00a0\u200b\u0301\u0430"), min_size=1, max_size=8))
def test_no_text_is_called_plain_that_holds_a_mark(text: str) -> None:
    assert not is_plain(text) or taken_apart(text) == [Mark("text", text)]


@settings(max_examples=75, deadline=None)
@given(TEXTS, st.integers(1, 40), st.integers(0, 40), st.integers(1, 4))
def test_a_glimpse_counts_all_that_it_leaves_out(text: str, head: int, tail: int, lines: int) -> None:
    seen = glimpse(marks(text), 0, head, tail, lines)
    if not text:
        assert seen is None
        return
    assert seen is not None
    first, last = ("".join(mark.text for mark in end) for end in (seen.head, seen.tail))
    assert text.startswith(first) and text.endswith(last)
    assert len(first) + seen.characters + len(last) == len(text)
    middle = text[len(first) : len(text) - len(last)]
    assert seen.blanks == sum(middle.count(blank) for blank in " \t\n")


def test_a_glimpse_breaks_no_word_that_is_not_long() -> None:
    words = "Łukasz Kraków wheelchair beach flight family night airport breakfast refund"
    for head in range(16, 40):
        for tail in range(10, 20):
            seen = glimpse(marks(words), 0, head, tail, 1)
            assert seen is not None
            first, last = ("".join(mark.text for mark in end) for end in (seen.head, seen.tail))
            assert set(first.split()) | set(last.split()) <= set(words.split()), (head, tail)
            assert head - 16 <= len(first) <= head and len(last) <= tail
    # Of what has no blanks as much as there is room for.
    seen = glimpse(marks("x" * 100), 0, 30, 15, 1)
    assert seen is not None and (len(seen.head[0].text), len(seen.tail[0].text), seen.characters) == (
        30,
        15,
        55,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls" + " " * 300 + "; rm", [("text", 2), ("blanks", 300), ("text", 4)]),
        ("a b", [("text", 3)]),
        (" a ", [("blanks", 1), ("text", 1), ("blanks", 1)]),
        ("a \nb", [("text", 1), ("blanks", 1), ("lines", 1), ("text", 1)]),
        ("a\t\tb", [("text", 1), ("tabs", 2), ("text", 1)]),
        ("e\u0301", [("text", 2)]),
        ("z\u0301\u0302\u0303\u0304", [("text", 1), ("marks", 4)]),
        ("\u0301x", [("marks", 1), ("text", 1)]),
        ("p\u0430ypal", [("text", 1), ("alike", 1), ("text", 4)]),
        ("Москва", [("text", 6)]),
        ("Tシャツ", [("text", 4)]),
    ],
)
def test_what_is_marked_and_what_is_not(text: str, expected: list[tuple[str, int]]) -> None:
    assert kinds(text) == expected


def test_characters_have_names_that_can_be_read() -> None:
    assert name_of("\u200b") == "zero-width space"
    assert name_of("\u202e") == "right-to-left override"
    assert name_of("\x1b") == "escape"
    assert name_of("\x08") == "backspace"
    assert name_of("\x9b") == "control U+009B"
    assert name_of("\u2800") == "Braille pattern blank"
    assert name_of("\ue000") == "private use U+E000"
    assert name_of("\ud800") == "lone surrogate U+D800"
