"""What a component type works with while one of its places is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from a2ui.binding.budget import EvaluationBudget
from a2ui.binding.compiler import Compiler
from a2ui.binding.reading import Const, Getter, ReadRecorder
from a2ui.binding.secrets import show
from a2ui.binding.values import Value
from a2ui.catalog.kinds import Accessibility, Template
from a2ui.errors import LimitError
from a2ui.functions.results import to_truth
from a2ui.rendering.hearing import HIDDEN, Hearing, aria_of, live_of, not_hidden, takes_focus
from a2ui.rendering.place import ANYWHERE, Emit, Memo, OwnPart, Part, Place, Placement, Render
from a2ui.safety.text import clean_text, escape

if TYPE_CHECKING:
    from a2ui.options import EngineOptions
    from a2ui.rendering.lists import ListSlot
    from a2ui.rendering.view import View
    from a2ui.state.components import Component

LONG = 1_000
"""Characters of a text that is worth counting."""

CHARS_AN_INSTANCE = 500
"""How many characters of markup that never changes count like one more element."""

USUAL_CALLS = 10
"""Function calls and pieces of texts that a component may have for nothing; each further one counts like an element."""

_UNNAMED = Const("")
_TOLD = frozenset({"polite", "assertive"})
_WEIGHT_MAX = 100
_FINE_WEIGHTS_BELOW = 10


class Build(ReadRecorder):
    """One place being compiled.

    Everything compiled through it is read by the *main part*, whose repaint is the whole element; `part` opens
    further ones.
    """

    __slots__ = ("compiler", "id", "options", "place", "props", "spend", "view", "waits", "weight")

    def __init__(self, view: View, place: Place, component: Component) -> None:
        # Those of a recorder. Without super(): this runs for every component of a surface.
        self.component_id = component.id
        self.reads = {}
        self.report = view.report
        self.grows = self.counts = False
        self.asks = True
        self.on_read = None
        self.counter = place.levels[-1] if place.levels else None
        self.view = view
        self.place = place
        self.props: Mapping[str, Any] = component.props
        self.options: EngineOptions = view.options
        self.compiler: Compiler = view.compiler
        self.id = place.prefix
        """The DOM id without the context: an element's id is this plus the context."""
        self.spend = view.spend
        self.waits: Getter | None = None
        """Whether an answer of the agent is still missing that the action needs, by the value of the scope; None where
        it needs none."""
        self.weight = 0
        """Characters of what is the same in every instance, as far as it can be much."""

    @property
    def recorder(self) -> ReadRecorder:
        """What the values of the main part have read: the build itself, which saves an object per component."""
        return self

    @property
    def marked(self) -> bool:
        """Whether the definition is one of 1.0, where a ValidationResult is as good as its `valid` (4.4)."""
        component = self.place.component
        return component is not None and component.notation.marked

    # ------------------------------------------------------------------ values

    def value(self, name: str) -> Getter | Const:
        """The compiled dynamic property; Const(None) where it is absent."""
        return self.compiler.compile(self.props.get(name), self)

    def getter(self, name: str) -> Getter:
        return self.compiler.getter(self.props.get(name), self)

    def html(self, name: str) -> Getter | Const:
        """The escaped one-line text of a property, for attributes and labels: closure or Const."""
        return self.escaped(self.props.get(name), self)

    def escaped(self, value: Value, recorder: ReadRecorder) -> Getter | Const:
        limit = self.options.limits.text_chars
        compiled = Const(value) if type(value) is str else self.compiler.compile(value, recorder)
        if isinstance(compiled, Const):
            constant = literal(compiled.value, limit, recorder)
            self.weight += len(constant)
            return Const(constant)
        get, spend, work = compiled, self.spend, self.compiler.work
        return lambda scope: literal(get(scope), limit, recorder, spend, work)

    def plain(self, value: Value, recorder: ReadRecorder) -> Getter:
        """The text of a value as a person sees it, not escaped: for text fragments."""
        get, spend, work = self.compiler.getter(value, recorder), self.spend, self.compiler.work
        limit = self.options.limits.text_chars

        def text(scope: Any) -> str:
            found = show(get(scope), work)
            within = limit if len(found) <= LONG or spend(len(found)) else min(limit, LONG)
            return clean_text(shortened(found, within, recorder))

        return text

    def accessible(self, fallback: str = "", *, group: bool = False) -> Getter | Const:
        """The attributes for `accessibility` (17.5), where one element has all of them: `labelled` and `heard`. To be
        called before the places of children are made, as each of these."""
        if "accessibility" not in self.props:
            return Const(fallback) if fallback else _UNNAMED
        return joined(self.labelled(fallback, group=group), self.heard())

    def labelled(self, fallback: str = "", *, group: bool = False) -> Getter | Const:
        """`aria-label` and `aria-description`; `fallback` if no label. See `aria_of`."""
        given: Accessibility | None = self.props.get("accessibility")
        if given is None:
            return Const(fallback) if fallback else _UNNAMED
        label, description = self.escaped(given.label, self), self.escaped(given.description, self)
        if isinstance(label, Const) and isinstance(description, Const):
            return Const(aria_of(label.value, description.value, fallback, group=group))
        label_of, description_of = always(label), always(description)
        return lambda scope: aria_of(label_of(scope), description_of(scope), fallback, group=group)

    def heard(self) -> Getter | Const:
        """`aria-live`, and `aria-hidden` where nothing inside can take focus."""
        given: Accessibility | None = self.props.get("accessibility")
        if given is None:
            return _UNNAMED
        place, hidden = self.place, given.hidden
        declared = hidden is not None
        if declared:
            self.view.hiding[self.component_id] = None
        if declared and takes_focus(self.component_id, self.view.store.by_id.get, self.view.focusing):
            self.failed(not_hidden())
            hidden = None
        around = place.hearing
        place.hearing = Hearing(
            around.live or given.live in _TOLD,
            around.declared or declared,
            around.hidden or hidden is not None,
        )
        live = live_of(given.live)
        if hidden is None or hidden is True:
            return Const(live + HIDDEN if hidden else live)
        get, both = self.compiler.getter(hidden, self), live + HIDDEN
        return lambda scope: both if to_truth(get(scope)) else live

    def classes(self, *names: str) -> str:
        """The class attribute's value: the names that are not empty, and the weight where it counts."""
        return class_names(names, self.flex)

    @property
    def flex(self) -> float | None:
        """The weight where it counts and is given."""
        return flex(self.props, self.place.placement)

    def role(self) -> str:
        """The attributes for a part that its surroundings give the element: list item, or what opens a dialog."""
        return role_of(self.place.placement)

    # ------------------------------------------------------------------ children

    def child(self, slot: str, placement: Placement = ANYWHERE) -> Place | None:
        """The place of the one component in a slot."""
        found = self.children_in(slot, placement)
        return found[0] if found else None

    def children_in(self, slot: str, placement: Placement = ANYWHERE) -> list[Place]:
        """The places of the components in a slot, in page order."""
        place, view = self.place, self.view
        component, found = place.component, []
        for reference in component.references if component else ():
            if reference.slot == slot and reference.template is None:
                found.append(view.make_child(place, reference, placement))
                if view.made > view.most:
                    break
        return found

    def items(self, slot: str, placement: Placement) -> tuple[ListSlot, Render] | None:
        """The template in a slot and what renders its items, None where the slot has none."""
        template = self.props.get(slot)
        return (
            self.view.listing.make_slot(self.place, template, placement)
            if isinstance(template, Template)
            else None
        )

    # ------------------------------------------------------------------ result

    def done(self, render: Render, part: Part | None = None) -> None:
        """Sets how the place renders, and registers what it read for its main part, by default the whole element."""
        self.place.set_render(render)
        view = self.view
        if self.reads or self.counts or (view.calls is not None and self in view.calls.sites):
            view.register(part or Part(self.place), self)

    def remember(self, render: Render) -> None:
        """Like `done`, for what reads more often than it looks different (see `Memo`)."""
        place = self.place
        calls = self.view.calls
        if not (self.reads or self.counts) and (calls is None or self not in calls.sites):
            place.set_render(render)
            return
        self.memo(Memo(place, render, self.view.journal))

    def memo(self, memo: Memo) -> None:
        """Like `remember`, with a memo that knows better than to send the whole element."""
        place, journal = self.place, self.view.journal
        place.set_render(memo.render)
        if place.levels:
            if journal.on:
                journal.elements(place.levels[-1].memos)
            place.levels[-1].memos.append(memo)
        self.view.register(memo, self)

    def part(self, emit: Emit) -> Callable[[ReadRecorder], None]:
        """Another part of the place; call the result with the recorder of the values that it shows."""
        return lambda recorder: self.view.register(OwnPart(self.place, emit), recorder)

    def new_recorder(self) -> ReadRecorder:
        """A recorder for the values of another part."""
        return ReadRecorder(self.place.component_id, self.view.report, self.counter)


