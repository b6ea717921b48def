"""Hostile programs: none brings the engine down, and what is counted bounds what they can make it do."""

from __future__ import annotations

import pytest

from a2ui import Engine, InputError
from a2ui.binding.budget import EvaluationBudget
from a2ui.data.values import Copier, measure
from a2ui.functions import expressions
from a2ui.safety import markdown, regex, text
from a2ui.safety.limits import DEFAULT_LIMITS, Limits
from tests.a2ui.programs import call, components, create, data, ops, path, row, run, surface

pytestmark = pytest.mark.usefixtures("each_version")

HUGE = 10**4000


def drawn(*rows, model=None, **options):
    surfaces, only = surface(*rows, model=model, **options)
    html = only.html()
    html.encode()
    return html, {problem.facts.get("limit", problem.code) for problem in surfaces.diagnostics()}


class TestNothingBreaks:
    def test_more_tabs_than_fit_are_cut_and_say_so(self):
        tabs = [{"title": f"T{n}", "child": "c"} for n in range(50)]
        html, reported = drawn(
            row("root", "Tabs", tabs=tabs), row("c", "Text", text="x"), limits=Limits(repeats=5)
        )

        shown = html.count('role="tab"')
        assert 5 < shown < 50
        assert f"{shown} of 50 tabs shown" in html
        assert html.count('role="tabpanel"') == shown
        assert "repeats" in reported

    @pytest.mark.parametrize("value", [HUGE, -HUGE])
    def test_numbers_that_no_double_holds(self, value):
        rows = [
            row("root", "Column", children=["s", "t", "u"]),
            row("s", "Slider", min=-value, max=value, value=value),
        ]
        calls = [call("formatNumber", value=value), call("pluralize", value=value, other="others")]
        html, reported = drawn(*rows, row("t", "Text", text=calls[0]), row("u", "Text", text=calls[1]))

        assert 'min="0" max="100"' in html
        assert "others" in html
        assert reported == {"EXPRESSION_ERROR"}

    @pytest.mark.parametrize("value", [HUGE, -HUGE, float("inf"), float("nan")])
    def test_a_slider_refuses_them_from_a_browser(self, value):
        surfaces, _ = surface(row("root", "Slider", max=10, value=path("/n")), model={"n": 1})

        with pytest.raises(InputError):
            surfaces.edit("a1-0", value)

    @pytest.mark.parametrize("variant", ["shortText", "longText", "number"])
    def test_half_a_surrogate_pair_in_a_field(self, variant):
        html, _ = drawn(row("root", "TextField", label="L", variant=variant, value="a\ud800\0b"))

        assert "a\ufffd\ufffdb" in html

    def test_half_a_surrogate_pair_in_a_path(self):
        surfaces, only = surface(row("root", "Text", text=path("/a\ud800")))

        assert not surfaces.apply(data("one", "/a\ud800"))
        surfaces.patch("", "s", [{"op": "add", "path": "/b\ud800\0", "value": 1}])

        assert only.data_model == {"a\ufffd": "one", "b\ufffd\ufffd": 1}
        assert "one" in only.html()


class TestJson:
    """A list or an object where a text is expected."""

    def test_it_is_cut_with_a_mark(self):
        html, _ = drawn(
            row("root", "TextField", label="L", value=path("/o")), model={"o": [1, {"b": "x"}] * 5_000}
        )

        assert "[1,{&quot;b&quot;:&quot;x&quot;},1," in html
        assert "\u2026" in html
        assert len(html) < 4 * DEFAULT_LIMITS.json_chars

    def test_a_handle_inside_is_dots(self):
        rows = [row("root", "Column", children=["a", "b"]), row("a", "Text", text=path("/"))]
        html, _ = drawn(
            *rows,
            row("b", "Text", text=call("formatString", value="${/}")),
            model={"p": [{"$secret": "handle"}]},
        )

        assert "handle" not in html
        assert html.count("{&quot;p&quot;:[&quot;••••••&quot;]}") == 2

    def test_no_more_is_looked_at_than_fits(self):
        looked = []

        class Item(int):
            def __abs__(self):
                return self

        def items():
            for number in range(10**6):
                looked.append(number)
                yield "", number

        original = text._elements
        text._elements = lambda _: items()
        try:
            shown = text.to_text([1], 1_000)
        finally:
            text._elements = original
        assert len(shown) == 1_000
        assert len(looked) < 1_000

    def test_many_of_them_are_counted(self):
        work = EvaluationBudget(DEFAULT_LIMITS)
        value = list(range(20_000))

        texts = [work.json(value) for _ in range(2_000)]

        assert sum(map(len, texts)) < 10 * DEFAULT_LIMITS.work
        assert texts[0][:9] == "[0,1,2,3,"
        assert texts[-1] == "\u2026"
        work.begin()
        assert work.json(value) == texts[0]

    def test_every_label_of_a_list(self):
        html, reported = drawn(
            row("root", "Column", children=["a"] * 1_000),
            row("a", "Text", text=call("formatString", value="${/o} ${/o} ${/o}")),
            model={"o": list(range(20_000))},
        )

        assert len(html) < 2_500_000
        assert "work" in reported


