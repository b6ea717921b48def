"""Components and functions of an application whose code fails: one notice each, and everything else goes on."""

from __future__ import annotations

import json
import logging
from random import Random

import pytest

from a2ui import ActionError, Engine, EngineOptions, InputError, Limits
from a2ui.catalog.actions import action
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.catalog.kinds import child, children, text
from a2ui.components import BaseComponent, BaseInput
from a2ui.functions.registry import Function
from a2ui.ops import text as text_op
from a2ui.rendering.build import always
from a2ui.safety.text import escape, to_text
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import call, components, create, data, path, row
from tests.a2ui.strategies import FUZZ
from tests.fuzz.graph import described

OWN = "https://beach.example/catalogs/touchy.json"
NOTICE = "This part could not be shown."
SECRET = "the value 4711"
ERRORS = [ValueError, KeyError, RecursionError, AssertionError, StopIteration, UnicodeError, ExceptionGroup]


def fail(kind=ValueError):
    raise ExceptionGroup(SECRET, [ValueError(SECRET)]) if kind is ExceptionGroup else kind(SECRET)


class Touchy(BaseComponent):
    """Fails where `TROUBLE` says so, and where its text is "bad"."""

    name = "Touchy"
    properties = {"title": text, "child": child, "children": children}
    slots = ("child", "children")
    trouble = ""
    error = ValueError

    def check(self, stage):
        if Touchy.trouble == stage:
            fail(Touchy.error)

    def accept(self, raw, where):
        self.check("accept")
        return (
            {"title": 1, "children": [3]}
            if Touchy.trouble == "accepts rubbish"
            else super().accept(raw, where)
        )

    def references(self, props):
        self.check("references")
        return super().references(props)

    def takes_focus(self, props):
        self.check("takes_focus")
        return False

    def piece(self, props):
        self.check("piece")
        return ""

    def enclosed(self, instance):
        self.check("enclosed")
        return {}

    def build(self, build):
        inner = build.child("child")
        listed = build.items("children", build.place.placement)
        title = always(build.html("title"))
        self.check("build")

        def render(scope, context):
            below = inner.render(scope, context) if inner else ""
            self.check("render")
            if Touchy.trouble == "rubbish":
                return 5
            if Touchy.trouble == "long":
                return f'<div id="{build.id}{context}">{"x" * 5_000_000}</div>'
            items = listed[1](scope, context) if listed else ""
            if title(scope) == "bad":
                fail()
            if listed:
                return f'<div id="{build.id}{context}" title="{title(scope)}">{items}</div>'
            return f'<div id="{build.id}{context}"><b>{title(scope)}</b>{below}</div>'

        build.done(render)


class Memory(BaseComponent):
    """Remembers what it shows, and has a part of its own."""

    name = "Memory"
    properties = {"title": text, "note": text}

    def build(self, build):
        title = build.getter("title")
        recorder = build.new_recorder()
        note = build.plain(build.props.get("note"), recorder)

        def render(scope, context):
            if title(scope) == "bad":
                fail()
            shown = escape(to_text(title(scope)))
            below = f'<u id="{build.id}{context}-n">{escape(note(scope))}</u>'
            return f'<p id="{build.id}{context}"><i>{shown}</i>{below}</p>'

        def emit(scope, context):
            if note(scope) == "bad":
                fail()
            if note(scope) == "rubbish":
                return 7
            return text_op(f"{build.id}{context}-n", note(scope))

        build.remember(render)
        build.part(emit)(recorder)


class Drawn(Touchy):
    """Also drawn at once."""

    name = "Drawn"
    draws = True

    def draw(self, drawing, component, placement):
        self.check("draw")
        if Touchy.trouble == "draws rubbish":
            return None
        title = drawing.escaped(component, component.props.get("title"))
        return f'<div id="{drawing.id(component)}"><b>{title}</b></div>'


class Picky(BaseInput):
    """An input whose values are looked at by code that fails."""

    name = "Picky"
    properties = {"value": text}
    input_kind = "text"

    def build(self, build):
        build.done(lambda scope, context: f'<input id="{build.id}{context}" data-in="text">')

    def entered(self, value, instance):
        if value == "set":
            return {1}
        if value == "self":
            raise InputError("Not this.")
        return fail()