def flex(props: Mapping[str, Any], placement: Placement) -> float | None:
    """The weight where it counts and is given."""
    return props.get("weight") if placement.weighted else None


@lru_cache(maxsize=1024)
def class_names(names: tuple[str, ...], weight: float | None) -> str:
    """The names that are not empty, and that of the weight."""
    css = " ".join([name for name in names if name])
    return css if weight is None else f"{css} {weight_class(weight)}"


def role_of(placement: Placement) -> str:
    """The attributes for the part that an element has in its surroundings."""
    if placement.listed:
        return ' role="listitem"'
    return ' role="button" tabindex="0" aria-haspopup="dialog"' if placement.opens else ""


def always(value: Getter | Const) -> Getter:
    """A closure, also for a Const."""
    if isinstance(value, Const):
        constant = value.value
        return lambda _: constant
    return value


def told(build: Build) -> str:
    """`Build.heard` of a component that can take focus, so that it is never hidden: what is announced is fixed."""
    return str(always(build.heard())(None))


def joined(one: Getter | Const, other: Getter | Const) -> Getter | Const:
    """The attributes of both."""
    if isinstance(one, Const) and isinstance(other, Const):
        return Const(one.value + other.value)
    first, second = always(one), always(other)
    return lambda scope: first(scope) + second(scope)


