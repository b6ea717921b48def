"""Attempts: what was tried and undone leaves no trace, what was kept is as if nobody had tried (D57)."""

from __future__ import annotations

import json

import pytest

from a2ui import Attempt, Engine, EngineOptions, Limits
from tests.a2ui.programs import BASIC, call, components, create, data, message, path, row
from tests.a2ui.strategies import FUZZ
from tests.fuzz.attempts import play
from tests.fuzz.graph import described

ROWS = [
    row("root", "Column", children=["list", "text", "field"]),
    row("list", "List", children={"componentId": "item", "path": "/items"}),
    row("item", "Row", children=["name", "input"]),
    row("name", "Text", text=path("name")),
    row("input", "TextField", label="N", value=path("name")),
    row("text", "Text", text=call("formatString", value=path("/template"))),
    row("field", "TextField", label="F", value=path("/secret"), variant="obscured",
        checks=[{"condition": call("required", value=path("/secret")), "message": "m"}]),
]  # fmt: skip
SHOWN, UNSEEN = True, False


def model(count=3):
    items = [{"id": number, "name": f"n{number}"} for number in range(count)]
    return {"items": items, "template": "a ${/x}", "x": 1, "y": 2}


class Twins:
    """A set, and another one that gets the same but for what is undone."""

    def __init__(self, *messages, shown=SHOWN, engine=None, restored=False):
        self.engine = engine or Engine()
        self.shown = shown
        self.sets = [self.engine.surfaces() for _ in range(2)]
        for one in messages or (create(sendDataModel=True), components(*ROWS), data(model())):
            self.both(lambda surfaces, one=one: surfaces.apply(one))
        self.flush()
        if restored:
            self.sets = [
                self.engine.restore(json.loads(json.dumps(surfaces.snapshot())), shown=shown)
                for surfaces in self.sets
            ]

    @property
    def tried(self):
        return self.sets[0]

    def both(self, ask):
        one, other = (ask(surfaces) for surfaces in self.sets)
        assert one == other
        return one

    def flush(self):
        return self.both(lambda surfaces: surfaces.flush() if self.shown else surfaces.skip())

    def undone(self, *steps):
        """Tries the messages, or what calls the set; then both go on alike."""
        before, inside = json.dumps(self.tried.snapshot()), described(self.tried)
        attempt = self.tried.attempt()
        for step in steps:
            if callable(step):
                step(self.tried)
            else:
                self.tried.apply(step)
        if self.shown:
            self.tried.flush()
        else:
            self.tried.skip()
        attempt.undo()
        assert described(self.tried) == inside
        assert json.dumps(self.tried.snapshot()) == before
        self.alike()

    def alike(self):
        """They answer the same from here on."""
        assert self.flush() in ([], None)
        for step in (
            data("new", "/items/1/name"),
            data("a ${/y} b", "/template"),
            components(row("item", "Row", children=["input", "name"]), row("new", "Text", text="x")),
            data({"id": 9, "name": "more"}, "/items/3"),
            components(row("root", "Column", children=["text", "list", "new"])),
            create("further"),
        ):
            self.both(lambda surfaces, step=step: [str(problem) for problem in surfaces.apply(step)])
            self.flush()
            self.both(lambda surfaces: surfaces.diagnostics())
        self.both(lambda surfaces: [surface.html() for surface in surfaces])
        self.both(lambda surfaces: json.dumps(surfaces.snapshot()))


def patched(*ops):
    return lambda surfaces: surfaces.patch("", "s", list(ops))


TRIED = {
    "one value": [data("v", "/items/0/name")],
    "a value that was not there": [data("v", "/deep/er"), data(1, "/deep/er")],
    "a member deleted": [message("updateDataModel", path="/x")],
    "the whole model": [data({"items": []}), data("z", "/x")],
    "items that come, go and move": [
        data({"id": 7, "name": "seven"}, "/items/3"),
        patched({"op": "remove", "path": "/items/0"}),
        patched({"op": "move", "from": "/items/0", "path": "/items/1"}),
    ],
    "a text that says what to read": [data("${/y}", "/template"), data(5, "/y")],
    "components defined anew": [
        components(row("root", "Column", children=["text", "list", "text"]), row("name", "Text", text="x")),
        components(row("list", "Column", children=["field"])),
    ],
    "components that came": [components(row("item", "Card", child="new"), row("new", "Text", text="y"))],
    "what is refused": [components(row("root", "Card", child="root")), data(1, "/items/x")],
    "a surface that comes and goes": [
        create("t"),
        components(row("root", "Text", text="x"), surface="t"),
        message("deleteSurface", "t"),
    ],
    "a surface that is replaced": [message("deleteSurface"), create(), components(*ROWS), data(model(1))],
    "what people do": [
        lambda surfaces: surfaces.apply_edit(surfaces.edit("a1-6-n0", "typed")),
        lambda surfaces: surfaces.get("", "s").html(),
    ],
    "an obscured value": [
        lambda surfaces: surfaces.apply_edit(
            surfaces.edit("a1-3", "hush", conceal=lambda _: {"$secret": "handle"})
        )
    ],
    "v0.8": [
        {"surfaceUpdate": {"surfaceId": "o", "components": [{"id": "t", "component": {"Nope": {}}}]}},
        {"beginRendering": {"surfaceId": "o", "root": "t"}},
        {"dataModelUpdate": {"surfaceId": "o", "contents": [{"key": "k", "valueString": "v"}]}},
    ],
    "v1.0, refused halfway": [
        {
            "version": "v1.0",
            "createSurface": {"surfaceId": "n", "catalogId": BASIC, "components": [{"id": "root"}]},
        }
    ],
}


