from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2ui.data import pointer
from a2ui.data.pointer import ABSENT
from a2ui.errors import PointerError
from a2ui.safety.text import clean_string
from tests.a2ui.strategies import JSON, TOKENS


class TestParse:
    @pytest.mark.parametrize(
        ("path", "tokens"),
        [
            ("", ()),
            ("/", ()),
            ("//", ()),
            ("/a", ("a",)),
            ("a", ("a",)),
            ("/a/", ("a",)),
            ("/a//b", ("a", "b")),
            ("a/b/0", ("a", "b", "0")),
            ("/a~1b/c~0d", ("a/b", "c~d")),
            ("/a~01b", ("a~1b",)),
            ("/toString/prototype_name", ("toString", "prototype_name")),
            ("/ /%20", (" ", "%20")),
        ],
    )
    def test_reads_leniently(self, path, tokens):
        assert pointer.parse(path) == tokens

    @pytest.mark.parametrize(
        "path", ["/a~2", "/a~", "~", "/x/__proto__", "constructor/a", "/prototype", "/" + "a~" * 200]
    )
    def test_refuses(self, path):
        with pytest.raises(PointerError) as caught:
            pointer.parse(path)

        assert caught.value.code == "VALIDATION_FAILED"
        assert caught.value.path == path

    def test_a_long_path_is_read_like_a_short_one(self):
        assert pointer.parse("/a" * 300) == ("a",) * 300
        assert pointer.parse_rfc6901("/a" * 300) == ("a",) * 300


class TestParseScoped:
    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("/a", (("a",), True)),
            ("a", (("a",), False)),
            ("", ((), False)),
            (".", ((), False)),
            ("/", ((), True)),
            ("./x", ((".", "x"), False)),
            ("../x", (("..", "x"), False)),
        ],
    )
    def test_tells_root_from_scope(self, path, expected):
        assert pointer.parse_scoped(path) == expected


class TestParseRfc6901:
    @pytest.mark.parametrize(
        ("path", "tokens"),
        [("", ()), ("/", ("",)), ("/a/", ("a", "")), ("//", ("", "")), ("/~01", ("~1",)), ("/~1", ("/",))],
    )
    def test_keeps_empty_tokens(self, path, tokens):
        assert pointer.parse_rfc6901(path) == tokens

    @pytest.mark.parametrize("path", ["a", "#/a", "/~", "/~2", "/a~"])
    def test_refuses(self, path):
        with pytest.raises(PointerError):
            pointer.parse_rfc6901(path)

    @given(st.lists(st.text()))
    def test_is_the_inverse_of_format(self, tokens):
        assert pointer.parse_rfc6901(pointer.format(tokens)) == tuple(map(clean_string, tokens))

    @pytest.mark.parametrize("parse", [pointer.parse, pointer.parse_rfc6901])
    def test_names_are_those_that_a_model_can_have(self, parse):
        assert parse("/a\0/\ud800b") == ("a\ufffd", "\ufffdb")


class TestIsIndex:
    @pytest.mark.parametrize("token", ["0", "1", "10", "9" * 50])
    def test_accepts(self, token):
        assert pointer.is_index(token)

    @pytest.mark.parametrize(
        "token",
        ["", "00", "01", "-1", "+1", " 1", "1 ", "1_0", "1.0", "1e0", "-", "\u0661", "\uff11", "\u00b2"],
    )
    def test_refuses(self, token):
        assert not pointer.is_index(token)


class TestRead:
    MODEL = {"a": {"b": [10, None, {"c": False}]}, "": 1, "0": "zero", "s": "text"}

    @pytest.mark.parametrize(
        ("tokens", "value"),
        [
            ((), MODEL),
            (("a", "b", "0"), 10),
            (("a", "b", "1"), None),
            (("a", "b", "2", "c"), False),
            (("",), 1),
            (("0",), "zero"),
        ],
    )
    def test_finds(self, tokens, value):
        assert pointer.read(self.MODEL, tokens) == value

    @pytest.mark.parametrize(
        "tokens",
        [
            ("x",),
            ("a", "b", "3"),
            ("a", "b", "-"),
            ("a", "b", "01"),
            ("a", "b", "9" * 5000),
            ("s", "0"),
            ("a", "b", "1", "x"),
        ],
    )
    def test_is_absent(self, tokens):
        assert pointer.read(self.MODEL, tokens) is ABSENT

    def test_absent_is_falsy_and_readable(self):
        assert not ABSENT
        assert repr(ABSENT) == "ABSENT"

    @given(JSON, TOKENS)
    def test_never_raises(self, value, tokens):
        pointer.read(value, tokens)
