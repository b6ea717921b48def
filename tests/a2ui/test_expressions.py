from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2ui.data.pointer import ABSENT, read
from a2ui.errors import ExpressionError
from a2ui.functions.expressions import Call, Literal, Path, PlainText, Template, evaluate, parse_template
from tests.a2ui.strategies import TEXTS


def parts(text):
    return parse_template(text).parts


def value_of(text, model=None, functions=None):
    return evaluate(
        parse_template(text),
        lambda path: read(model or {}, path.tokens),
        lambda name, args: (functions or {})[name](**args),
    )


class TestGrammar:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a \\\\${x}", (PlainText("a \\${x}"),)),
            ("5$ {x} $5 \\n", (PlainText("5$ {x} $5 \\n"),)),
            ("${}", (Literal(""),)),
            ("${  }", (Literal(""),)),
            ("${null}", (Literal(None),)),
            ("${-5}", (Literal(-5),)),
            ("${+5}", (Literal(5),)),
            ("${.5}", (Literal(0.5),)),
            ("${1.}", (Literal(1),)),
            ("${1e3}", (Literal(1000),)),
            ("${.}", (Path((), False),)),
            ("${/}", (Path((), True),)),
            ("${-a}", (Path(("-a",), False),)),
            ("${имя/ключ}", (Path(("имя", "ключ"), False),)),
            ("${नाम}", (Path(("नाम",), False),)),
            ("${null_x}", (Path(("null_x",), False),)),
            ("${f (a:1 b:2,)}", (Call("f", (("a", Literal(1)), ("b", Literal(2)))),)),
            ("${f(a:1,a:2)}", (Call("f", (("a", Literal(2)),)),)),
            ("${f(a: ${/x})}", (Call("f", (("a", Path(("x",), True)),)),)),
            ("${f(a: '}')}", (Call("f", (("a", Literal("}")),)),)),
            ("${'\\q\\\\\"'}", (Literal('q\\"'),)),
            ('${"it\'s"}', (Literal("it's"),)),
        ],
    )
    def test_accepts(self, text, expected):
        assert parts(text) == expected

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("${", "Unclosed interpolation"),
            ("${a", "Unclosed interpolation"),
            ("${${a}", "Unclosed interpolation"),
            ("${'a", "Unclosed string"),
            ("${a b}", "Unexpected characters"),
            ("${true-x}", "Unexpected characters"),
            ("${true/x}", "Unexpected characters"),
            ("${0/name}", "Unexpected characters"),
            ("${a~b}", "Unexpected characters"),
            ("${a[0]}", "Unexpected characters"),
            ("${a:b}", "Unexpected characters"),
            ("${*}", "Unexpected characters"),
            ("${f(1)}", "Expected ':' after argument name"),
            ("${upper(${now()})}", "Expected ':' after argument name"),
            ("${a/b(x:1)}", "Unexpected characters"),
            ("${f(,)}", "Expected"),
            ("${1..2}", "Invalid number literal"),
            ("${1e999}", "Invalid number literal"),
            ("${/a/__proto__}", "reserved name"),
            ("${f(a: )}", "Unexpected characters"),
        ],
    )
    def test_refuses(self, text, message):
        with pytest.raises(ExpressionError, match=message) as caught:
            parse_template("ok ${x} " + text)

        assert caught.value.code == "EXPRESSION_ERROR"

    def test_constant_templates_know_their_text(self):
        assert parse_template("a \\${b} ${1} ${'c'}").constant == "a ${b} 1 c"
        assert parse_template("") == Template((), "")
        assert parse_template("${a}").constant is None

    def test_equal_texts_share_a_template(self):
        assert parse_template("x ${a}") is parse_template("x ${a}")

    @given(st.text(st.sampled_from("${}()'\"\\ab1/.,: -+_~null")))
    def test_any_text_parses_or_is_an_expression_error(self, text):
        with contextlib.suppress(ExpressionError):
            assert isinstance(parse_template(text), Template)

    @given(st.text())
    def test_text_survives_when_its_markers_are_escaped(self, text):
        found = parse_template(text.replace("${", "\\${"))

        assert found.constant == text


class TestLimits:
    @pytest.mark.parametrize(
        "text",
        [
            "${" * 2000 + "/a" + "}" * 2000,
            "${" + "f(a:" * 200 + "1" + ")" * 200 + "}",
            "x" * 10_001,
            "${a}" * 1001,
            "${f(" + "".join(f"a{n}:1 " for n in range(1001)) + ")}",
        ],
        ids=["interpolations", "calls", "characters", "parts", "arguments"],
    )
    def test_beyond_is_refused(self, text):
        with pytest.raises(ExpressionError) as caught:
            parse_template(text)

        assert caught.value.code == "budget_exceeded"

    def test_up_to_the_limit_is_fine(self):
        assert parts("${" * 100 + "/a" + "}" * 100) == (Path(("a",), True),)


class TestEvaluate:
    def test_converts_and_joins(self):
        model = {"a": 5, "n": None, "t": True, "w": 2.0, "o": {"b": 1}, "s": "${/a}"}

        assert value_of("<${/a}|${/n}|${/x}|${/t}|${/w}|${/o}|${/s}>", model) == '<5|||true|2|{"b":1}|${/a}>'

    def test_calls_get_resolved_arguments(self):
        assert value_of("${add(a: /x, b: add(a: 1, b: 1))}", {"x": 2}, {"add": lambda a, b: a + b}) == "4"

    def test_absent_arguments_are_none(self):
        seen = {}
        value_of("${f(a: /nope, b: ${null})}", {}, {"f": lambda **args: seen.update(args)})

        assert seen == {"a": None, "b": None}

    def test_absent_reads_are_empty(self):
        assert evaluate(parse_template("[${a}]"), lambda path: ABSENT, lambda name, args: None) == "[]"

    @given(TEXTS, TEXTS)
    def test_data_is_never_parsed_again(self, before, data):
        text = before.replace("$", "").replace("\\", "")
        assert value_of(text + "${/s}", {"s": "${" + data}) == text + "${" + data