@pytest.mark.parametrize(
    ("shown", "restored"),
    [(SHOWN, False), (SHOWN, True), (UNSEEN, False)],
    ids=["shown", "shown, restored", "unseen"],
)
@pytest.mark.parametrize("what", TRIED)
def test_what_is_undone_leaves_no_trace(what, shown, restored):
    Twins(shown=shown, restored=restored).undone(*TRIED[what])


@pytest.mark.parametrize(
    "what", ["one value", "items that come, go and move", "components defined anew", "what people do"]
)
def test_what_waits_for_a_flush_still_waits(what):
    twins = Twins()
    for step in (data("w", "/items/2/name"), patched({"op": "remove", "path": "/items/1"}), create("late")):
        twins.both(step if callable(step) else lambda surfaces, step=step: surfaces.apply(step))
    attempt = twins.tried.attempt()
    for step in TRIED[what]:
        if callable(step):
            step(twins.tried)
        else:
            twins.tried.apply(step)
    twins.tried.flush()
    attempt.undo()

    assert len(twins.flush()) == 2
    twins.alike()


def test_whatever_is_tried():
    for seed in range(4 * FUZZ):
        play(seed)


def test_what_is_kept_is_as_if_nobody_had_tried():
    twins = Twins()
    attempt = twins.tried.attempt()
    for step in (data("v", "/items/0/name"), create("t"), components(row("name", "Text", text="x"))):
        twins.both(lambda surfaces, step=step: surfaces.apply(step))
    assert len(twins.flush()) == 2
    attempt.keep()

    twins.alike()


def test_a_surface_that_was_deleted_is_the_same_object_again():
    twins = Twins()
    surface = twins.tried.get("", "s")
    attempt = twins.tried.attempt()
    twins.tried.apply(message("deleteSurface"))
    assert [change.kind for change in twins.tried.flush()] == ["deleted"]
    attempt.undo()

    assert twins.tried.get("", "s") is surface
    assert list(twins.tried) == [surface]


def test_what_was_handed_out_never_changes():
    twins = Twins()
    attempt = twins.tried.attempt()
    twins.tried.apply(data("v", "/items/0/name"))
    twins.tried.apply(data("w", "/items/0/name"))
    handed = twins.tried.get("", "s").data_model
    written = json.dumps(handed)
    attempt.undo()

    assert json.dumps(handed) == written
    assert twins.tried.get("", "s").data_model["items"][0]["name"] == "n0"


def test_more_of_a_list_that_nobody_asked_for_after_all():
    rows = [
        row("root", "List", children={"componentId": "t", "path": "/items"}),
        row("t", "Text", text=path("name")),
    ]
    engine = Engine(EngineOptions(limits=Limits(list_items=2)))
    twins = Twins(create(), components(*rows), data(model(9)), engine=engine)

    attempt = twins.tried.attempt()
    twins.tried.apply_more(twins.tried.more("a1-0"))
    assert twins.tried.flush()
    attempt.undo()

    assert twins.flush() == []
    assert twins.both(lambda surfaces: surfaces.more("a1-0")).count == 4
    twins.both(lambda surfaces: surfaces.apply_more(surfaces.more("a1-0")))
    assert twins.flush()
    twins.alike()


def test_problems_that_were_told_are_told_again():
    twins = Twins(create(), components(row("root", "Text", text=call("nope"))), restored=True)
    for _ in range(2):
        attempt = twins.tried.attempt()
        twins.tried.get("", "s").html()
        assert [problem.code for problem in twins.tried.diagnostics()] == ["EXPRESSION_ERROR"]
        attempt.undo()

    twins.alike()


def test_an_error_from_outside_is_undone_too():
    broken = False

    def reveal(_):
        if broken:
            raise ConnectionError
        return "known"

    rows = [
        row("root", "Column", children=["list", "field"]),
        row("list", "List", children={"componentId": "t", "path": "/items"}),
        row("t", "Text", text=path("name")),
        row("field", "TextField", label="F", value=path("/secret"), variant="obscured",
            checks=[{"condition": call("required", value=path("/secret")), "message": "m"}]),
    ]  # fmt: skip
    twins = Twins(create(), components(*rows), data(model()), engine=Engine(EngineOptions(reveal=reveal)))
    attempt = twins.tried.attempt()
    twins.tried.apply(data({"id": 8, "name": "x"}, "/items/3"))
    twins.tried.apply(data({"$secret": "handle"}, "/secret"))
    broken = True
    with pytest.raises(ConnectionError):
        twins.tried.flush()
    broken = False
    attempt.undo()

    twins.alike()


def test_one_attempt_at_a_time():
    surfaces = Engine().surfaces()
    attempt = surfaces.attempt()
    assert isinstance(attempt, Attempt)
    with pytest.raises(RuntimeError, match="open"):
        surfaces.attempt()
    attempt.keep()
    for end in (attempt.keep, attempt.undo):
        with pytest.raises(RuntimeError, match="ended"):
            end()
    surfaces.attempt().undo()
    surfaces.attempt().keep()


@pytest.mark.parametrize(
    "step",
    [data("v", "/items/0/name"), components(row("text", "Text", text="x")), data({"id": "x"}, "/items/-")],
    ids=["a value", "a component", "a value that is refused"],
)
def test_an_attempt_notes_as_much_of_a_large_surface_as_of_a_small_one(step):
    noted = []
    for count in (5, 500):
        surfaces = Engine().surfaces()
        for one in (create(), components(*ROWS), data(model(count))):
            surfaces.apply(one)
        surfaces.flush()
        for number in range(count // 100):
            surfaces.apply(create(f"other{number}"))
        surfaces.flush()
        surfaces.attempt()
        surfaces.apply(step)
        surfaces.flush()
        noted.append(len(surfaces._journal._steps))

    assert noted[0] == noted[1] > 0
