"""All live surfaces of one session: messages and edits in, fragments, actions and snapshots out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from a2ui.catalog.schema.strict import strict_problems
from a2ui.errors import VALIDATION_FAILED, A2uiError, Diagnostic, PatchError
from a2ui.interaction.act import ClientAction, OpenUrl, act
from a2ui.interaction.edit import Edit, edit
from a2ui.interaction.locate import locate
from a2ui.interaction.more import More, more
from a2ui.protocol.adapters import adapter_for
from a2ui.protocol.adapters.running import Run
from a2ui.protocol.messages import (
    CreateSurface,
    DeleteSurface,
    ServerMessage,
    UpdateComponents,
    read,
)
from a2ui.protocol.versions import NATIVE
from a2ui.rendering.place import Op
from a2ui.safety.collecting import paused
from a2ui.safety.ids import number
from a2ui.state.creating import created, restored
from a2ui.state.reserved import check_names, without_names
from a2ui.state.surface import Surface
from a2ui.state.values import JSON

if TYPE_CHECKING:
    from a2ui.engine import Engine

_LOOKED_FOR = 100
STATE_ERROR = "STATE_ERROR"

_SNAPSHOT_FORMAT = 1


class SurfaceChange(NamedTuple):
    """What happened to a surface since the last flush.

    `created`: `html` is the whole element, there are no ops. `updated`: `ops` are the fragments in the order in
    which they have to be applied (D41). `deleted`: the element `dom_id` goes.
    """

    kind: Literal["created", "updated", "deleted"]
    owner: str
    surface_id: str
    dom_id: str
    html: str
    ops: list[Op]


class SurfaceSet:
    """The surfaces of one session. Not safe for use by several threads at once.

    Messages and operations are kept as they come: do not change them afterwards.
    """

    def __init__(self, engine: Engine) -> None:
        """Use `Engine.surfaces()`."""
        self._engine = engine
        self._surfaces: dict[tuple[str, str], Surface] = {}
        self._by_dom_id: dict[str, Surface] = {}
        self._counter = 0
        self._new: dict[Surface, None] = {}
        self._touched: dict[Surface, None] = {}
        self._gone: list[SurfaceChange] = []
        self._problems: list[Diagnostic] = []

    # ------------------------------------------------------------------ messages

    def apply(self, message: object, *, owner: str = "") -> list[Diagnostic]:
        """Applies one A2UI message of an agent: all of it, or, with a refused problem, nothing (rulebook 2).

        Never raises for bad input.
        """
        if type(message) is dict and message.get("version") not in NATIVE:
            run = self._translated(owner)
            adapter = adapter_for(message, run)
            if adapter is not None:
                return self._capped(run.run(adapter, message))
        typed = read(message, self._engine.options.limits)
        if isinstance(typed, list):
            return self._capped(typed)
        try:
            return self._capped(self._strictly(message, typed, owner) or self._apply(typed, owner))
        except A2uiError as error:
            return [Diagnostic.from_error(error, surface_id=typed.surface_id, refused=True)]

    def _translated(self, owner: str) -> Run:
        """What applies the messages of other versions."""
        engine = self._engine
        return Run(
            engine.catalogs,
            engine.options.limits,
            lambda surface_id: self._surfaces.get((owner, surface_id)),
            lambda typed: self._apply(typed, owner),
            self._undo(),
        )

    def _undo(self) -> Callable[[], None]:
        """What brings back the surfaces that there are now, and only those."""
        surfaces, by_dom_id, counter = dict(self._surfaces), dict(self._by_dom_id), self._counter
        new, touched, gone = dict(self._new), dict(self._touched), list(self._gone)

        def undo() -> None:
            self._surfaces, self._by_dom_id, self._counter = surfaces, by_dom_id, counter
            self._new, self._touched, self._gone = new, touched, gone

        return undo

    def _strictly(self, message: Any, typed: ServerMessage, owner: str) -> list[Diagnostic]:
        """In strict mode: what the schema of the surface's catalog refuses (5.1)."""
        if not self._engine.options.strict:
            return []
        if isinstance(typed, CreateSurface):
            catalog = self._engine.catalogs.find(typed.catalog_id)
        else:
            surface = self._surfaces.get((owner, typed.surface_id))
            catalog = surface.catalog if surface is not None else None
        return strict_problems(message, catalog) if catalog is not None else []

    def _apply(self, message: ServerMessage, owner: str) -> list[Diagnostic]:
        if self._engine.options.reserved is not None:
            check_names(message, owner, self._engine.options.reserved)
        surface = self._surfaces.get((owner, message.surface_id))
        if isinstance(message, CreateSurface):
            return self._create(message, owner, surface)
        if isinstance(message, DeleteSurface):
            if surface is not None:
                self._delete(surface)
            return []
        if surface is None:
            raise A2uiError(
                f"Surface not found: {message.surface_id[:60]!r}. Create it first.",
                code=STATE_ERROR,
                path="/surfaceId",
                fault="agent",
            )
        self._touch(surface)
        if isinstance(message, UpdateComponents):
            with paused():
                return surface.update_components(message)
        return surface.update_data(message)

    def _touch(self, surface: Surface) -> None:
        """The surface is about to change. One from a snapshot is on pages already: it is drawn before, or nobody
        would know which fragments bring those pages up to date."""
        if not surface.view.live and surface not in self._new:
            surface.html()
        self._touched[surface] = None

    def _create(self, message: CreateSurface, owner: str, existing: Surface | None) -> list[Diagnostic]:
        if existing is not None:
            raise A2uiError(
                f"Surface {message.surface_id[:60]!r} exists already.",
                code=STATE_ERROR,
                path="/surfaceId",
                fault="agent",
            )
        dom_id = f"a{number(self._counter + 1)}"
        surface, problems = created(self._engine, message, owner, dom_id, beside=len(self._surfaces))
        if surface is not None:
            self._counter += 1
            self._add(surface)
            self._new[surface] = None
        return problems

    def _add(self, surface: Surface) -> None:
        self._surfaces[surface.owner, surface.id] = surface
        self._by_dom_id[surface.dom_id] = surface

    def _delete(self, surface: Surface) -> None:
        del self._surfaces[surface.owner, surface.id]
        del self._by_dom_id[surface.dom_id]
        self._touched.pop(surface, None)
        self._problems += surface.take_problems()
        if surface in self._new:
            # No page has ever heard of it.
            del self._new[surface]
        else:
            self._gone.append(SurfaceChange("deleted", surface.owner, surface.id, surface.dom_id, "", []))

    def _capped(self, problems: list[Diagnostic]) -> list[Diagnostic]:
        allowed = self._engine.options.limits.errors
        if len(problems) <= allowed:
            return problems
        # A refusal must not be cut off: it is what the host looks for.
        problems = sorted(problems, key=lambda problem: not problem.refused)
        # Whoever finds a hundred stops looking.
        least = "At least " if len(problems) >= _LOOKED_FOR else ""
        more = f"{least}{len(problems) - allowed} more problems of this message are not listed."
        first = problems[0]
        return [*problems[:allowed], Diagnostic(VALIDATION_FAILED, more, "", first.surface_id, first.refused)]

    def patch(self, owner: str, surface_id: str, ops: Sequence[Any]) -> None:
        """RFC 6902 on the data model of a surface, atomic. Raises PatchError; `not_found` for no such surface."""
        surface = self.get(owner, surface_id)
        if surface is None:
            raise PatchError("There is no such surface.", code="not_found")
        self._touch(surface)
        surface.patch(ops)

    def apply_edit(self, edit: Edit) -> None:
        """Applies what `edit` returned; unlike `patch` without limit on the number of operations (D30)."""
        surface = self.get(edit.owner, edit.surface_id)
        if surface is None:
            raise PatchError("There is no such surface.", code="not_found")
        self._touch(surface)
        surface.patch(edit.ops, budgeted=False)

    def apply_more(self, more: More) -> None:
        """Applies what `more` returned. A list that is gone by now is nothing to speak of."""
        instance = locate(self._by_dom_id, more.target)
        if instance is not None and instance.place.slot is not None:
            instance.surface.view.listing.show(instance.place.slot, instance.context, more.count)
            self._touched[instance.surface] = None

    # ------------------------------------------------------------------ reading

    def get(self, owner: str, surface_id: str) -> Surface | None:
        return self._surfaces.get((owner, surface_id))

    def __iter__(self) -> Iterator[Surface]:
        """The live surfaces, oldest first."""
        return iter(list(self._surfaces.values()))

    def __len__(self) -> int:
        return len(self._surfaces)

    def flush(self) -> list[SurfaceChange]:
        """What changed since the last flush: first what went, then what came and what changed."""
        changes, self._gone = self._gone, []
        for surface in self._new:
            with paused():
                html = surface.fresh()
            changes.append(SurfaceChange("created", surface.owner, surface.id, surface.dom_id, html, []))
        for surface in self._touched:
            if surface not in self._new:
                ops = surface.take_ops()
                if ops:
                    changes.append(
                        SurfaceChange("updated", surface.owner, surface.id, surface.dom_id, "", ops)
                    )
        self._new.clear()
        self._touched.clear()
        return changes

    def diagnostics(self) -> list[Diagnostic]:
        """Problems found while rendering (EXPRESSION_ERROR, limits) since the last call, once per cause (5.2)."""
        problems, self._problems = self._problems, []
        for surface in self._surfaces.values():
            problems += surface.take_problems()
        return problems

    def client_data_model(self, owner: str) -> dict[str, Any] | None:
        """`a2uiClientDataModel` for messages to this agent, None if it asked for none (14.2)."""
        wanted = [s for s in self._surfaces.values() if s.owner == owner and s.send_data_model]
        if not wanted:
            return None
        return {"version": wanted[0].version, "surfaces": {s.id: s.data_model for s in wanted}}

    # ------------------------------------------------------------------ what people do

    def edit(self, target: str, value: JSON, *, conceal: Callable[[JSON], JSON] | None = None) -> Edit:
        """What a browser sent for the input with this DOM id, checked and as a patch; nothing is applied.

        `conceal` gets the value of an obscured field and returns the handle `{"$secret": ...}` that stands for it
        in the patch (D24). Raises InputError: `not_found`, `not_writable` (its value is not bound), `DATA_ERROR`
        (the data has no place for it), `VALIDATION_FAILED` (not a value for this input).
        """
        return edit(locate(self._by_dom_id, target), value, conceal)

    def act(self, target: str) -> ClientAction | OpenUrl | None:
        """A click on the button with this DOM id, resolved from the server's own state (R2, section 13).

        None: a function without effect ran. Raises ActionError: `not_found`, `disabled`, `EXPRESSION_ERROR`.
        """
        return act(locate(self._by_dom_id, target), self._engine.options)

    def more(self, target: str) -> More:
        """A click on "show more" under the list with this DOM id; nothing is applied. Raises ActionError."""
        return more(locate(self._by_dom_id, target), target)

    # ------------------------------------------------------------------ snapshots

    def snapshot(self) -> dict[str, Any]:
        """Everything needed to go on in another process with the same DOM ids, as JSON. Flush before."""
        return {
            "format": _SNAPSHOT_FORMAT,
            "counter": self._counter,
            "surfaces": [surface.snapshot() for surface in self._surfaces.values()],
        }

    def load(self, snapshot: Mapping[str, Any]) -> None:
        """Fills an empty set from `snapshot()`; use `Engine.restore`. Its surfaces count as known to the page.

        Raises A2uiError for a snapshot of another format or of a catalog that is not there.
        """
        if snapshot.get("format") != _SNAPSHOT_FORMAT:
            raise A2uiError(
                "The snapshot has a format that this version does not know.", code="SNAPSHOT_FORMAT"
            )
        self._counter = int(snapshot["counter"])
        reserved = self._engine.options.reserved
        for data in snapshot["surfaces"]:
            kept = data if reserved is None else without_names(data, reserved)
            if kept is not None:
                self._add(restored(self._engine, kept))
