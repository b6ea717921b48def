"""System checks of what applications have registered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.staticfiles import finders
from django.core import checks
from django.core.files.storage import storages
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from a2ui import A2uiError, Engine, EngineOptions
from envelopes import flags
from envelopes.conf import conf, problems
from envelopes.delivery.rules import unknown_transports
from envelopes.errors import ValidationFailed
from envelopes.protocol.parts import check_part
from envelopes.protocol.text import is_blank
from envelopes.registries import catalogs
from envelopes.registries.actors import actors
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.tools import tools
from envelopes.registries.transports import KNOWN, transports
from envelopes.runtime.prompting import prompt_for
from envelopes.session_state.engines import with_files


@checks.register()
def part_type_names(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Names without a prefix may clash with another application's, or with what the protocol will call so (D14)."""
    return [
        checks.Warning(
            f"The part type {kind.name!r} ({part_types.place(kind.name)}) has no prefix of its own.",
            hint=f"Call it 'acme.{kind.name}', and take BEACH_ALLOW_UNPREFIXED out of the settings.",
            id="envelopes.W001",
        )
        for kind in part_types
        if not kind.canonical and "." not in kind.name
    ]


@checks.register()
def allowed_transports(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A transport that nobody can mean: parts of such a type would never arrive, and nobody would know why (D13)."""
    known = {*KNOWN, *transports.names()}
    return [
        checks.Error(
            f"The part type {kind.name!r} ({part_types.place(kind.name)}) is for transports that do not exist: "
            f"{_listed(unknown)}.",
            hint=f"Known: {_listed(known)}.",
            id="envelopes.E001",
        )
        for kind in part_types
        if (unknown := unknown_transports(kind, known))
    ]


@checks.register()
def drawings(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """What a part type says that draws it has to be there."""
    found: list[checks.CheckMessage] = []
    for kind in part_types:
        place = part_types.place(kind.name)
        if kind.template:
            try:
                get_template(kind.template)
            except (TemplateDoesNotExist, TemplateSyntaxError) as error:
                told = (
                    f"The template {kind.template!r} of the part type {kind.name!r} ({place}) cannot be used."
                )
                found.append(checks.Error(told, hint=str(error), id="envelopes.E003"))
        if kind.module and finders.find(kind.module) is None:
            told = f"The module {kind.module!r} of the part type {kind.name!r} ({place}) is no static file."
            found.append(
                checks.Error(told, hint="Put it below static/ of the application.", id="envelopes.E004")
            )
    return found


@checks.register()
def styles(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A page that links a sheet which is not there looks like one without it."""
    return [
        checks.Error(
            f"BEACH_STYLES has {name!r}, which is no static file.",
            hint="Put it below static/ of an application, and name it as `{% static %}` would.",
            id="envelopes.E011",
        )
        for name in conf.BEACH_STYLES
        if finders.find(name) is None
    ]


MOST_TAUGHT = 1_000
"""Bytes of the prompt that one part type may take: its description and its example come with every request."""


@checks.register()
def taught(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """An example that is no part of its type would teach models what is refused."""
    found: list[checks.CheckMessage] = []
    for kind in part_types:
        wrong = _wrong_in(kind)
        if wrong:
            told = f"What models read of the part type {kind.name!r} ({part_types.place(kind.name)}) cannot be used."
            found.append(checks.Error(told, hint=wrong, id="envelopes.E009"))
    return found


def _wrong_in(kind: PartType) -> str:
    try:
        if kind.example:
            check_part(kind.example_part(), origin=min(kind.origins))
        size = len(kind.taught.encode())
    except ValidationFailed as error:
        return f"The example: {error.message}"
    return f"It has {size:,} bytes, and may have {MOST_TAUGHT:,}." if size > MOST_TAUGHT else ""


@checks.register()
def described_tools(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """By its description a model chooses a tool."""
    return [
        checks.Warning(
            f"The tool {tool.name!r} of the actor {actor.name!r} ({actors.place(actor.name)}) has no description.",
            hint="Say what it does and when to use it: models read nothing else of it.",
            id="envelopes.W005",
        )
        for actor in actors
        for tool in actor.all_tools
        if is_blank(tool.description)
    ]


@checks.register()
def tags(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """An actor that asks for tools by a word that no tool has lacks them without a sign."""
    known = {tag for tool in tools for tag in tool.tags}
    return [
        checks.Warning(
            f"The actor {actor.name!r} ({actors.place(actor.name)}) has the tools tagged {tag!r}: there are none.",
            hint=f"Registered tools have these tags: {', '.join(sorted(known)) or 'none'}.",
            id="envelopes.W006",
        )
        for actor in actors
        for tag in actor.tagged
        if tag not in known
    ]


@checks.register()
def slots(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """One slot, two strategies: after a handover no single part could say what became of it (D11)."""
    found: list[checks.CheckMessage] = []
    first: dict[str, tuple[str, str]] = {}
    for actor in actors:
        for slot in actor.slots:
            name, strategy = first.setdefault(slot.key, (actor.name, slot.strategy))
            if slot.key and strategy != slot.strategy:
                told = (
                    f"The slot {slot.key!r} is {strategy!r} for the actor {name!r} ({actors.place(name)}) and "
                    f"{slot.strategy!r} for {actor.name!r} ({actors.place(actor.name)})."
                )
                hint = "Give it one strategy, or two keys: readers merge what comes for one key."
                found.append(checks.Warning(told, hint=hint, id="envelopes.W002"))
    return found


STORAGE = (
    'Add to STORAGES: "artifacts": {"BACKEND": "django.core.files.storage.FileSystemStorage", '
    '"OPTIONS": {"location": BASE_DIR / "artifacts"}}, a folder or a bucket of which nobody else has an address.'
)


@checks.register()
def artifact_storage(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Files of conversations have to be kept somewhere, and not where a server gives them to anybody."""
    alias = conf.BEACH_ARTIFACT_STORAGE
    if alias in storages.backends and alias not in ("default", "staticfiles"):
        return []
    told = f"STORAGES has no {alias!r}, which BEACH_ARTIFACT_STORAGE names: files of conversations have no place."
    if alias in storages.backends:
        told = f"BEACH_ARTIFACT_STORAGE is {alias!r}, whose files are for everybody: those of conversations are not."
    return [
        checks.Error(
            told,
            hint=STORAGE,
            id="envelopes.E005",
        )
    ]


@checks.register()
def feature_flags(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Without flags an experimental document is never shown, which a flag that is off looks like."""
    if flags.installed():
        return []
    return [
        checks.Info(
            "There are no feature flags here, so no experimental document is ever shown.",
            hint="Add 'waffle' to INSTALLED_APPS, and migrate.",
            id="envelopes.I001",
        )
    ]


@checks.register()
def default_actor(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Who answers in a new conversation has to be there."""
    name = conf.BEACH_DEFAULT_ACTOR
    if not name and not actors.names():
        return [
            checks.Warning(
                "No application registers an agent, so nobody can answer.",
                hint="`manage.py beach new-agent shop` writes one; list it in INSTALLED_APPS.",
                id="envelopes.W004",
            )
        ]
    if not name or name in actors:
        return []
    return [
        checks.Error(
            f"BEACH_DEFAULT_ACTOR is {name!r}, but no actor is called so.",
            hint=f"Known: {_listed(actors.names()) or 'none'}. An application registers its actors in its beach.py.",
            id="envelopes.E002",
        )
    ]


@checks.register()
def inline_catalogs(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A file that cannot be used would keep every conversation from being opened."""
    found: list[checks.CheckMessage] = []
    if "BEACH_INLINE_CATALOGS" in dict(problems()):
        return found
    engine = Engine(EngineOptions(own=catalogs.registered()))
    found += [
        checks.Error(
            f"BEACH_A2UI_CATALOGS has {name!r}, which is no catalog that is here.",
            hint="Name ids of catalogs; `manage.py beach registries` lists them.",
            id="envelopes.E007",
        )
        for name in conf.BEACH_A2UI_CATALOGS
        if engine.catalogs.find(name) is None
    ]
    for name in conf.BEACH_INLINE_CATALOGS:
        try:
            engine = with_files(engine, [name])
        except (OSError, ValueError, A2uiError) as error:
            at = f" at {error.path}" if isinstance(error, A2uiError) and error.path else ""
            told = error.message if isinstance(error, A2uiError) else str(error)
            found.append(
                checks.Error(
                    f"BEACH_INLINE_CATALOGS has {name!r}, which cannot be used{at}: {told}",
                    hint="Name JSON files, each with one catalog document of A2UI 1.0.",
                    id="envelopes.E006",
                )
            )
    return found


@checks.register()
def prompts(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A model that is not told of a component does not use it, and nobody would know why."""
    found: list[checks.CheckMessage] = []
    known = Engine(EngineOptions(own=catalogs.registered())).catalogs
    for actor in actors:
        told = f"The actor {actor.name!r} ({actors.place(actor.name)})"
        unknown = [name for name in actor.catalogs or () if known.find(name) is None]
        if unknown:
            hint = "Name ids of catalogs; `manage.py beach registries` lists them."
            found.append(
                checks.Error(
                    f"{told} has catalogs that are not here: {_listed(unknown)}.",
                    hint=hint,
                    id="envelopes.E060",
                )
            )
        elif left_out := prompt_for(actor).left_out:
            hint = "Put what matters most first (Actor.catalogs), or say less of each component."
            found.append(
                checks.Warning(
                    f"{told} has no room in its prompt for {len(left_out)} of its components and functions: "
                    f"{_listed(left_out[:5])}.",
                    hint=hint,
                    id="envelopes.W060",
                )
            )
    return found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