class Remarkable:
    def __str__(self):
        return fail()


def broken(args, env):
    wanted = args.get("value")
    if wanted == "odd":
        return Remarkable()
    if wanted == "deep":
        return [{"x": Remarkable()}]
    if wanted == "long":
        return "y" * 5_000_000
    if wanted == "memory":
        raise MemoryError
    return fail() if wanted == "bad" else f"fine {wanted}"


def dear(args, limits, paid):
    return fail() if args.get("value") == "dear" else 0


def prepared(name, fixed, env):
    if fixed.get("how") == "never":
        fail()
    return (lambda value: broken({"value": value}, env)) if fixed.get("how") else None


CATALOG = BASIC_CATALOG.extended(
    OWN,
    components=[Touchy(), Memory(), Drawn(), Picky()],
    functions=BASIC_CATALOG.functions.extend(
        Function("broken", broken, price=dear),
        Function("quick", broken, prepare=prepared),
        Function("act", broken, effect=True),
    ),
)

ROWS = (
    row("root", "Column", children=["before", "own", "after"]),
    row("before", "Text", text=path("/before")),
    row("own", "Touchy", title=path("/title"), child="inner"),
    row("inner", "Text", text=path("/inner")),
    row("after", "TextField", label="After", value=path("/after")),
)
MODEL = {
    "before": "B",
    "title": "T",
    "inner": "I",
    "after": "A",
    "items": [{"id": n, "t": f"t{n}"} for n in range(3)],
}


@pytest.fixture(autouse=True)
def calm():
    yield
    Touchy.trouble, Touchy.error = "", ValueError


class Twin:
    """A conversation: its live surfaces, a page that follows them, and everything that was said, for replay."""

    def __init__(self, *rows, model=MODEL, limits=None):
        self.engine = Engine(
            EngineOptions(catalogs=(BASIC_CATALOG, CATALOG), **({"limits": limits} if limits else {}))
        )
        self.surfaces, self.page, self.said, self.problems = self.engine.surfaces(), Page(), [], []
        self.say(create(catalogId=OWN), data(model), components(*(rows or ROWS)))

    def say(self, *messages):
        self.said += messages
        for one in messages:
            told = self.surfaces.apply(one)
            assert not [problem for problem in told if problem.refused], told
            self.problems += told
        self.follow()

    def follow(self):
        self.page.apply_changes(self.surfaces.flush())
        self.problems += self.surfaces.diagnostics()
        self.same()

    def same(self):
        """Live, drawn anew, from a snapshot and replayed: one text."""
        replayed = self.engine.surfaces()
        for one in self.said:
            replayed.apply(one)
        whole = [surface.html() for surface in self.surfaces]
        kept = self.engine.restore(json.loads(json.dumps(self.surfaces.snapshot())))
        resting = [surface.html() for surface in kept]
        assert whole == resting == [surface.html() for surface in replayed]
        assert self.page.markup == shown(self.surfaces)
        assert SECRET not in self.page.markup

    @property
    def html(self):
        return self.page.markup

    @property
    def failures(self):
        return [one for one in self.problems if one.code == "COMPONENT_FAILED"]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("stage", ["accept", "references", "build", "render", "rubbish", "accepts rubbish"])
def test_one_notice_and_the_rest_goes_on(stage, error):
    Touchy.trouble, Touchy.error = stage, error
    twin = Twin()

    assert twin.html.count(NOTICE) == 1
    assert ">B<" in twin.html
    assert 'value="A"' in twin.html
    twin.say(data("B2", "/before"), data("I2", "/inner"))
    assert ">B2<" in twin.html
    (told,) = twin.failures
    assert told.facts["component"] == "own"
    assert told.facts["catalog"] == OWN
    raised, _, line = told.facts["raised"].partition(" at ")
    assert raised == {"rubbish": "NotHtml", "accepts rubbish": "TypeError"}.get(stage, error.__name__)
    assert line.startswith("a2ui." if "rubbish" in stage else f"{__name__}:")
    assert SECRET not in str(told)
    assert "raised" not in told.as_message()["error"]


