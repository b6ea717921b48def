"""All live surfaces of one session: messages and edits in, fragments, actions and snapshots out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from a2ui.data.values import JSON
from a2ui.errors import A2uiError, Diagnostic, PatchError, capped
from a2ui.interaction.act import ClientAction, OpenUrl, act
from a2ui.interaction.edit import Edit, edit
from a2ui.interaction.locate import Target, locate
from a2ui.interaction.more import More, more
from a2ui.journal import Attempt, Journal
from a2ui.options import Shared
from a2ui.protocol import answers
from a2ui.protocol.adapters import adapter_for
from a2ui.protocol.adapters.running import Run
from a2ui.protocol.dialects import dialect_of, speaks_1_0
from a2ui.protocol.messages import (
    AgentFunctionResponse,
    CallRendererFunction,
    CreateSurface,
    DeleteSurface,
    ServerMessage,
    UpdateComponents,
    read,
)
from a2ui.safety.gc_paused import gc_paused
from a2ui.safety.ids import base36
from a2ui.surface.calls import SurfaceCalls
from a2ui.surface.change import SurfaceChange
from a2ui.surface.creating import created, filled, restored
from a2ui.surface.due import CallsDue
from a2ui.surface.former import FormerIds
from a2ui.surface.refusing import schema_problems
from a2ui.surface.renderer_calls import RendererCalls
from a2ui.surface.reserved import check_names
from a2ui.surface.surface import Surface

STATE_ERROR = "STATE_ERROR"

_SNAPSHOT_FORMAT = 2


class SurfaceSet:
    """The surfaces of one session, for one thread at a time. Messages and operations are kept as they come: nobody may
    change them afterwards."""

    def __init__(self, engine: Shared, prefix: str = "a") -> None:
        """Use `Engine.surfaces()`."""
        self._prefix = prefix
        self._engine = engine
        self._journal = Journal()
        self._surfaces: dict[tuple[str, str], Surface] = {}
        self._by_dom_id: dict[str, Surface] = {}
        self._counter = 0
        self._new: dict[Surface, None] = {}
        self._touched: dict[Surface, None] = {}
        self._gone: list[SurfaceChange] = []
        self._problems: list[Diagnostic] = []
        self._former = FormerIds(self._journal)
        self.renderer_calls = RendererCalls(engine, self._surfaces, self._journal)

    # ------------------------------------------------------------------ messages

    def apply(self, message: Any, *, owner: str = "") -> list[Diagnostic]:
        """Applies one A2UI message of an agent: all of it, or, with a refused problem, nothing (rulebook 2).

        Never raises for bad input.
        """
        allowed = self._engine.options.limits.errors
        if type(message) is dict and dialect_of(message.get("version")) is None:
            run = self._translated(owner)
            adapter = adapter_for(message, run)
            if adapter is not None:
                return capped(run.run(adapter, message), allowed)
        typed = read(message, self._engine.options.limits)
        if isinstance(typed, list):
            return capped(typed, allowed)
        try:
            refused: list[Diagnostic] = []
            if self._engine.options.strict:
                surface = self._surfaces.get((owner, typed.surface_id))
                refused = schema_problems(self._engine, message, typed, surface)
            return capped(refused or self._apply(typed, owner), allowed)
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
            self._journal,
        )

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
        if isinstance(message, AgentFunctionResponse):
            return self.calls.answer(message, owner)
        if isinstance(message, CallRendererFunction):
            return self.renderer_calls.ask(message, owner)
        if surface is None:
            raise _out_of_turn(f"Surface not found: {message.surface_id[:60]!r}. Create it first.")
        self._touch(surface)
        if isinstance(message, UpdateComponents):
            with gc_paused():
                return surface.update_components(message.components, message.notation)
        return surface.update_data(message)

    def _touch(self, surface: Surface) -> None:
        """The surface is about to change. One from a snapshot is on pages already: it is drawn before, or nobody
        would know which fragments bring those pages up to date."""
        if not surface.view.live and surface not in self._new:
            surface.html()
        self._mark(self._touched, surface)

    def _mark(self, table: dict[Surface, None], surface: Surface) -> None:
        if surface not in table:
            if self._journal.on:
                self._journal.item(table, surface)
            table[surface] = None

    def _create(self, message: CreateSurface, owner: str, existing: Surface | None) -> list[Diagnostic]:
        if existing is not None:
            raise _out_of_turn(f"Surface {message.surface_id[:60]!r} exists already.")
        dom_id = f"{self._prefix}{base36(self._counter + 1)}"
        surface, problems = created(
            self._engine, message, owner, dom_id, self._journal, beside=len(self._surfaces)
        )
        if surface is not None and message.comes_filled:
            # All of it or nothing: until then nobody knows of it.
            with gc_paused():
                problems += filled(surface, message)
        if surface is not None and not any(problem.refused for problem in problems):
            if self._journal.on:
                self._journal.attribute(self, "_counter")
            self._counter += 1
            self._add(surface)
            self._mark(self._new, surface)
            if speaks_1_0(message.version):
                problems += self._former.again(owner, surface.id)
        return problems

    def _add(self, surface: Surface) -> None:
        if self._journal.on:
            self._journal.item(self._surfaces, (surface.owner, surface.id))
            self._journal.item(self._by_dom_id, surface.dom_id)
        self._surfaces[surface.owner, surface.id] = surface
        self._by_dom_id[surface.dom_id] = surface

    def _delete(self, surface: Surface) -> None:
        if self._journal.on:
            for table in (self._surfaces, self._touched, self._new):
                self._journal.entries(table)
            self._journal.item(self._by_dom_id, surface.dom_id)
            for waiting in (self._gone, self._problems):
                self._journal.elements(waiting)
        self._former.add(surface.owner, surface.id)
        del self._surfaces[surface.owner, surface.id]
        del self._by_dom_id[surface.dom_id]
        self._touched.pop(surface, None)
        self._problems += surface.take_problems()
        if surface in self._new:
            # No page has ever heard of it.
            del self._new[surface]
        else:
            self._gone.append(SurfaceChange("deleted", surface.owner, surface.id, surface.dom_id, "", []))

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
        """Applies what `more` returned. Does nothing where the list is gone by now."""
        instance = locate(self._by_dom_id, self._surfaces, more.target)
        if instance is not None and instance.place.slot is not None:
            instance.surface.view.listing.show(instance.place.slot, instance.context, more.count)
            self._mark(self._touched, instance.surface)

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
        self._note()
        changes, self._gone = [*self._gone], []
        for surface in self._new:
            with gc_paused():
                html = surface.fresh()
            changes.append(SurfaceChange("created", surface.owner, surface.id, surface.dom_id, html, []))
        for surface in self._touched:
            if surface not in self._new:
                ops = surface.take_ops()
                if ops:
                    changes.append(
                        SurfaceChange("updated", surface.owner, surface.id, surface.dom_id, "", ops)
                    )
        self._new, self._touched = {}, {}
        self.renderer_calls.forget()
        return changes

    def skip(self) -> None:
        """In place of `flush`, all along, where nobody shows the surfaces: nothing is drawn, and what changed is not
        gathered. They count as new from then on."""
        self._note()
        for surface in self._touched:
            surface.forget_ops()
            self._mark(self._new, surface)
        self._touched, self._gone, self._problems = {}, [], []
        self.renderer_calls.forget()

    def rest(self) -> None:
        """Surfaces that may not change for long need less: as after a restart, each is drawn anew before it does, and
        its fragments are the same. Flush before, and not within an attempt."""
        for surface in self._surfaces.values():
            surface.rest()

    def _note(self) -> None:
        """What waits is about to be handed out."""
        if self._journal.on:
            self._journal.call(self._back, (self._gone, self._new, self._touched, self._problems))

    def _back(self, waiting: Any) -> None:
        self._gone, self._new, self._touched, self._problems = waiting

    def diagnostics(self) -> list[Diagnostic]:
        """Problems found while rendering (EXPRESSION_ERROR, limits) since the last call, once per cause (5.2)."""
        self._note()
        problems, self._problems = [*self._problems], []
        for surface in self._surfaces.values():
            problems += surface.take_problems()
        return problems

    def data_models(self, owner: str) -> dict[str, Any]:
        """The data models that the agent asked for (14.2), as metadata of messages to it: `a2uiClientDataModel`, and
        `a2uiRendererDataModel` for surfaces of 1.0; `joined_data_models` makes one object of them."""
        wanted = [one for one in self._surfaces.values() if one.owner == owner and one.send_data_model]
        return answers.data_models((one.version, one.id, one.data_model) for one in wanted)

    @property
    def calls(self) -> SurfaceCalls:
        """The calls of agents' functions that its surfaces make; `renderer_calls` are those of agents."""
        return SurfaceCalls(self._engine, self._surfaces, self._touch)

    # ------------------------------------------------------------------ what people do

    def edit(self, target: Target, value: JSON, *, conceal: Callable[[JSON], JSON] | None = None) -> Edit:
        """What a person entered into this input, checked and as a patch; nothing is applied.

        `conceal` gets the value of an obscured field and returns the handle `{"$secret": ...}` that stands for it
        in the patch (D24). Raises InputError: `not_found`, `not_writable` (its value is not bound), `DATA_ERROR`
        (the data has no place for it), `VALIDATION_FAILED` (not a value for this input).
        """
        return edit(locate(self._by_dom_id, self._surfaces, target), value, conceal)

    def act(self, target: Target) -> ClientAction | OpenUrl | CallsDue | None:
        """A click on this button, resolved from the server's own state (R2, section 13).

        None: a function without effect ran. CallsDue: one of the agent's is to be called. Raises ActionError:
        `not_found`, `disabled`, `EXPRESSION_ERROR`; `pending` where an answer of the agent is waited for.
        """
        return act(locate(self._by_dom_id, self._surfaces, target), self._engine.options)

    def more(self, target: Target) -> More:
        """A click on "show more" under this list; nothing is applied. Raises ActionError."""
        return more(locate(self._by_dom_id, self._surfaces, target))

    # ------------------------------------------------------------------ attempts

    def attempt(self) -> Attempt:
        """What is done from here on can be undone, until the attempt is kept. It costs what it has to undo, however
        many surfaces there are. Raises RuntimeError while another one is open."""
        if self._journal.on:
            raise RuntimeError("An attempt is open: keep or undo it first.")
        self._journal.begin()
        return Attempt(self._journal)

    # ------------------------------------------------------------------ snapshots

    def snapshot(self) -> dict[str, Any]:
        """Everything needed to go on in another process with the same DOM ids, as JSON. Flush before."""
        return {
            "format": _SNAPSHOT_FORMAT,
            "counter": self._counter,
            "surfaces": [surface.snapshot() for surface in self._surfaces.values()],
            **self._former.snapshot(),
        }

    def load(self, snapshot: Mapping[str, Any], *, shown: bool = True) -> None:
        """Fills an empty set from `snapshot()`; use `Engine.restore`. Where they are `shown`, its surfaces count as
        known to pages, else as new. Raises A2uiError for another format, or a catalog that is not there."""
        if snapshot.get("format") != _SNAPSHOT_FORMAT:
            raise A2uiError(
                "The snapshot has a format that this version does not know.", code="SNAPSHOT_FORMAT"
            )
        self._counter = int(snapshot["counter"])
        self._former.load(snapshot)
        for surface in restored(self._engine, snapshot["surfaces"], self._journal):
            self._add(surface)
            if not shown:
                self._new[surface] = None


def _out_of_turn(message: str) -> A2uiError:
    return A2uiError(message, code=STATE_ERROR, path="/surfaceId", fault="agent")
