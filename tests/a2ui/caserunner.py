"""Runs shared cases of kind `a2ui` and `a2ui_generated` against the engine and checks what they expect.

`run_case` raises AssertionError with the expectation that did not hold.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

import orjson

from a2ui import A2uiError, Diagnostic, Engine, EngineOptions, SurfaceSet
from a2ui.data.pointer import ABSENT, parse, read
from a2ui.data.values import equal
from a2ui.functions.dates import parse_date
from a2ui.rendering.patterns import all_instances
from a2ui.rendering.place import Place
from tests.a2ui.page import Page
from tests.fuzz.cost import slowness

CLASSES = {
    "VALIDATION_FAILED": {"VALIDATION_FAILED"},
    "STATE_ERROR": {"VALIDATION_FAILED", "not_found"},
    "DATA_ERROR": {"VALIDATION_FAILED", "conflict"},
    "CATALOG_NOT_FOUND": {"VALIDATION_FAILED", "not_found"},
    "budget_exceeded": {"budget_exceeded"},
    "not_found": {"not_found"},
    "disabled": {"VALIDATION_FAILED"},
    "EXPRESSION_ERROR": {"VALIDATION_FAILED"},
}
"""Our codes to the error classes of the cases."""


class Session:
    """One session with a page that follows it."""

    def __init__(self, given: dict[str, Any]) -> None:
        zone = ZoneInfo(given.get("timezone", "UTC"))
        self.engine = Engine(EngineOptions(locale=given.get("locale", "en-US"), timezone=zone))
        self.surfaces: SurfaceSet = self.engine.surfaces()
        self.page = Page()
        self.refused: list[int] = []
        self.errors: list[Diagnostic] = []
        self.seconds = 0.0
        """What the engine needed, on a machine that has nothing else to do. Parsing the page is slow and does not
        count."""

    def feed(self, number: int, message: Any) -> None:
        started = time.process_time()
        problems = self.surfaces.apply(message)
        changes = self.surfaces.flush()
        self.seconds += (time.process_time() - started) / slowness()
        if any(problem.refused for problem in problems):
            self.refused.append(number)
        self.page.apply_changes(changes)
        self.errors += problems + self.surfaces.diagnostics()

    def text(self, component: str, surface: str = "s1") -> list[str]:
        """The visible text of all instances of a component, in page order."""
        return [visible(element) for element in self.elements(component, surface)]

    def elements(self, component: str, surface: str = "s1") -> list[ET.Element]:
        owner = self.surfaces.get("", surface)
        if owner is None:
            return []
        owner.view.compiled()
        places: list[Place] = list(owner.view.places(component))
        ids = {
            place.prefix + context
            for place in places
            for _, _, context in all_instances(place, owner.model.now)
        }
        return [element for element in self.page.root.iter() if element.get("id") in ids]

    def target(self, component: str, surface: str = "s1", instance: int = 0) -> str:
        found = self.elements(component, surface)
        return found[instance].get("id", "") if instance < len(found) else "a0-0"

    def model(self, surface: str = "s1") -> Any:
        known = self.surfaces.get("", surface)
        return None if known is None else known.data_model


def visible(element: ET.Element) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def run_case(given: dict[str, Any], expected: dict[str, Any]) -> None:
    session = Session(given)
    checkpoints = {point["after_message"]: point for point in expected.get("checkpoints", ())}
    before = None
    for number, message in enumerate(given.get("messages", [])):
        before = session.model() if before is None else before
        session.feed(number, message)
        if number in checkpoints:
            check(session, checkpoints[number])
    results = [step(session, one) for one in given.get("then", ())]
    check(session, {**expected, "total": len(given.get("messages", []))})
    check_results(results, expected)
    for name, post in given.get("posts", {}).items():
        check_post(given, post, expected["posts"][name])
    for name, model in given.get("model_variants", {}).items():
        check_model(given, model, expected["model_variants"][name])
    for name, typed in given.get("user_rows", {}).items():
        check_typed(given, typed, expected["rows"][name])
    if "max_ms" in expected:
        assert session.seconds * 1000 < expected["max_ms"]


def run_lines(text: str, expected: dict[str, Any]) -> None:
    """Cases of kind `a2ui_generated`: JSON lines."""
    session = Session({})
    for number, line in enumerate(text.splitlines()):
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            session.errors.append(
                Diagnostic("budget_exceeded", "The JSON is nested too deeply.", refused=True)
            )
            continue
        session.feed(number, message)
    assert session.seconds * 1000 < expected["max_ms"]
    assert sum(len(s.html()) for s in session.surfaces) < expected["max_html_bytes"]
    check(
        session, {key: value for key, value in expected.items() if key in ("error", "outcome")} | {"total": 3}
    )
    other = {"surfaceId": "other", "catalogId": "basic"}
    assert not session.surfaces.apply({"version": "v0.9", "createSurface": other})


def check(session: Session, expected: dict[str, Any]) -> None:
    alternatives = expected.get("any_of")
    if alternatives:
        problems = []
        for alternative in alternatives:
            try:
                check(session, {k: v for k, v in expected.items() if k != "any_of"} | alternative)
            except AssertionError as error:
                problems.append(error)
            else:
                return
        raise problems[-1]
    for name, value in expected.items():
        if name in CHECKS:
            CHECKS[name](session, value, expected)


def _outcome(session: Session, value: str, expected: dict[str, Any]) -> None:
    total = expected.get("total", 0)
    if value == "accepted":
        assert not session.refused, session.errors
    elif "rejected_messages" not in expected:
        assert session.refused, "nothing was refused"
        assert value == "partial" or total - 1 in session.refused


def _rejected(session: Session, value: list[int], expected: dict[str, Any]) -> None:
    assert session.refused == value, (session.refused, session.errors)


def _error(session: Session, value: str, expected: dict[str, Any]) -> None:
    found = {error.code for error in session.errors}
    assert any(value in CLASSES.get(code, ()) for code in found), found


def _model(session: Session, value: Any, expected: dict[str, Any]) -> None:
    assert equal(session.model(), value), session.model()


def _model_at(session: Session, value: dict[str, Any], expected: dict[str, Any]) -> None:
    for path, wanted in value.items():
        assert equal(read(session.model(), parse(path)), wanted), (path, session.model())


def _model_absent(session: Session, value: list[str], expected: dict[str, Any]) -> None:
    for path in value:
        assert read(session.model(), parse(path)) is ABSENT, path


def _text(session: Session, value: dict[str, Any], expected: dict[str, Any]) -> None:
    for component, wanted in value.items():
        found = session.text(component)
        assert found == (wanted if isinstance(wanted, list) else [wanted]), (component, found)


def _text_of(session: Session, value: dict[str, str], expected: dict[str, Any]) -> None:
    for name, wanted in value.items():
        surface, _, component = name.rpartition("/")
        assert session.text(component, surface) == [wanted]


def _contains(session: Session, value: Any, expected: dict[str, Any]) -> None:
    for component, wanted in value.items() if isinstance(value, dict) else [("root", value)]:
        assert any(wanted in found for found in session.text(component)), (component, session.text(component))


def _lacks(session: Session, value: list[str], expected: dict[str, Any]) -> None:
    for text in value:
        assert text not in visible(session.page.root), text


def _html_lacks(session: Session, value: list[str], expected: dict[str, Any]) -> None:
    for text in value:
        assert text not in session.page.markup


def _dom(session: Session, value: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    for wanted in value:
        found = select(session.page.root, wanted["css"])
        assert len(found) == wanted.get("count", len(found)), (wanted, len(found))
        for element in found:
            for name, text in wanted.get("attr", {}).items():
                assert element.get(name) == text, (name, element.get(name))
            for name, pattern in wanted.get("attr_matches", {}).items():
                assert re.search(pattern, element.get(name, "")), (name, element.get(name))


def _surfaces(session: Session, value: list[str], expected: dict[str, Any]) -> None:
    assert [surface.id for surface in session.surfaces] == value


def _no_error(session: Session, value: bool, expected: dict[str, Any]) -> None:
    assert not session.errors


def _input_values(session: Session, value: list[str], expected: dict[str, Any]) -> None:
    assert [element.get("value") for element in session.page.root.iter("input")] == value


def _checked(session: Session, value: list[str], expected: dict[str, Any]) -> None:
    inputs = session.page.root.iter("input")
    assert [element.get("value") for element in inputs if "checked" in element.attrib] == value


def _ids_match(session: Session, value: str, expected: dict[str, Any]) -> None:
    session.page.check_ids()
    assert all(re.search(value, e.get("id", "")) for e in session.page.root.iter() if "id" in e.attrib)


def _labels(session: Session, value: list[str], expected: dict[str, Any]) -> None:
    labels = list(session.page.root.iter("label"))
    assert [session.page.find(label.get("for", "")).get("value") for label in labels] == value


def _same_instant(session: Session, value: dict[str, str], expected: dict[str, Any]) -> None:
    for path, wanted in value.items():
        assert parse_date(read(session.model(), parse(path))) == parse_date(wanted), session.model()


CHECKS: dict[str, Callable[[Session, Any, dict[str, Any]], None]] = {
    "outcome": _outcome,
    "rejected_messages": _rejected,
    "error": _error,
    "model": _model,
    "model_at": _model_at,
    "model_absent": _model_absent,
    "text": _text,
    "text_of": _text_of,
    "text_contains": _contains,
    "text_lacks": _lacks,
    "html_lacks": _html_lacks,
    "dom": _dom,
    "surfaces": _surfaces,
    "no_error": _no_error,
    "input_values": _input_values,
    "checked_values": _checked,
    "all_ids_match": _ids_match,
    "labels_resolve": _labels,
    "same_instant_at": _same_instant,
}


def select(root: ET.Element, css: str) -> list[ET.Element]:
    """The elements that one of the simple selectors matches: a tag, an id, attributes with = or ~=."""
    found = []
    for selector in css.split(", "):
        parsed = re.fullmatch(r"([a-z0-9]*)(#[\w-]+)?((?:\[[^\]]+\])*)", selector)
        assert parsed is not None, selector
        tag, dom_id, attributes = parsed.groups()
        tests = [
            re.fullmatch(r"([\w-]+)(?:(~?)=(.*))?", one) for one in re.findall(r"\[([^\]]+)\]", attributes)
        ]
        for element in root.iter():
            if (
                element is root
                or (tag and element.tag != tag)
                or (dom_id and element.get("id") != dom_id[1:])
            ):
                continue
            matches = all(test is not None and _has(element, *test.groups()) for test in tests)
            if matches and element not in found:
                found.append(element)
    return found


def _has(element: ET.Element, name: str, words: str | None, value: str | None) -> bool:
    actual = element.get(name)
    if actual is None or value is None:
        return actual is not None
    wanted = value.strip("'\"")
    return wanted in actual.split() if words else actual == wanted


# ---- what people do


def step(session: Session, one: dict[str, Any]) -> dict[str, Any]:
    if "user_action" in one:
        action = one["user_action"]
        target = session.target(action["sourceComponentId"], action["surfaceId"], action.get("instance", 0))
        return act(session, target)
    assert list(one) == ["user_submit_unchanged"]
    for element in session.page.root.iter("input"):
        field = element.get("id", "").removesuffix("-xi")
        session.surfaces.apply_edit(session.surfaces.edit(field, element.get("value", "")))
    return {}


def act(session: Session, target: str) -> dict[str, Any]:
    try:
        action = session.surfaces.act(target)
    except A2uiError as error:
        return {"outcome": "rejected", "error": error.code}
    message = getattr(action, "message", None)
    return {"outcome": "accepted", "event": message["action"] if message else None}


def check_results(results: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    wanted = expected.get("action_results") or (
        [expected["action_result"]] if "action_result" in expected else []
    )
    for result, want in zip(results, wanted, strict=bool(wanted)):
        check_result(result, want)


def check_result(result: dict[str, Any], want: dict[str, Any]) -> None:
    if "outcome" in want:
        assert result["outcome"] == want["outcome"], result
    if "error" in want:
        assert want["error"] in CLASSES[result["error"]], result
    if want.get("effects", {}).get("agent_events") == 0:
        assert not result.get("event")
    for name, value in want.get("event", {}).items():
        assert result["event"][name] == value


def fresh(given: dict[str, Any]) -> Session:
    session = Session(given)
    for number, message in enumerate(given["messages"]):
        session.feed(number, message)
    return session


def check_post(given: dict[str, Any], post: Any, want: dict[str, Any]) -> None:
    """A post by a browser: of a field's value, or of a click with fields that were filled in before."""
    session = fresh(given)
    if isinstance(post, list):
        refused = False
        try:
            session.surfaces.apply_edit(session.surfaces.edit(session.target("root"), post))
        except A2uiError:
            refused = True
        assert refused == (want.get("outcome") == "rejected")
        check(session, {key: value for key, value in want.items() if key == "model_at"})
        return
    for component, value in post.get("fields", {}).items():
        session.surfaces.apply_edit(session.surfaces.edit(session.target(component), value))
    for path, value in post.get("set_model", {}).items():
        session.surfaces.patch("", "s1", [{"op": "add", "path": path, "value": value}])
    session.page.apply_changes(session.surfaces.flush())
    result = act(session, session.target(post["sourceComponentId"]))
    if post["name"] != "join" or post["sourceComponentId"] == "off":
        # The name that a page claims never reaches the engine: what happens is what the button really does.
        assert (result.get("event") or {}).get("name") != "delete_everything"
        return
    check_result(result, want)
    check(session, {key: value for key, value in want.items() if key == "text_contains"})


def check_model(given: dict[str, Any], model: Any, want: dict[str, Any]) -> None:
    session = fresh(given)
    session.feed(99, {"version": "v0.9", "updateDataModel": {"surfaceId": "s1", "value": model}})
    check(session, want)


def check_typed(given: dict[str, Any], typed: str, want: dict[str, Any]) -> None:
    session = fresh(given)
    field = next(e for e in session.page.root.iter() if "data-in" in e.attrib).get("id", "")
    refused = False
    try:
        session.surfaces.apply_edit(session.surfaces.edit(field, typed))
    except A2uiError:
        refused = True
    for alternative in want.get("any_of", [want]):
        if (alternative.get("outcome") == "rejected") == refused and (
            "model" not in alternative or equal(session.model(), alternative["model"])
        ):
            break
    else:
        raise AssertionError((typed, refused, session.model()))
    for path, value in want.get("not_model_at", {}).items():
        assert not equal(read(session.model(), parse(path)), value)