@pytest.mark.parametrize("stage", ["accept", "references", "build", "render"])
def test_a_definition_that_can_be_drawn_takes_its_place(stage):
    Touchy.trouble = stage
    twin = Twin()
    Touchy.trouble = ""
    twin.problems.clear()
    twin.said = [*twin.said]
    told = components(row("own", "Touchy", title="now", child="inner"))
    twin.surfaces.apply(told)
    twin.page.apply_changes(twin.surfaces.flush())
    assert NOTICE not in twin.html
    assert "<b>now</b>" in twin.html
    assert twin.page.markup == shown(twin.surfaces)
    twin.surfaces.apply(data("I3", "/inner"))
    twin.page.apply_changes(twin.surfaces.flush())
    assert ">I3<" in twin.html


@pytest.mark.parametrize("stage", ["accept", "build", "render"])
def test_memory_errors_are_not_contained(stage):
    Touchy.trouble, Touchy.error = stage, MemoryError
    with pytest.raises(MemoryError):
        Twin()


def test_code_that_changed_later_takes_nothing_else_with_it():
    twin = Twin()
    kept = json.loads(json.dumps(twin.surfaces.snapshot()))
    for Touchy.trouble in ("accept", "references", "build", "render", "rubbish"):
        again = twin.engine.restore(kept)
        page = Page()
        page.root.extend([])
        html = again.get("", "s").html()
        assert html.count(NOTICE) == 1
        assert ">B<" in html


def test_data_brings_it_down_and_back():
    twin = Twin()
    twin.say(data("bad", "/title"))
    assert twin.html.count(NOTICE) == 1
    assert ">I<" not in twin.html
    twin.say(data("I2", "/inner"))
    twin.say(data("bad", "/title"))
    twin.say(data("good", "/title"))
    assert "<b>good</b>" in twin.html
    assert ">I2<" in twin.html
    twin.say(data("I3", "/inner"))
    assert ">I3<" in twin.html


def test_what_is_inside_is_redefined_meanwhile():
    twin = Twin()
    twin.say(data("bad", "/title"), components(row("inner", "Text", text="other")))
    twin.say(components(row("inner", "Row", children=["x"]), row("x", "Text", text=path("/inner"))))
    twin.say(data("good", "/title"))
    assert ">I<" in twin.html
    twin.say(components(row("inner", "Row", children=["x", "x"])))
    twin.say(data("I9", "/inner"))
    assert twin.html.count(">I9<") == 2


def test_it_is_redefined_as_a_container_while_it_is_down():
    twin = Twin()
    twin.say(data("bad", "/title"))
    twin.say(components(row("own", "Column", children=["inner"])))
    twin.say(components(row("own", "Column", children=["inner", "before"])))
    assert NOTICE not in twin.html


def test_what_it_remembers_and_its_own_parts():
    twin = Twin(
        row("root", "Column", children=["m"]), row("m", "Memory", title=path("/title"), note=path("/inner"))
    )
    for name, value in (
        ("title", "bad"),
        ("title", "T"),
        ("inner", "bad"),
        ("inner", "rubbish"),
        ("inner", "well"),
    ):
        twin.say(data(value, f"/{name}"))
    assert "well" in twin.html
    twin.say(data("bad", "/title"))
    twin.say(data("bad", "/inner"), data("x", "/before"))
    twin.say(data("fine", "/inner"))
    assert NOTICE in twin.html
    twin.say(data("T", "/title"))
    assert "fine" in twin.html


LISTS = (
    row("root", "Column", children=["list", "own"]),
    row("list", "List", children={"componentId": "item", "path": "/items"}),
    row("item", "Touchy", title=path("t"), child="name"),
    row("name", "Text", text=path("t")),
    row("own", "Touchy", title=path("/title"), children={"componentId": "name", "path": "/items"}),
)


