"""What settings say to the engine of interfaces."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any

from a2ui import Limits
from envelopes.conf import conf


def a2ui_limits() -> Limits:
    """The engine's limits: its defaults with BEACH_A2UI_LIMITS over them; `ValueError` for one that does not exist."""
    given = conf.BEACH_A2UI_LIMITS
    if given != {} and (problems := limit_problems(given)):
        raise ValueError(problems[0])
    return _limits(tuple(sorted(given.items())))


def limit_problems(given: Any) -> list[str]:
    """What is wrong with BEACH_A2UI_LIMITS, one sentence for each fault."""
    if not isinstance(given, dict):
        return ["BEACH_A2UI_LIMITS is a dictionary of limits by name."]
    known = {field.name for field in fields(Limits)}
    return [
        f"BEACH_A2UI_LIMITS has {name!r}, which is not a limit."
        if name not in known
        else f"BEACH_A2UI_LIMITS has {value!r} for {name!r}, which is not a whole number above 0."
        for name, value in given.items()
        if name not in known or type(value) is not int or value < 1
    ]


@lru_cache(maxsize=16)
def _limits(given: tuple[tuple[str, int], ...]) -> Limits:
    return Limits(**dict(given))


def image_hosts() -> frozenset[str]:
    """BEACH_IMAGE_HOSTS as the engine spells them: every host below one is `.example.com`, not `*.example.com`."""
    return _spelled(tuple(conf.BEACH_IMAGE_HOSTS))


@lru_cache(maxsize=16)
def _spelled(hosts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(host.lower().removeprefix("*") for host in hosts)
