"""System checks of settings: what cannot work is refused at start, and what nobody reads is told, with the setting to
change."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any
from urllib.parse import urlsplit

from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.apps import apps
from django.conf import settings
from django.core import checks
from django.db import connection

from a2ui import Limits
from envelopes.conf import KNOWN, conf, problems
from envelopes.costs import is_priced
from envelopes.engine_settings import limit_problems

HOST = re.compile(r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?")
DECLARED = "beach_settings"
"""The attribute of an ``AppConfig`` with the names of further settings that its application reads."""
REDIS_SCHEMES = ("redis://", "rediss://", "unix://")


@checks.register()
def processes(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Turns that run in one process and sockets in another need a database and a channel layer that both reach."""
    found: list[checks.CheckMessage] = []
    if {"BEACH_EXECUTOR", "BEACH_PROCESSES"} & dict(problems()).keys():
        return found
    worker = conf.BEACH_EXECUTOR == "worker"
    several = worker or conf.BEACH_PROCESSES > 1
    why = "BEACH_EXECUTOR is worker" if worker else f"BEACH_PROCESSES is {conf.BEACH_PROCESSES}"
    if several and _is_in_memory():
        found.append(
            checks.Error(
                f"{why}, but the channel layer lives inside one process, so what one writes another never hears of.",
                hint="Set REDIS_URL, for instance redis://127.0.0.1:6379/0; in settings of your own, CHANNEL_LAYERS.",
                id="envelopes.E030",
            )
        )
    if worker and connection.vendor == "sqlite":
        found.append(
            checks.Error(
                "BEACH_EXECUTOR is worker, but the database is SQLite, which worker machines cannot share.",
                hint="Set DATABASE_URL to a PostgreSQL database, or BEACH_EXECUTOR to inprocess.",
                id="envelopes.E031",
            )
        )
    return found