def test_one_item_of_a_list():
    twin = Twin(*LISTS)
    twin.say(data("bad", "/items/1/t"))
    assert twin.html.count(NOTICE) == 1
    twin.say(data({"id": 7, "t": "bad"}, "/items/3"))
    twin.say(data([{"id": 2, "t": "t2"}, {"id": 1, "t": "bad"}, {"id": 7, "t": "seven"}], "/items"))
    assert twin.html.count(NOTICE) == 1
    twin.say(data([{"id": 7, "t": "bad"}], "/items"))
    twin.say(data([{"id": 7, "t": "up"}, {"id": 1, "t": "new"}], "/items"))
    assert NOTICE not in twin.html
    twin.say(components(row("item", "Touchy", title="bad", child="name")))
    assert twin.html.count(NOTICE) == 2
    twin.say(components(row("item", "Touchy", title="good", child="name")))
    assert NOTICE not in twin.html


def test_a_list_inside_of_it():
    twin = Twin(*LISTS)
    twin.say(data("bad", "/title"))
    twin.say(data({"id": 9, "t": "nine"}, "/items/3"), data("T0", "/items/0/t"))
    twin.say(data([], "/items"))
    twin.say(data([{"id": 4, "t": "four"}], "/items"))
    twin.say(data("good", "/title"))
    assert twin.html.count(">four<") == 3
    twin.say(data("vier", "/items/0/t"))
    assert twin.html.count(">vier<") == 3


def test_what_it_holds_is_what_fails():
    class Nosy(Touchy):
        name = "Nosy"

        def build(self, build):
            inner = build.child("child")

            def render(scope, context):
                html = inner.render(scope, context)
                if ">bad<" in html:
                    fail()
                return f'<div id="{build.id}{context}">{html}</div>'

            build.done(render)

    own = CATALOG.extended("https://beach.example/nosy.json", components=[Nosy()])
    surfaces, page = Engine(EngineOptions(catalogs=(own,))).surfaces(), Page()
    rows = [
        row("root", "Column", children=["n"]),
        row("n", "Nosy", child="t"),
        row("t", "Text", text=path("/t")),
    ]
    for one in (create(catalogId=own.id), data({"t": "bad"}), components(*rows)):
        surfaces.apply(one)
    page.apply_changes(surfaces.flush())
    assert NOTICE in page.markup
    for value in ("worse", "good"):
        surfaces.apply(data(value, "/t"))
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)
    assert ">good<" in page.markup


@pytest.mark.parametrize("stage", ["draw", "draws rubbish"])
def test_what_cannot_be_drawn_at_once_is_compiled(stage, caplog):
    Touchy.trouble = stage
    twin = Twin(row("root", "Column", children=["d"]), row("d", "Drawn", title=path("/title")))

    assert "<b>T</b>" in twin.html
    assert not twin.failures
    assert (
        f"failed at once: {'TypeError' if 'rubbish' in stage else f'ValueError at {__name__}:'}"
        in caplog.text
    )
    assert SECRET not in caplog.text


def test_a_root_that_cannot_be_shown():
    Touchy.trouble = "build"
    twin = Twin(row("root", "Touchy", title=path("/title"), child="t"), row("t", "Text", text="x"))
    assert twin.html.count(NOTICE) == 1
    twin.say(data("x", "/title"))


def test_inside_of_a_button_and_a_click():
    twin = Twin(
        row("root", "Column", children=["b", "c"]),
        row("b", "Button", child="own", action={"event": {"name": "go"}}),
        row("own", "Touchy", title=path("/title")),
        row("c", "Button", child="t", action={"functionCall": call("act", value="bad")}),
        row("t", "Text", text="x"),
    )
    twin.say(data("bad", "/title"))
    assert "<span" in twin.html
    target = next(e.get("id") for e in twin.page.root.iter() if e.tag == "button")
    assert twin.surfaces.act(target).name == "go"
    last = [e.get("id") for e in twin.page.root.iter() if e.tag == "button"][-1]
    with pytest.raises(ActionError, match="failed inside") as failed:
        twin.surfaces.act(last)
    assert SECRET not in str(failed.value)


