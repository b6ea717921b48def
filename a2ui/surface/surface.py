"""One live surface: components, data model, theme, and the view that shows them (rulebook sections 2 to 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from a2ui.binding.agent_calls import AgentCalls
from a2ui.binding.compiler import Compiler
from a2ui.binding.parsing import parse as parse_value
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.registry import Catalog, Vocabulary
from a2ui.data.data_model import DataModel
from a2ui.data.patch import Touched
from a2ui.data.pointer import ABSENT, parse, read
from a2ui.data.values import JSON
from a2ui.errors import VALIDATION_FAILED, A2uiError, Diagnostic
from a2ui.functions.locales import is_right_to_left
from a2ui.functions.pending import PENDING
from a2ui.journal import Journal
from a2ui.ops import Op
from a2ui.options import Shared
from a2ui.protocol.dialects import PLAIN, Notation, dialect_of, speaks_1_0
from a2ui.protocol.messages import UpdateDataModel
from a2ui.rendering.asking import mark
from a2ui.rendering.index import Splice
from a2ui.rendering.repaint import Repaint
from a2ui.rendering.view import View
from a2ui.safety.colours import BLACK, parse_hex, readable_on
from a2ui.safety.text import escape
from a2ui.state.components import ROOT
from a2ui.state.store import ComponentStore
from a2ui.surface.outermost import outermost
from a2ui.surface.reports import Reports

_SKELETON = '<div id="{}" class="a2-skel" role="status" aria-label="Loading"><i></i><i></i><i></i></div>'


class Surface:
    """A surface. Hosts read it; `SurfaceSet` changes it.

    `owner` is the agent that made it, `id` its surfaceId, `dom_id` the id of its element. `theme` holds the checked
    theme values. `catalog_id` and `version` are as the agent sent them, and so is `metadata`, `{extensions}`: what
    extensions say to renderers that know them, None for nothing.
    """

    def __init__(
        self,
        engine: Shared,
        catalog: Catalog,
        *,
        owner: str,
        surface_id: str,
        catalog_id: str,
        version: str,
        dom_id: str,
        theme: Mapping[str, Any],
        send_data_model: bool,
        journal: Journal,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self._journal = journal
        self._noted = 0
        """The mark of the journal since which it is noted what the surface was."""
        self.owner = owner
        self.id = surface_id
        self.catalog = catalog
        self.vocabulary = words = Vocabulary(catalog, engine.catalogs)
        self.catalog_id = catalog_id
        self.version = version
        self.dom_id = dom_id
        self.theme: dict[str, Any] = dict(theme)
        self.send_data_model = send_data_model
        self.metadata = metadata
        options = engine.options
        self._strict = options.strict
        # Only said where it differs from most pages; a page that goes from right to left says so itself.
        self._direction = ' dir="rtl"' if is_right_to_left(options.locale) else ""
        self._limits = options.limits
        self._model = DataModel(limits=options.limits, journal=journal)
        self.store = ComponentStore(words, options.limits, journal)
        compiler = Compiler(
            self._model,
            catalog.functions.by_name,
            words.function,
            engine.env,
            options.reveal,
            journal,
            system=speaks_1_0(version),
            calls=AgentCalls(catalog_id, options.limits, journal)
            if words.asks_agents and speaks_1_0(version)
            else None,
        )
        self._reports = Reports(surface_id, options.limits, journal)
        self.view = View(dom_id, self.store, options, compiler, self._model, self._reports.add, journal)
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

    @property
    def calls(self) -> AgentCalls | None:
        """The calls of agents' functions that it shows; None where it cannot make any."""
        return self.view.calls

    def html(self) -> str:
        """The whole surface as one element with the id `dom_id`. Fragments still due are made before, so that
        they and this HTML fit together."""
        self.note()
        self.settle()
        colour = self.theme.get("primaryColor")
        theme = f' data-theme-primary="{escape(colour)}" data-theme-on="{_ink(colour)}"' if colour else ""
        has_root = ROOT in self.store.by_id
        body = self._body()
        if not has_root:
            body = _SKELETON.format(f"{self.dom_id}-0")
        return f'<div id="{self.dom_id}" class="a2-surface"{self._direction}{theme}>{body}</div>'

    def _body(self) -> str:
        """The HTML of the root component."""
        return self.view.html()

    def compile(self) -> None:
        """What pages have of it is about to change, or to be used."""
        self.view.compiled()

    def evaluate(self, raw: JSON, scope: Any) -> Any:
        """A dynamic value from JSON, as the version of the surface writes it, resolved now; `scope` is the value that
        its relative paths start at."""
        dialect, problems = dialect_of(self.version), list[Diagnostic]()
        notation = dialect.notation_of([raw]) if dialect is not None else PLAIN
        where = AcceptContext(self._limits, self.id, problems, notation, self.vocabulary.signature)
        value = parse_value(raw, where, data=True)
        self.note()
        for one in problems:
            self._reports.add(A2uiError(one.message, code=one.code, fault="agent", **one.facts), "")
        found = self.view.evaluate(value, scope, "")
        return None if found is PENDING else found

    # ------------------------------------------------------------------ changing

    def note(self) -> None:
        """Something is about to change, or to be drawn: while an attempt is open, what it takes to undo that."""
        journal = self._journal
        # Without `Journal.state`: each change comes by here several times.
        if journal.on and self._noted != journal.mark:
            self._noted = journal.mark
            journal.call(self.load, self.saved())

    def saved(self) -> tuple[Any, ...]:
        """See `journal.Saved`; definitions, data and problems are noted where they change."""
        redefined, ops = self._redefined, self._ops
        return redefined.copy() if redefined else {}, ops.copy() if ops else [], self.view.saved()

    def load(self, saved: Any) -> None:
        """See `journal.Saved`."""
        self._redefined, self._ops, view = saved
        self.view.load(view)

    def update_components(self, rows: list[Any], notation: Notation) -> list[Diagnostic]:
        """Rulebook section 4."""
        self.note()
        if self.view.live:
            self.compile()
        changed, problems = self.store.update(rows, self.id, notation, strict=self._strict)
        self._reports.forget(changed)
        if self.view.live:
            self._redefined.update(dict.fromkeys(changed))
        return problems

    def update_data(self, message: UpdateDataModel) -> list[Diagnostic]:
        """Rulebook section 6. Raises PointerError, DataError or LimitError, and then has changed nothing."""
        self.note()
        tokens = parse(message.path)
        model, live = self._model, self.view.live
        if live:
            self.compile()
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
        if self.view.guards:
            self.view.stirred = True
        if touch.kind == "set":
            index.changed(touch.tokens, old, read(model.now, touch.tokens), model.now)
        else:
            splice = Splice(touch.tokens[:-1], int(touch.tokens[-1]), touch.kind == "insert", moving)
            index.spliced(splice, model.now)

    def patch(self, operations: Sequence[Any], *, budgeted: bool = True) -> None:
        """RFC 6902 on the data model, atomic. Raises PatchError."""
        self.note()
        model = self._model
        if not self.view.live:
            model.patch(operations, budgeted=budgeted)
            return
        self.compile()
        before = model.value
        touched = model.patch(operations, budgeted=budgeted)
        moving = len(operations) == 1 and [touch.kind for touch in touched] == ["remove", "insert"]
        if len(touched) == 1 or (moving and touched[0].tokens[:-1] == touched[1].tokens[:-1]):
            for touch in touched:
                self._touched(touch, read(before, touch.tokens), moving=moving)
            return
        # Indices of several operations refer to states in between. Below the outermost places that were touched,
        # comparing what was with what is gives the same and is cheap: what did not change is the same object.
        for tokens in outermost(
            [touch.tokens if touch.kind == "set" else touch.tokens[:-1] for touch in touched]
        ):
            self.view.index.changed(tokens, read(before, tokens), read(model.now, tokens), model.now)

    def change_calls(self, change: Callable[[AgentCalls], None]) -> None:
        """Changes what is known of the calls of agents' functions. Whatever shows one otherwise now becomes fragments.
        Raises RuntimeError for a surface that cannot make any."""
        self.note()
        view = self.view
        if view.calls is None:
            raise RuntimeError("This surface calls no functions of agents.")
        if view.live:
            self.compile()
        before = view.calls.looks()
        change(view.calls)
        if view.live:
            mark(view, view.calls, before)

    def settle(self) -> None:
        """Makes the fragments for everything that has changed."""
        self.note()
        view = self.view
        if view.live and (self._redefined or view.index.dirty or view.index.lists or view.stirred):
            redefined, self._redefined = self._redefined, {}
            made = self._repainted(redefined)
            self._ops += made

    def _repainted(self, redefined: dict[str, None]) -> list[Op]:
        return Repaint(self.view, redefined).run()

    def take_ops(self) -> list[Op]:
        """The fragments since the last call."""
        self.settle()
        ops, self._ops = self._ops, []
        return ops

    def forget_ops(self) -> None:
        """No page has this surface: fragments that were made are for nobody."""
        self.note()
        self._ops = []

    def fresh(self) -> str:
        """The whole surface for a page that has none of it yet; no fragments are due after it."""
        html = self.html()
        self._ops = []
        return html

    def rest(self) -> None:
        """Lets go of how it is compiled. It stays on pages, as one from a snapshot is: drawn anew before it changes.
        No fragments may be due."""
        before = self.view
        self._renew()
        before.fall_apart()
        before.compiler.work.begin()
        for component in self.store:
            component.rest()

    def _renew(self) -> None:
        before = self.view
        self.view = View(
            self.dom_id,
            self.store,
            before.options,
            before.compiler,
            self._model,
            before.report,
            self._journal,
        )
        self.view.asked = before.asked
        if self.calls is not None:
            self.calls.forget_all()

    def report(self, error: A2uiError) -> None:
        """Takes note of a problem that belongs to no component."""
        self._reports.add(error, "")

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
            **({} if self.metadata is None else {"metadata": self.metadata}),
            **({"calls": made} if (made := self.calls and self.calls.snapshot()) else {}),
            **self.store.snapshot(),
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Fills a new surface from `snapshot()`."""
        self._model.write((), data["dataModel"])
        self.store.restore(data)
        self.view.asked = dict(data.get("asked", {}))
        if self.calls is not None and "calls" in data:
            self.calls.restore(data["calls"])


def _ink(colour: str) -> str:
    """Which of black and white can be read on the colour: the stylesheet sets it by this attribute."""
    parsed = parse_hex(colour)
    return "black" if parsed is not None and readable_on(parsed) == BLACK else "white"