@checks.register()
def addresses(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Addresses that are compared or copied literally must have exactly the form that the comparison expects."""
    found: list[checks.CheckMessage] = [
        checks.Error(
            f"BEACH_ALLOWED_ORIGINS has {origin!r}, which is not a full origin.",
            hint="Write scheme, host and, unless it is the usual one, port: https://chat.example.com",
            id="envelopes.E032",
        )
        for origin in _listed("BEACH_ALLOWED_ORIGINS")
        if not _is_origin(origin)
    ]
    found += [
        # It becomes part of a header, where a stray semicolon would start another directive.
        checks.Error(
            f"BEACH_IMAGE_HOSTS has {host!r}, which is not a host name.",
            hint="Write the host alone: images.example.com or *.example.com",
            id="envelopes.E033",
        )
        for host in _listed("BEACH_IMAGE_HOSTS")
        if not HOST.fullmatch(host)
    ]
    if conf.REDIS_URL and not conf.REDIS_URL.startswith(REDIS_SCHEMES):
        found.append(
            checks.Error(
                "REDIS_URL is not the address of a Redis server.",
                hint=f"It starts with one of: {', '.join(REDIS_SCHEMES)}",
                id="envelopes.E034",
            )
        )
    return found


@checks.register()
def limits(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A limit with a wrong name would be one that nobody set."""
    names = ", ".join(field.name for field in fields(Limits))
    return [
        checks.Error(problem, hint=f"The limits are: {names}.", id="envelopes.E035")
        for problem in limit_problems(conf.BEACH_A2UI_LIMITS)
    ]


@checks.register()
def kinds(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A setting of another kind than its default is an error of the first request otherwise, or of each."""
    return [
        checks.Error(sentence, hint=f"Change {name} in the settings, or leave it out.", id="envelopes.E036")
        for name, sentence in problems()
    ]


@checks.register()
def threads(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """The threads of the database keep their connections; requests must find one too."""
    pool = connection.settings_dict["OPTIONS"].get("pool")
    if not isinstance(pool, dict) or "BEACH_DATABASE_THREADS" in dict(problems()):
        return []
    kept, most = conf.BEACH_DATABASE_THREADS + 2, pool.get("max_size") or pool.get("min_size", 4)
    if kept < most:
        return []
    return [
        checks.Error(
            f"The threads of the database keep {kept} connections, and its pool has {most}: requests get none.",
            hint="Lower BEACH_DATABASE_THREADS, or raise max_size of the pool in DATABASES.",
            id="envelopes.E037",
        )
    ]


COSTS = ("BEACH_TURN_COST", "BEACH_PERSON_DAY_COST", "BEACH_ADDRESS_DAY_COST", "BEACH_DAY_COST")


@checks.register()
def prices(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Where models have no price, nothing ever reaches a bound on cost."""
    if {*COSTS, "BEACH_PRICES", *_KEYS, *_KEYS.values()} & dict(problems()).keys():
        return []
    bounds = [name for name in COSTS if getattr(conf, name) > 0]
    models = [(name, getattr(conf, name)) for key, name in _KEYS.items() if getattr(conf, key)]
    unpriced = [f"{model} ({name})" for name, model in models if model and not is_priced(model)]
    if not bounds or (conf.BEACH_PRICES and not unpriced):
        return []
    are = "is" if len(bounds) == 1 else "are"
    missing = f"has no price for {' and '.join(unpriced)}" if unpriced else "is empty"
    return [
        checks.Warning(
            f"{', '.join(bounds)} {are} set, but BEACH_PRICES {missing}, so answers count as free.",
            hint='Set BEACH_PRICES to what a million tokens cost: {"claude-sonnet-5-5": {"input": 3, "output": 15}}.',
            id="envelopes.W033",
        )
    ]


_KEYS = {"ANTHROPIC_API_KEY": "BEACH_MODEL", "OPENAI_API_KEY": "BEACH_OPENAI_MODEL"}
"""The models that are in use, by the setting with which they are."""


@checks.register(deploy=True)
def public(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """What is right on one's own machine and rarely meant on a public one."""
    found: list[checks.CheckMessage] = []
    if conf.BEACH_ANONYMOUS:
        found.append(
            checks.Warning(
                "BEACH_ANONYMOUS is on: whoever opens the page talks to the agent, at your expense.",
                hint="Unset BEACH_ANONYMOUS, or silence envelopes.W030 if that is what you want.",
                id="envelopes.W030",
            )
        )
    if "*" in settings.ALLOWED_HOSTS:
        found.append(
            checks.Warning(
                "ALLOWED_HOSTS accepts any name, and the origin check of sockets relies on it.",
                hint="Set ALLOWED_HOSTS to the public host names.",
                id="envelopes.W031",
            )
        )
    return found


@checks.register()
def unknown(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A name that nobody reads was meant for another one."""
    known = set(KNOWN).union(*(getattr(one, DECLARED, ()) for one in apps.get_app_configs()))
    return [
        checks.Warning(
            f"{name} is no setting of Beach, so nothing reads it.",
            hint=_nearest(name, known),
            id="envelopes.W032",
        )
        for name in sorted(dir(settings))
        if name.startswith("BEACH_") and name not in known
    ]


def _nearest(name: str, known: set[str]) -> str:
    found = difflib.get_close_matches(name, known, 1)
    return f"Did you mean {found[0]}?" if found else "docs/settings.md has all of them."


def _is_in_memory() -> bool:
    """Whether what is said through the channel layer stays in this process; so it does where there is no layer."""
    layer = get_channel_layer()
    return layer is None or isinstance(layer, InMemoryChannelLayer)


def _listed(name: str) -> list[str]:
    """The entries of a list; none where it is no list of texts, which is an error of its own (``kinds``)."""
    return [] if name in dict(problems()) else list(getattr(conf, name))


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # Reading the port is what makes urlsplit check it.
        port = parts.port
    except ValueError:
        return False
    host = parts.hostname or ""
    plain = f"{parts.scheme}://{host}" if port is None else f"{parts.scheme}://{host}:{port}"
    return (
        parts.scheme in {"http", "https"} and bool(HOST.fullmatch(host)) and "*" not in host and text == plain
    )