def test_an_own_control_whose_event_cannot_be_put_together():
    class Control(Touchy):
        name = "Control"
        interactive = True
        properties = {**Touchy.properties, "action": action}

    own = CATALOG.extended("https://beach.example/control.json", components=[Control()])
    surfaces = Engine(EngineOptions(catalogs=(own,))).surfaces()
    rows = [row("root", "Control", title="x", action={"event": {"name": "go"}})]
    for one in (create(catalogId=own.id), components(*rows)):
        surfaces.apply(one)
    surfaces.flush()
    Touchy.trouble = "enclosed"
    with pytest.raises(ActionError) as failed:
        surfaces.act("a1-0")
    assert failed.value.code == "COMPONENT_FAILED"
    assert SECRET not in str(failed.value)


def test_an_own_input_is_answered():
    twin = Twin(row("root", "Column", children=["p"]), row("p", "Picky", value=path("/after")))
    target = next(e.get("id") for e in twin.page.root.iter() if e.tag == "input")
    for value, code in (("x", "COMPONENT_FAILED"), ("set", "DATA_ERROR"), ("self", "VALIDATION_FAILED")):
        with pytest.raises(InputError) as failed:
            twin.surfaces.edit(target, value)
        assert failed.value.code == code
        assert SECRET not in str(failed.value)


def test_hidden_from_screen_readers_only_where_it_is_certain():
    Touchy.trouble = "takes_focus"
    surfaces = Engine(EngineOptions(own=(CATALOG,))).surfaces()
    said = {
        "surfaceId": "s",
        "catalogId": OWN,
        "components": [
            row("root", "Column", children=["own"], accessibility={"hidden": True}),
            row("own", "Touchy", title="x"),
        ],
    }
    assert not surfaces.apply({"version": "v1.0", "createSurface": said})
    assert 'aria-hidden="true"' not in surfaces.flush()[0].html
    Touchy.trouble = ""
    surfaces.apply(
        {"version": "v1.0", "updateComponents": {"surfaceId": "s", "components": said["components"]}}
    )
    assert 'aria-hidden="true"' in shown(surfaces)


@pytest.mark.parametrize("function", ["broken", "quick"])
def test_functions_fail_for_themselves(function):
    more = {"how": "fast"} if function == "quick" else {}
    twin = Twin(
        row("root", "Column", children=["f", "t"]),
        row("f", "Text", text=call(function, value=path("/title"), **more)),
        row("t", "Text", text=path("/before")),
    )
    for value in ("bad", "odd", "deep", "dear", "long", "good"):
        twin.say(data(value, "/title"))
        assert ">B<" in twin.html
    assert "fine good" in twin.html
    assert len(twin.html) < 100_000
    failed = [one for one in twin.problems if one.code == "FUNCTION_FAILED"]
    assert failed
    assert all("raised" in one.facts and SECRET not in str(one) for one in failed)
    with pytest.raises(MemoryError):
        twin.say(data("memory", "/title"))


def test_a_function_that_fails_while_it_is_prepared():
    twin = Twin(
        row("root", "Column", children=["f", "l"]),
        row("f", "Text", text=call("quick", value=path("/title"), how="never")),
        row("l", "List", children={"componentId": "t", "path": "/items"}),
        row("t", "Text", text=path("t")),
    )
    assert ">t0<" in twin.html


def test_megabytes_are_cut():
    Touchy.trouble = "long"
    twin = Twin(limits=Limits(surface_chars=1_000_000))
    assert len(twin.html) < 1_000_000
    assert "too much for one page" in twin.html


def test_room_is_what_it_is_without_it():
    """What is not there takes no room: lists have as much as on a page that is drawn anew."""
    limits = Limits(instances=14, list_items=20)
    twin = Twin(*LISTS[:1], *LISTS[1:], limits=limits)
    for value in ("bad", "good", "bad"):
        twin.say(data(value, "/title"))
        twin.say(data({"id": 50, "t": value}, "/items/3"))
        twin.say(data(MODEL["items"], "/items"))
    used = twin.surfaces.get("", "s").view.budget.used
    again = twin.engine.restore(twin.surfaces.snapshot())
    again.get("", "s").html()
    assert again.get("", "s").view.budget.used == used