class TestFunctions:
    @pytest.mark.parametrize(
        ("function", "arguments", "value"),
        [
            ("and", {"values": path("/v")}, [1] * 200_000),
            ("formatNumber", {"value": path("/v")}, " " * 4_000_000),
            ("formatCurrency", {"value": path("/v"), "currency": "EUR"}, " " * 4_000_000),
            ("formatDate", {"value": "2020-01-01", "format": path("/v")}, "Gw" * 128),
            ("pluralize", {"value": 1, "one": path("/v"), "other": ""}, [[1] * 20_000]),
        ],
    )
    def test_long_arguments_count_for_more(self, function, arguments, value):
        _, reported = drawn(
            row("root", "Column", children=["a"] * 1_500),
            row("a", "Text", text=call(function, **arguments)),
            model={"v": value},
        )

        assert "work" in reported

    def test_a_date_pattern_that_is_cut_ends_with_a_mark(self):
        html, _ = drawn(
            row("root", "Text", text=call("formatDate", value="2020-01-01", format="yyyy. " * 100)),
        )

        assert html.count("2020. ") == 42
        assert "\u2026</p>" in html or "\u2026</div>" in html

    def test_new_patterns_count_for_more(self, monkeypatch):
        compiled = []
        original = regex.compiled
        monkeypatch.setattr(regex, "compiled", lambda *given: compiled.append(given) or original(*given))
        regex._KEPT.clear()
        rows = [
            row(f"c{n}", "Text", text=call("regex", value="a", pattern=f"{n}" + r"\p{L}" * 100))
            for n in range(400)
        ]
        _, reported = drawn(row("root", "Column", children=[f"c{n}" for n in range(400)]), *rows)

        assert len(compiled) < 10
        assert "work" in reported

    def test_a_pattern_that_is_known_costs_its_search(self):
        paid: set[str] = set()
        assert regex.price("^[a-z]+$", "abc", DEFAULT_LIMITS, paid) > 0

        assert regex.price("^[a-z]+$", "abc", DEFAULT_LIMITS, paid) == 0
        assert regex.price("^[a-z]+$", "a" * 1_000, DEFAULT_LIMITS, paid) >= 10
        assert regex.price("(", "a", DEFAULT_LIMITS, paid) > 0

    def test_what_is_shown_does_not_depend_on_the_patterns_of_other_drawings(self):
        rows = [
            row(f"c{n}", "Text", text=call("regex", value=path("/v"), pattern=f"{n}" + "b" * 900))
            for n in range(8)
        ]
        # A template, so that places are compiled at once.
        rows.append(row("list", "List", children={"componentId": "c0", "path": "/none"}))
        surfaces, found = surface(
            row("root", "Column", children=[one["id"] for one in rows]), *rows, model={"v": "a"}
        )

        assert found.html() == found.html()
        assert {problem.facts["limit"] for problem in surfaces.diagnostics()} == {"work"}

    def test_many_patterns_pay_every_time(self):
        paid: set[str] = set()
        for n in range(100):
            regex.price(f"{n}a", "abc", DEFAULT_LIMITS, paid)

        assert regex.price("0a", "abc", DEFAULT_LIMITS, paid) > 0

    def test_texts_of_the_data_are_paid_for_before_they_are_parsed(self, monkeypatch):
        parsed = []
        original = expressions.parse_template

        def counted(text, *rest, **more):
            parsed.append(len(text))
            return original(text, *rest, **more)

        monkeypatch.setattr(expressions, "parse_template", counted)
        for tail in ("", "${"):
            parsed.clear()
            _, reported = drawn(
                row("root", "List", children={"componentId": "a", "path": "/l"}),
                row("a", "Text", text=call("formatString", value=path("t"))),
                model={"l": [{"t": f"{n}" + "${''}" * 400 + tail} for n in range(1_000)]},
            )
            assert sum(parsed) < 3 * DEFAULT_LIMITS.work
            assert "work" in reported

    def test_a_long_text_is_parsed_once_for_all_places(self, monkeypatch):
        parsed = []
        original = expressions.parse_template
        monkeypatch.setattr(
            expressions,
            "parse_template",
            lambda text, *rest, **more: parsed.append(text) or original(text, *rest, **more),
        )

        for value in ("${/n}" * 200, "${not(value:" * 80 + "${/n}" + ")}" * 80):
            parsed.clear()
            drawn(
                row("root", "Column", children=["a"] * 200),
                row("a", "Text", text=call("formatString", value=value)),
            )
            assert len(parsed) == 1


