"""Lists that are longer than the limit: cut with a notice, and shown further on request."""

from __future__ import annotations

import json
from random import Random

import pytest

from a2ui import A2uiError, ActionError, Engine, EngineOptions, InputError, Limits
from tests.a2ui import chaos
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import components, create, data, path, row, run

pytestmark = pytest.mark.usefixtures("each_version")

LIMITS = Limits(list_items=3)
ROWS = [
    row("root", "List", children={"componentId": "c", "path": "/l"}),
    row("c", "Column", children=["f", "b"]),
    row("f", "TextField", label="L", value=path("n")),
    row("b", "Button", child="t", action={"event": {"name": "go"}}),
    row("t", "Text", text=path("n")),
]
FIELD, BUTTON = "a1-2-n", "a1-3-n"


def items(count, start=0):
    return [{"id": number, "n": f"v{number}"} for number in range(start, start + count)]


class Shown:
    """A set, and a page that follows it."""

    def __init__(self, *messages, limits=LIMITS):
        self.limits = limits
        self.surfaces = run(*messages, limits=limits)
        self.page = Page()
        self.sync()

    def sync(self):
        changes = self.surfaces.flush()
        self.page.apply_changes(changes)
        assert self.page.markup == shown(self.surfaces)
        assert shown(self.again()) == self.page.markup
        return [op for change in changes for op in change.ops]

    def again(self):
        return Engine(EngineOptions(limits=self.limits)).restore(
            json.loads(json.dumps(self.surfaces.snapshot()))
        )

    def more(self, target="a1-0"):
        more = self.surfaces.more(target)
        self.surfaces.apply_more(more)
        return more.count, self.sync()

    def words(self, target="a1-0"):
        return " ".join(self.page.find(f"{target}-xm").itertext())


@pytest.fixture
def long():
    return Shown(create(), components(*ROWS), data({"l": items(8)}))


def test_the_first_ones_and_how_many_there_are(long):
    assert long.words() == "3 of 8 shown Show 3 more"
    assert long.page.markup.count('data-in="text"') == 3
    (problem,) = long.surfaces.diagnostics()
    assert (problem.code, problem.facts["limit"], problem.facts["got"]) == (
        "budget_exceeded",
        "list_items",
        8,
    )
    assert "send fewer" in problem.message


def test_page_by_page_until_all_are_shown(long):
    count, ops = long.more()
    assert count == 6
    assert [op[:2] for op in ops] == [["i", "a1-1-n2"], ["r", "a1-0-xm"]]
    assert long.words() == "6 of 8 shown Show 2 more"

    long.more()
    assert long.words() == "All 8 shown"
    with pytest.raises(ActionError, match="no more to show") as caught:
        long.surfaces.more("a1-0")
    assert caught.value.code == "not_found"


def test_what_is_asked_for_is_not_applied(long):
    long.surfaces.more("a1-0")

    assert long.sync() == []


def test_what_was_asked_for_stays_asked_for(long):
    long.more()

    long.surfaces.apply(data(items(5), "/l"))
    long.sync()
    assert long.words() == "All 5 shown"
    long.surfaces.apply(data(items(2), "/l"))
    long.sync()
    assert "a2-more" not in long.page.markup
    long.surfaces.apply(data(items(9), "/l"))
    long.sync()
    assert long.words() == "6 of 9 shown Show 3 more"


def test_whether_items_have_an_identity_is_judged_by_all_that_were_asked_for(long):
    """Also where the list had no more than its first page meanwhile: the first three have one here, all four have not,
    so what stands at each place is another item now."""
    long.more()
    long.surfaces.apply(data([*items(2), {"n": "without"}], "/l"))
    long.sync()

    long.surfaces.patch("", "s", [{"op": "add", "path": "/l/0", "value": {"id": 7, "n": "v7"}}])
    long.sync()

    assert [field.get("value") for field in long.page.root.iter("input")] == ["v7", "v0", "v1", "without"]


def test_nothing_is_kept_of_items_that_are_called_otherwise_once_more_were_asked_for():
    """The first three have an identity, all four have not: so the first one, which held nothing, is called by its
    place, and by its id once more when the last is gone."""
    rows = [
        row("root", "List", children={"componentId": "l", "path": "/l"}),
        row("l", "List", children={"componentId": "t", "path": "kids"}),
        row("t", "Text", text=path("n")),
    ]
    listed = [{"id": number, "kids": []} for number in range(3)]
    nested = Shown(create(), components(*rows), data({"l": [*listed, {"kids": []}]}))
    nested.more()

    nested.surfaces.apply(data([{"id": 0, "kids": items(2)}], "/l"))
    nested.sync()

    assert [number in nested.page.markup for number in ("v0", "v1", "v2")] == [True, True, False]