@pytest.mark.parametrize("stage", ["", "accept", "build", "render"])
def test_what_was_tried_leaves_no_trace(stage):
    twin = Twin(*LISTS)
    before, inside = json.dumps(twin.surfaces.snapshot()), described(twin.surfaces)
    attempt = twin.surfaces.attempt()
    Touchy.trouble = stage
    for one in (
        data("bad", "/title"),
        components(row("own", "Touchy", title=path("/title"), child="name")),
        components(row("item", "Touchy", title="bad", child="name")),
        data([{"id": 1, "t": "bad"}], "/items"),
    ):
        twin.surfaces.apply(one)
        twin.surfaces.flush()
    attempt.undo()
    Touchy.trouble = ""
    assert described(twin.surfaces) == inside
    assert json.dumps(twin.surfaces.snapshot()) == before
    twin.same()


def test_each_failure_is_logged_for_staff_without_values(caplog):
    caplog.set_level(logging.WARNING)
    Touchy.trouble = "render"
    Twin()
    line = next(one for one in caplog.messages if "Touchy" in one)
    assert OWN in line
    assert "'own'" in line
    assert "ValueError" in line
    assert "tests.a2ui.test_own_failures:" in line
    assert SECRET not in caplog.text


WORDS = ("bad", "good", "<b>", "")
FUZZED = (
    row("root", "Column", children=["outer", "list", "m"]),
    row("outer", "Touchy", title=path("/o"), child="column"),
    row("column", "Column", children=["inner", "field", "m"]),
    row("inner", "Touchy", title=path("/i"), children={"componentId": "item", "path": "/items"}),
    row("field", "TextField", label="F", value=path("/f")),
    row("m", "Memory", title=path("/m"), note=path("/n")),
    row("list", "List", children={"componentId": "item", "path": "/items"}),
    row("item", "Touchy", title=path("t"), child="row"),
    row("row", "Row", children=["t", "nested"]),
    row("t", "Text", text=path("t")),
    row("nested", "List", children={"componentId": "m", "path": "below"}),
)


def _step(random):
    def items():
        below = [{"id": random.randrange(3)} for _ in range(random.randrange(2))]
        ids = random.sample(range(5), random.randrange(4))
        return [{"id": one, "t": random.choice(WORDS), "below": below} for one in ids]

    match random.randrange(6):
        case 0:
            return data(items(), "/items")
        case 1:
            return data(
                {"id": random.randrange(5, 9), "t": random.choice(WORDS)}, f"/items/{random.randrange(4)}"
            )
        case 2:
            return components(random.choice(FUZZED[1:]))
        case 3:
            kind = random.choice(("Touchy", "Card", "Nowhere"))
            return components(row(random.choice(("outer", "item")), kind, title=path("/i"), child="column"))
        case 4:
            kept = random.sample(["inner", "field", "m", "t"], random.randrange(1, 5))
            return components(row("column", "Column", children=kept))
        case _:
            return data(random.choice(WORDS), f"/{random.choice('oimnf')}")


@pytest.mark.parametrize("seed", [699, 1094, *range(4 * FUZZ)])
def test_whatever_comes_and_goes(seed):
    """Live pages are what a reload shows, and so is what was tried and undone."""
    random = Random(seed)
    limits = Limits(instances=random.choice((9, 14, 20, 2000)), list_items=random.choice((2, 50)))
    engine = Engine(EngineOptions(catalogs=(BASIC_CATALOG, CATALOG), limits=limits))
    surfaces, page = engine.surfaces(), Page()
    model = {"o": "good", "i": "good", "m": "good", "n": "x", "f": "f", "items": [{"id": 1, "t": "one"}]}
    for one in (create(catalogId=OWN), data(model), components(*FUZZED)):
        surfaces.apply(one)
    page.apply_changes(surfaces.flush())
    for _ in range(12):
        steps = [_step(random) for _ in range(random.randrange(1, 4))]
        if random.random() < 0.3:
            before = described(surfaces)
            attempt = surfaces.attempt()
            for one in steps:
                surfaces.apply(one)
            surfaces.flush()
            attempt.undo()
            assert described(surfaces) == before
        else:
            for one in steps:
                surfaces.apply(one)
            page.apply_changes(surfaces.flush())
        kept = engine.restore(json.loads(json.dumps(surfaces.snapshot())))
        assert page.markup == shown(surfaces) == shown(kept)
