"""One live surface: components, data model, theme, and the view that shows them (rulebook sections 2 to 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from a2ui.binding.compiler import Compiler
from a2ui.binding.values import parse as parse_value
from a2ui.catalog.registry import Catalog
from a2ui.errors import VALIDATION_FAILED, A2uiError, Diagnostic
from a2ui.functions.locales import find_locale
from a2ui.protocol.messages import UpdateComponents, UpdateDataModel
from a2ui.rendering.index import Splice
from a2ui.rendering.place import Op
from a2ui.rendering.repaint import Repaint
from a2ui.rendering.view import View
from a2ui.safety.colours import BLACK, parse_hex, readable_on
from a2ui.safety.text import escape
from a2ui.state.components import ROOT
from a2ui.state.data_model import DataModel
from a2ui.state.patch import Touched
from a2ui.state.pointer import ABSENT, Tokens, parse, read
from a2ui.state.reports import Reports
from a2ui.state.store import ComponentStore
from a2ui.state.values import JSON

if TYPE_CHECKING:
    from a2ui.engine import Engine

_MANY = 8
_GATHERED_LEVELS = 8
"""So many paths in one of the uppermost containers make it the one that is compared."""

_SKELETON = '<div id="{}" class="a2-skel" role="status" aria-label="Loading"><i></i><i></i><i></i></div>'


class Surface:
    """A surface. Hosts read it; `SurfaceSet` changes it.

    `owner` is the agent that made it, `id` its surfaceId, `dom_id` the id of its element. `theme` holds the checked
    theme values. `catalog_id` and `version` are as the agent sent them.
    """

    def __init__(
        self,
        engine: Engine,
        catalog: Catalog,
        *,
        owner: str,
        surface_id: str,
        catalog_id: str,
        version: str,
        dom_id: str,
        theme: Mapping[str, Any],
        send_data_model: bool,
    ) -> None:
        self.owner = owner
        self.id = surface_id
        self.catalog = catalog
        self.catalog_id = catalog_id
        self.version = version
        self.dom_id = dom_id
        self.theme: dict[str, Any] = dict(theme)
        self.send_data_model = send_data_model
        options = engine.options
        self._strict = options.strict
        # Only said where it differs from most pages; a page that goes from right to left says so itself.
        self._direction = ' dir="rtl"' if find_locale(options.locale).text_direction == "rtl" else ""
        self._limits = options.limits
        self._model = DataModel(limits=options.limits)
        self.store = ComponentStore(catalog, options.limits)
        compiler = Compiler(self._model, catalog.functions, engine.env, options.reveal)
        self._reports = Reports(surface_id, options.limits)
        self.view = View(dom_id, self.store, options, compiler, self._model, self._reports.add)
        self._redefined: dict[str, None] = {}
        self._ops: list[Op] = []

    # ------------------------------------------------------------------ reading

    @property
    def data_model(self) -> JSON:
        """The data model; never change it."""
        return self._model.value

    @property
    def model(self) -> DataModel:
        return self._model

    def html(self) -> str:
        """The whole surface as one element with the id `dom_id`. Fragments still due are made before, so that
        they and this HTML fit together."""
        self.settle()
        colour = self.theme.get("primaryColor")
        theme = f' data-theme-primary="{escape(colour)}" data-theme-on="{_ink(colour)}"' if colour else ""
        has_root = ROOT in self.store.by_id
        body = self.view.html()
        if not has_root:
            body = _SKELETON.format(f"{self.dom_id}-0")
        return f'<div id="{self.dom_id}" class="a2-surface"{self._direction}{theme}>{body}</div>'

    def evaluate(self, raw: JSON, scope: Any) -> Any:
        """A dynamic value from JSON, resolved now; `scope` is the value that its relative paths start at."""

        def report(message: str, code: str = VALIDATION_FAILED, **facts: Any) -> None:
            self._reports.add(A2uiError(message, code=code, fault="agent", **facts), "")

        return self.view.evaluate(parse_value(raw, report, self._limits), scope, "")

    # ------------------------------------------------------------------ changing

    def update_components(self, message: UpdateComponents) -> list[Diagnostic]:
        """Rulebook section 4."""
        if self.view.live:
            self.view.compiled()
        changed, problems = self.store.update(message.components, self.id, strict=self._strict)
        self._reports.forget(changed)
        if self.view.live:
            self._redefined.update(dict.fromkeys(changed))
        return problems

    def update_data(self, message: UpdateDataModel) -> list[Diagnostic]:
        """Rulebook section 6. Raises PointerError, DataError or LimitError, and then has changed nothing."""
        tokens = parse(message.path)
        model, live = self._model, self.view.live
        if live:
            self.view.compiled()
        old = model.read(tokens) if live else None
        touched = model.delete(tokens) if message.value is ABSENT else model.write(tokens, message.value)
        if live:
            for touch in touched:
                self._touched(touch, old if touch.tokens == tokens else None)
        return [
            Diagnostic(VALIDATION_FAILED, "A reserved name was left out of the value.", path, self.id)
            for path in model.dropped
        ]

    def _touched(self, touch: Touched, old: Any, *, moving: bool = False) -> None:
        model, index = self._model, self.view.index
        if touch.kind == "set":
            index.changed(touch.tokens, old, read(model.now, touch.tokens), model.now)
        else:
            splice = Splice(touch.tokens[:-1], int(touch.tokens[-1]), touch.kind == "insert", moving)
            index.spliced(splice, model.now)

    def patch(self, operations: Sequence[Any], *, budgeted: bool = True) -> None:
        """RFC 6902 on the data model, atomic. Raises PatchError."""
        model = self._model
        if not self.view.live:
            model.patch(operations, budgeted=budgeted)
            return
        self.view.compiled()
        before = model.value
        touched = model.patch(operations, budgeted=budgeted)
        moving = len(operations) == 1 and [touch.kind for touch in touched] == ["remove", "insert"]
        if len(touched) == 1 or (moving and touched[0].tokens[:-1] == touched[1].tokens[:-1]):
            for touch in touched:
                self._touched(touch, read(before, touch.tokens), moving=moving)
            return
        # Indices of several operations refer to states in between. Below the outermost places that were touched,
        # comparing what was with what is gives the same and is cheap: what did not change is the same object.
        for tokens in _outermost(
            [touch.tokens if touch.kind == "set" else touch.tokens[:-1] for touch in touched]
        ):
            self.view.index.changed(tokens, read(before, tokens), read(model.now, tokens), model.now)

    def settle(self) -> None:
        """Makes the fragments for everything that has changed."""
        view = self.view
        if view.live and (self._redefined or view.index.dirty or view.index.lists):
            redefined, self._redefined = self._redefined, {}
            self._ops += Repaint(view, redefined).run()

    def take_ops(self) -> list[Op]:
        """The fragments since the last call."""
        self.settle()
        ops, self._ops = self._ops, []
        return ops

    def fresh(self) -> str:
        """The whole surface for a page that has none of it yet; no fragments are due after it."""
        html = self.html()
        self._ops = []
        return html

    def take_problems(self) -> list[Diagnostic]:
        """The problems found while rendering since the last call."""
        return self._reports.take()

    # ------------------------------------------------------------------ snapshots

    def snapshot(self) -> dict[str, Any]:
        """Everything needed to go on elsewhere, as JSON."""
        return {
            "owner": self.owner,
            "surfaceId": self.id,
            "catalogId": self.catalog_id,
            "version": self.version,
            "domId": self.dom_id,
            "theme": self.theme,
            "sendDataModel": self.send_data_model,
            "dataModel": self._model.value,
            "asked": dict(self.view.asked),
            **self.store.snapshot(),
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Fills a new surface from `snapshot()`."""
        self._model.write((), data["dataModel"])
        self.store.restore(data)
        self.view.asked = dict(data.get("asked", {}))


def _ink(colour: str) -> str:
    """Which of black and white can be read on the colour: the stylesheet sets it by this attribute."""
    parsed = parse_hex(colour)
    return "black" if parsed is not None and readable_on(parsed) == BLACK else "white"


def _outermost(paths: list[Tokens]) -> list[Tokens]:
    """The paths that no other one contains, in an order that every process finds. For many in one container the
    container stands: comparing its members once costs less than following each path."""
    found: list[Tokens] = []
    for path in sorted(_gathered(paths), key=len):
        if not any(path[: len(known)] == known for known in found):
            found.append(path)
    return found


def _gathered(paths: list[Tokens]) -> dict[Tokens, None]:
    members: dict[Tokens, set[str]] = {}
    for path in paths:
        for depth in range(min(len(path), _GATHERED_LEVELS)):
            members.setdefault(path[:depth], set()).add(path[depth])
    return dict.fromkeys(
        next((path[:at] for at in range(len(path)) if len(members.get(path[:at], ())) > _MANY), path)
        for path in paths
    )