def test_a_restored_set_goes_on(long):
    restored = long.again()

    for surfaces in (restored, long.surfaces):
        surfaces.apply_more(surfaces.more("a1-0"))

    assert [change.ops for change in restored.flush()] == [change.ops for change in long.surfaces.flush()]
    assert restored.snapshot() == long.surfaces.snapshot()


@pytest.mark.parametrize("target", ["", "a1", "a1-1-n0", "a1-0-xb", "a1-9", "a9-0", None, 5, "x" * 9000])
def test_there_is_no_more_of_anything_else(long, target):
    with pytest.raises(ActionError):
        long.surfaces.more(target)


def test_a_list_inside_an_item_has_its_own_count():
    rows = [
        row("root", "Column", children={"componentId": "l", "path": "/l"}),
        row("l", "List", children={"componentId": "t", "path": "kids"}),
        row("t", "Text", text=path("n")),
    ]
    two = Shown(create(), components(*rows), data({"l": [{"id": n, "kids": items(5)} for n in range(2)]}))

    two.more("a1-1-n1")

    assert two.words("a1-1-n0") == "3 of 5 shown Show 2 more"
    assert two.words("a1-1-n1") == "All 5 shown"


def test_a_list_that_is_gone_by_then(long):
    more = long.surfaces.more("a1-0")
    long.surfaces.apply(components(row("root", "Text", text="x")))
    long.sync()

    long.surfaces.apply_more(more)

    assert long.sync() == []


def test_what_changes_before_more_is_shown_is_followed_in_all_of_it(long):
    long.surfaces.apply(data({"l": items(8), "t": "a"}))
    long.surfaces.apply(components(row("t", "Text", text=path("/t"))))
    long.sync()
    long.surfaces.apply_more(long.surfaces.more("a1-0"))

    long.surfaces.apply(data({"l": items(8, start=-3), "t": "b"}))

    long.sync()
    assert long.words() == "6 of 8 shown Show 2 more"


def test_the_surface_has_no_room_for_more():
    full = Shown(
        create(), components(*ROWS), data({"l": items(9)}), limits=Limits(list_items=3, instances=24)
    )
    assert full.words() == "3 of 9 shown Show 1 more"

    full.more()

    assert full.words() == "4 of 9 shown"
    assert any(problem.facts.get("limit") == "instances" for problem in full.surfaces.diagnostics())
    with pytest.raises(ActionError):
        full.surfaces.more("a1-0")


def test_no_button_inside_a_button():
    rows = [
        row("root", "Button", child="r", action={"event": {"name": "go"}}),
        row("r", "Row", children={"componentId": "t", "path": "/l"}),
        row("t", "Text", text=path("n")),
    ]
    inside = Shown(create(), components(*rows), data({"l": items(9)}))

    assert inside.words("a1-1") == "3 of 9 shown"
    with pytest.raises(ActionError):
        inside.surfaces.more("a1-1")


# ---- what is not shown cannot be used


@pytest.mark.parametrize("number", [3, 7])
def test_left_out_items_cannot_be_used_until_they_are_shown(long, number):
    with pytest.raises(InputError) as caught:
        long.surfaces.edit(f"{FIELD}{number}", "x")
    assert caught.value.code == "not_found"
    with pytest.raises(ActionError) as refused:
        long.surfaces.act(f"{BUTTON}{number}")
    assert refused.value.code == "not_found"

    long.more()
    long.more()
    assert long.surfaces.edit(f"{FIELD}{number}", "x").ops
    assert long.surfaces.act(f"{BUTTON}{number}").name == "go"


def test_what_a_button_cannot_hold_cannot_be_used():
    rows = [
        row("root", "Button", child="c", action={"event": {"name": "go"}}),
        row("c", "Column", children=["f", "b"]),
        row("f", "TextField", label="L", value=path("/v")),
        row("b", "Button", child="t", action={"event": {"name": "inner"}}),
        row("t", "Text", text="x"),
    ]
    inside = Shown(create(), components(*rows), data({"v": ""}))
    assert "Not shown" in inside.page.markup

    with pytest.raises(InputError):
        inside.surfaces.edit("a1-2", "x")
    with pytest.raises(ActionError):
        inside.surfaces.act("a1-3")


def test_what_is_too_deep_or_too_much_cannot_be_used():
    chain = [row("root", "Card", child="k0")]
    chain += [row(f"k{n}", "Card", child=f"k{n + 1}") for n in range(5)]
    chain.append(row("k5", "TextField", label="L", value=path("/v")))
    deep = Shown(create(), components(*chain), data({"v": ""}), limits=Limits(depth=4))

    for number in range(1, 7):
        with pytest.raises(InputError):
            deep.surfaces.edit(f"a1-{number}", "x")


# ---- a law


