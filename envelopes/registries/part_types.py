"""Part types: what a part may be, who may emit it, and what each class of transport does with it.

``envelopes.part_types`` has those of the respond() and envelope documents; cells of the delivery table that they leave
out are settled by decisions D4 and D12.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from pydantic import BaseModel, ValidationError

from envelopes.conf import conf
from envelopes.errors import RegistrationError
from envelopes.registries import declared, retelling
from envelopes.registries.base import LONGEST_NAME, Registry, check_name
from envelopes.registries.policies import check_callable
from envelopes.registries.retelling import Retell
from envelopes.registries.written import check_flag, check_text, names_in
from envelopes.types import JsonObject

Origin = Literal["actor", "runtime", "inbound"]
Delivery = declared.Delivery
"""At once; whole, when it is there; with others of its kind, when the turn settles; not at all."""
Cell = Delivery | Literal["audit-only", "inbound-only"]
"""Of the delivery table: why a part never leaves, where it does not."""
Presence = Literal["required", "optional", "none"]

_FLAGS = (
    "streams_text",
    "requires_peer_consumes",
    "canonical",
    "requires_surfaces",
    "verbatim_to_peers",
    "allowed_late",
    "asks_person",
    "sets_state",
    "decides",
    "may_retry",
    "is_file",
)
_FUNCTIONS = {
    "retold": ("part",),
    "in_words": ("data",),
    "for_staff": ("data",),
    "kept": (),
    "offered": ("actor",),
    "data_schema": (),
}
_CELLS: tuple[str, ...] = (*get_args(Delivery), "audit-only", "inbound-only")

ACTOR: frozenset[Origin] = frozenset({"actor", "runtime"})
RUNTIME: frozenset[Origin] = frozenset({"runtime"})
INBOUND: frozenset[Origin] = frozenset({"inbound"})
ANYONE = ACTOR | INBOUND


@dataclass(frozen=True)
class PartType:
    """One part type.

    ``data_model`` checks ``data``. What follows is the delivery table, which ``delivery.rules`` alone reads:
    ``streaming`` and ``buffered`` say what that class of connections does with it. ``streams_text``: its text may be
    shown while the call that holds it is still being written (D7). ``allowed_transports``: by no others.
    ``requires_peer_consumes``: only for programs that ask for it by name. ``requires_surfaces``: only for whoever can
    render interfaces, or asks for it by name. ``verbatim_to_peers``: peers get it whatever the cells say (D12).
    ``allowed_late``: it speaks of something that is there already, so it may come after its turn has settled.
    ``asks_person``: it suspends its turn until a person has answered it. ``sets_state``: its data is a change of the
    session's state, which is made before anybody gets it, or refused (``turns.states``). ``decides``: it is what a
    person has decided of what such a part asked; it comes on its own, with no message. ``may_retry``: its data may name
    a ``retryPolicy``, by which the runtime tries again once a turn has settled with it (``turns.retrying``).
    ``is_file``: its data refers to a file, by ``artifactId`` or ``url``; a later one with the same id tells of that
    file as it is then.

    What holds for one call of respond(): it ``replaces`` parts of these types, so that no call has both; no call
    declares the turn state ``needed_for`` without such a part.

    ``template`` is a Django template that draws such a part on pages, from ``part``, ``text``, ``data``, ``id`` and
    ``locale``. ``module`` is the static path of an ES module that defines the custom element ``acme-board`` for the
    type ``acme.board``: it gets the part as JSON in ``data-part``, and holds what the template drew. Without either,
    data is drawn as data.

    ``description`` is what models read of it in the prompt, a few words, and ``example`` a part of it, without its
    ``partType``: both come with every request, and so does the JSON Schema of its data, that of ``data_model`` unless
    ``data_schema`` gives another. ``offered`` says whether models of an actor are told of it at all: of what the
    runtime makes by itself, or what nobody there could read, they need not know. It gets the ``Actor``, or None.

    ``retold`` says what models of later turns read of such a part; where it is None they read that there was one, if
    its turn has said nothing else. ``in_words`` says in a line what staff read of it in the log: its text where there
    is none, and of a part without text that there was one. ``for_staff`` is what they see of its row's data, all of it
    where there is none. ``kept`` says whether rows of it are stored at all, asked each time.
    """

    name: str
    origins: frozenset[Origin]
    streaming: Cell
    buffered: Cell
    text: Presence = "optional"
    data: Presence = "none"
    data_model: type[BaseModel] | None = None
    streams_text: bool = False
    allowed_transports: frozenset[str] | None = None
    requires_peer_consumes: bool = False
    canonical: bool = False
    requires_surfaces: bool = False
    verbatim_to_peers: bool = False
    allowed_late: bool = False
    asks_person: bool = False
    sets_state: bool = False
    decides: bool = False
    may_retry: bool = False
    is_file: bool = False
    replaces: frozenset[str] = frozenset()
    needed_for: str = ""
    description: str = ""
    example: JsonObject = field(default_factory=dict, hash=False)
    retold: Retell | None = retelling.words
    in_words: Callable[[JsonObject], str] | None = None
    for_staff: Callable[[JsonObject], JsonObject] | None = None
    kept: Callable[[], bool] | None = None
    template: str = ""
    module: str = ""
    offered: Callable[[Any], bool] | None = None
    data_schema: Callable[[], JsonObject] | None = None

    def __post_init__(self) -> None:
        owner = f"the part type {self.name!r}"
        self._check_shapes(owner)
        self._check_table(owner)
        if self.data_model is not None and not _is_model(self.data_model):
            raise RegistrationError(
                f"`data_model` of {owner} is a pydantic model, a class, not {self.data_model!r:.60}.",
                name=str(self.name),
            )
        if self.data_model is not None and self.data == "none":
            raise RegistrationError(
                f"{owner} has a `data_model` and no data: say data='required' or 'optional'.",
                name=str(self.name),
            )
        self._check_example(owner)
        if self.module and not self.module.endswith(".js"):
            raise RegistrationError(
                f"The module {self.module!r} of {owner} is no script.", name=str(self.name)
            )

    def _check_shapes(self, owner: str) -> None:
        for name in ("origins", "allowed_transports", "replaces"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, names_in(owner, name, given))
        for name in _FLAGS:
            check_flag(owner, name, getattr(self, name))
        for name in ("needed_for", "description", "template", "module"):
            check_text(owner, name, getattr(self, name))
        for name, arguments in _FUNCTIONS.items():
            if (given := getattr(self, name)) is not None:
                check_callable(f"`{name}` of {owner}", given, *arguments)

    def _check_table(self, owner: str) -> None:
        if unknown := sorted(self.origins - set(get_args(Origin))):
            raise RegistrationError(
                f"Nobody is called {unknown[0]!r} who could emit {owner}: {', '.join(get_args(Origin))}.",
                name=str(self.name),
            )
        if not self.origins:
            raise RegistrationError(f"Nobody may emit {owner}.", name=str(self.name))
        for name in ("streaming", "buffered"):
            if getattr(self, name) not in _CELLS:
                raise RegistrationError(
                    f"`{name}` of {owner} is {getattr(self, name)!r}, which is none of {', '.join(_CELLS)}.",
                    name=str(self.name),
                )
        for name in ("text", "data"):
            if getattr(self, name) not in get_args(Presence):
                raise RegistrationError(
                    f"`{name}` of {owner} is {getattr(self, name)!r}: one of {', '.join(get_args(Presence))}.",
                    name=str(self.name),
                )

    def _check_example(self, owner: str) -> None:
        """What it shows is what models are told to write."""
        example: object = self.example
        if not isinstance(example, Mapping) or not example.keys() <= {"text", "data", "metadata"}:
            raise RegistrationError(
                f"`example` of {owner} is a part without its partType, such as {{'data': {{...}}}}, "
                f"not {example!r:.60}.",
                name=str(self.name),
            )
        if self.data_model is None or "data" not in example:
            return
        try:
            self.data_model.model_validate(example["data"])
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            place = "".join(f"/{step}" for step in wrong["loc"]) or "/"
            raise RegistrationError(
                f"The data of `example` of {owner} is no {self.data_model.__name__}: {place}: {wrong['msg']}.",
                name=str(self.name),
            ) from error

    def example_part(self) -> JsonObject:
        """The example as it would stand in a call of respond(); empty where there is none."""
        if not self.example:
            return {}
        metadata = {"partType": self.name, **self.example.get("metadata", {})}
        return {"metadata": metadata, **{key: self.example[key] for key in self.example if key != "metadata"}}

    @cached_property
    def taught(self) -> str:
        """Its line in the prompt."""
        example = self.example_part()
        told = [f"`{self.name}`{': ' if self.description else ''}{self.description}"]
        if example:
            told.append(json.dumps(example, ensure_ascii=False, separators=(",", ":")))
        return "; ".join(told)


def _is_model(given: Any) -> bool:
    return isinstance(given, type) and issubclass(given, BaseModel)


class PartTypeRegistry(Registry[PartType]):
    """Part types by name; a consumer's own need a namespace (``acme.board``, D14)."""

    _NAME = re.compile(rf"(?=.{{1,{LONGEST_NAME}}}$)" r"[a-z][A-Za-z0-9-]*(\.[A-Za-z0-9][A-Za-z0-9-]*)*")

    def register(self, item: PartType | Mapping[str, object]) -> PartType:
        """Also takes a type as the sources write it (``registries.declared``)."""
        if isinstance(item, Mapping):
            given = declared.read(declared.DeclaredPartType, self.kind, item)
            item = PartType(given.name, ACTOR, data="optional", **given.fields())
        check_name(self.kind, item.name, self._NAME)
        if not item.canonical and "." not in item.name and not conf.BEACH_ALLOW_UNPREFIXED:
            raise RegistrationError(
                f"The part type {item.name!r} needs a prefix of its own, such as 'acme.{item.name}'.",
                name=item.name,
            )
        if item.module and "." not in item.name:
            raise RegistrationError(
                f"The part type {item.name!r} brings a module, so it needs a prefix: its element would have no hyphen.",
                name=item.name,
            )
        return super().register(item)


part_types = PartTypeRegistry("part type")