class TestMarkdown:
    def test_a_drawing_reads_so_much(self):
        work = EvaluationBudget(DEFAULT_LIMITS)
        made = [markdown.render(f"{n}" + "*a* " * 50, afford=work.markdown) for n in range(300)]

        read = [one for one in made if not one.crowded]
        assert 10 < len(read) < 200
        assert all("<em>" in one.html for one in read)
        assert all(one.cut and "<em>" not in one.html for one in made[len(read) :])
        assert made[-1].crowded

    def test_the_same_text_is_read_once(self):
        work = EvaluationBudget(DEFAULT_LIMITS)

        assert not any(markdown.render("**a**", afford=work.markdown).crowded for _ in range(10_000))

    def test_a_wide_table_is_shown_plain(self):
        table = "|a" * 60 + "\n" + "|-" * 60 + "\n" + "|b\n" * 60

        assert markdown.render(table).cut
        assert "<table>" in markdown.render("|a|b|\n|-|-|\n" + "|1|2|\n" * 100).html


class TestLists:
    def test_only_what_may_be_shown_is_remembered(self):
        rows = [row("root", "Column", children=["a"] * 1_000), row("t", "Text", text="x")]
        surfaces = run(
            create(),
            data({"l": list(range(50_000))}),
            components(*rows, row("a", "List", children={"componentId": "t", "path": "/l"})),
        )
        surfaces.flush()
        view = surfaces.get("", "s").view

        def remembered():
            slots = [place.slot for place in view.places("a") if place.slot]
            return sum(len(state.keys) for slot in slots for state in slot.states.values())

        assert remembered() <= DEFAULT_LIMITS.instances
        surfaces.apply(data(1, "/l/50000"))
        surfaces.flush()
        assert remembered() <= DEFAULT_LIMITS.instances
        assert "0 of 50,001 shown" in surfaces.get("", "s").html()

    def test_the_count_follows_what_is_not_shown(self):
        surfaces, only = surface(
            row("root", "List", children={"componentId": "t", "path": "/l"}),
            row("t", "Text", text=path("id")),
            model={"l": [{"id": f"k{n}"} for n in range(2_000)]},
        )
        surfaces.apply(data({"id": "new"}, "/l/2000"))

        assert [op[:2] for op in ops(surfaces)] == [["r", "a1-0-xm"]]
        assert "1,000 of 2,001 shown" in only.html()

    def test_redefining_thousands_of_children_counts_each_once(self):
        many = [row(f"c{n}", "Text", text="x") for n in range(3_000)]
        surfaces, only = surface(row("root", "Column", children=[one["id"] for one in many]), *many)
        looked = 0
        root = only.view.compiled()
        original = root.children

        class Counting(dict):
            def values(self):
                nonlocal looked
                looked += 1
                return super().values()

        root.children = Counting(original)
        surfaces.apply(components(*[{**one, "text": "y"} for one in many]))
        surfaces.flush()

        assert looked < 10
        assert root.size == 3_001


class TestInputs:
    def test_a_long_choice_is_not_looked_through_by_every_picker(self):
        options = [{"label": "A", "value": "a"}]
        html, reported = drawn(
            row("root", "Column", children=["p"] * 500),
            row(
                "p", "ChoicePicker", label="L", options=options, value=path("/v"), variant="multipleSelection"
            ),
            model={"v": [f"z{n}" for n in range(50_000)] + ["a"]},
        )

        assert "What is chosen is too much to be marked here." in html
        assert "work" in reported

    def test_long_fields_are_cut_where_there_are_many(self):
        html, _ = drawn(
            row("root", "Column", children=["f"] * 500),
            row("f", "TextField", label="L", variant="longText", value=path("/v")),
            model={"v": "<" * 50_000},
        )

        assert len(html) < 8_000_000
        assert "only its first 1,000 characters are here" in html

    def test_long_messages_of_checks_count_for_more_elements(self):
        checks = [{"condition": False, "message": "m" * 5_000}] * 50
        html, reported = drawn(
            row("root", "Column", children=["f"] * 500),
            row("f", "TextField", label="L", value=path("/v"), checks=checks),
        )

        assert len(html) < 8_000_000
        assert "instances" in reported


class TestMessages:
    def test_unknown_keys_are_listed_and_counted(self):
        surfaces = Engine().surfaces()
        body = {"surfaceId": "s", "catalogId": "c", **{f"k{n}": 1 for n in range(60_000)}}

        found = surfaces.apply({"version": "v0.9", "createSurface": body})

        assert len(found) <= DEFAULT_LIMITS.errors + 1
        assert found[0].refused

    def test_reserved_members_are_listed_up_to_a_number(self):
        copier = Copier(DEFAULT_LIMITS)

        assert copier.copy([{"__proto__": 1}] * 5_000) == [{}] * 5_000
        assert len(copier.dropped) == 100

    @pytest.mark.parametrize(
        "value",
        [list(range(50)), ["a"] * 50, ["é"] * 50, [True, None] * 20, [2**60] * 20, [1, "a"] * 20, [1.5] * 20],
    )
    def test_lists_of_one_type_are_copied_and_counted_like_others(self, value):
        copier = Copier(DEFAULT_LIMITS)
        copied = copier.copy(value)

        assert copied == value
        assert copied is not value
        assert (copier.nodes, copier.bytes) == measure(value)[:2]