@pytest.mark.parametrize("seed", range(15))
def test_pages_follow_whatever_happens(seed):
    random = Random(seed)
    followed = Shown(create(), limits=Limits(list_items=2))
    for message in chaos.start(random):
        followed.surfaces.apply(message)
    followed.sync()
    for _ in range(25):
        if random.random() < 0.3:
            named = [e.get("data-more") for e in followed.page.root.iter() if e.get("data-more")]
            if named:
                followed.more(random.choice(named))
            continue
        step = chaos.step(random)
        try:
            if isinstance(step, list):
                followed.surfaces.patch("", "s", step)
            else:
                followed.surfaces.apply(step)
        except A2uiError:
            pass
        followed.sync()


# ---- other cuts


def test_a_long_text_in_an_attribute_is_cut_with_a_mark_and_a_report():
    rows = [
        row("root", "Column", children=["a", "b"]),
        row("a", "CheckBox", label="x" * 30, value=path("/c")),
        row("b", "CheckBox", label=path("/t"), value=path("/c")),
    ]
    cut = Shown(create(), components(*rows), data({"t": "y" * 30}), limits=Limits(text_chars=20))

    for letter in "xy":
        assert letter * 19 + "\u2026" in cut.page.markup
        assert letter * 20 not in cut.page.markup
    assert {problem.facts["limit"] for problem in cut.surfaces.diagnostics()} == {"text_chars"}


def test_a_field_says_that_it_does_not_hold_all_of_its_value():
    rows = [row("root", "TextField", label="L", value=path("/t"))]
    cut = Shown(create(), components(*rows), data({"t": "y" * 30}), limits=Limits(text_chars=20))

    assert "only its first 20 characters are here" in cut.page.markup


def test_a_picker_says_how_many_options_it_leaves_out():
    options = [{"label": str(n), "value": str(n)} for n in range(9)]
    rows = [row("root", "ChoicePicker", label="L", options=options, value=path("/v"))]
    cut = Shown(create(), components(*rows), limits=Limits(options=4))

    assert "4 of 9 shown" in cut.page.markup
    with pytest.raises(InputError):
        cut.surfaces.edit("a1-0", ["7"])


def much(rows, model=None, **limits):
    cut = Shown(create(), components(*rows), data(model or {}), limits=Limits(**limits))
    assert {problem.code for problem in cut.surfaces.diagnostics()} == {"budget_exceeded"}
    return cut.page.markup


def test_components_used_again_and_again():
    rows = [row("root", "Column", children=["a"] * 500), row("a", "Text", text="x")]

    markup = much(rows, repeats=20)

    assert "too many repeated elements" in markup
    assert markup.count('class="a2-t"') == 21
    assert markup.count("<div") < 60


def test_shared_children_that_double():
    rows = [row("root", "Column", children=["d0", "d0"])]
    rows += [row(f"d{n}", "Column", children=[f"d{n + 1}"] * 2) for n in range(30)]

    assert len(much([*rows, row("d30", "Text", text="x")], repeats=50)) < 30_000


def test_one_long_text_in_many_places():
    rows = [row("root", "Column", children=["a"] * 500), row("a", "Text", text="x " * 40_000)]

    assert len(much(rows)) < 6_000_000


def test_one_long_text_of_the_data_in_many_places():
    rows = [row("root", "Column", children=["a"] * 500), row("a", "Text", text=path("/t"))]

    markup = much(rows, {"t": "x " * 4_000}, html_chars=100_000)

    assert "too much text here" in markup
    assert len(markup) < 800_000


def test_one_picker_with_many_options_in_many_places():
    options = [{"label": str(n), "value": str(n)} for n in range(1000)]
    picker = row("p", "ChoicePicker", label="L", options=options, value=path("/v"))

    markup = much([row("root", "Column", children=["p"] * 500), picker], surface_chars=200_000)

    assert len(markup) < 250_000


def test_too_many_entries_refuse_the_message():
    surfaces = Engine(EngineOptions(limits=Limits(entries=100))).surfaces()
    surfaces.apply(create())

    (problem,) = surfaces.apply(components(row("root", "Column", children=["a"] * 101)))

    assert problem.refused
    assert (problem.facts["limit"], problem.facts["allowed"], problem.facts["got"]) == ("entries", 100, 101)


def test_only_what_makes_elements_counts_as_entries():
    surfaces = Engine(EngineOptions(limits=Limits(entries=100))).surfaces()
    surfaces.apply(create())
    chosen = row("a", "ChoicePicker", options=[{"label": "x", "value": "x"}], value=["x"] * 101)

    # However the message is read: an id that is there twice takes the longer way.
    assert surfaces.apply(components(chosen)) == []
    assert [problem.refused for problem in surfaces.apply(components(chosen, chosen))] == [False]
    (_, problem) = surfaces.apply(components(chosen, chosen, row("b", "Row", children=["c"] * 101)))
    assert (problem.refused, problem.facts["got"]) == (True, 102)


def test_text_with_too_much_formatting_is_shown_without():
    markup = much([row("root", "Text", text="[" * 2000)])

    assert "too much formatting" in markup
    assert "[" * 2000 in markup