def literal(
    value: Any,
    limit: int,
    recorder: ReadRecorder | None = None,
    spend: Callable[[int], bool] | None = None,
    work: EvaluationBudget | None = None,
) -> str:
    """The escaped text of a value, shown as it is written: no Markdown, nothing invisible."""
    text = value if type(value) is str else show(value, work)
    if len(text) > LONG or len(text) > limit:
        text = shortened(text, limit if spend is None or spend(len(text)) else min(limit, LONG), recorder)
    return escape(text if text.isprintable() else clean_text(text))


def shortened(text: str, limit: int, recorder: ReadRecorder | None = None) -> str:
    """The text, cut where it is too long: with a mark for whoever reads it and a report for the agent."""
    if len(text) <= limit:
        return text
    if recorder is not None:
        message = f"A text is longer than {limit} characters; the rest is left out. Send less."
        recorder.failed(LimitError(message, limit="text_chars", allowed=limit, got=len(text)))
    return text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def weight_class(weight: float) -> str:
    """One of a finite set of classes: whole weights up to 100, tenths below 10 (17.2); 0 for none or negative."""
    weight = min(weight, _WEIGHT_MAX)
    if not weight > 0:
        return "a2-w-0"
    if weight >= _FINE_WEIGHTS_BELOW or weight == int(weight):
        return f"a2-w-{round(weight)}"
    tenths = max(1, round(weight * 10))
    return f"a2-w-{tenths // 10}" if tenths % 10 == 0 else f"a2-w-{tenths // 10}_{tenths % 10}"
