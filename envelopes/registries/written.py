"""Mistakes that anybody makes who writes a definition in Python: a forgotten comma, a text in place of a function. They
are told where they are made; in a conversation nobody could mend them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from pydantic import BaseModel, RootModel

from envelopes.errors import RegistrationError
from envelopes.registries.shown import shown_of


def check_text(owner: str, name: str, given: Any) -> None:
    """Raises ``RegistrationError`` for anything but text."""
    if not isinstance(given, str):
        raise RegistrationError(f"`{name}` of {owner} is a text, not {given!r:.60}.", name=owner)


def check_flag(owner: str, name: str, given: Any) -> None:
    """Raises ``RegistrationError`` for anything but True or False: a text such as "no" would count as yes."""
    if not isinstance(given, bool):
        raise RegistrationError(f"`{name}` of {owner} is True or False, not {given!r:.60}.", name=owner)


def check_items(owner: str, name: str, given: Any, kind: type) -> None:
    """Raises ``RegistrationError`` for anything but a list or tuple of ``kind``."""
    if isinstance(given, kind):
        raise RegistrationError(
            f"`{name}` of {owner} is one {kind.__name__}, not a tuple of them: a comma is missing.",
            name=owner,
        )
    if not isinstance(given, list | tuple):
        raise RegistrationError(f"`{name}` of {owner} is a tuple, not {given!r:.60}.", name=owner)
    if wrong := [item for item in given if not isinstance(item, kind)]:
        raise RegistrationError(f"{wrong[0]!r:.60} in `{name}` of {owner} is no {kind.__name__}.", name=owner)


def is_async(given: Callable[..., Any]) -> bool:
    """Whether what is called so is awaited: an async function, or an object whose class has an async ``__call__``."""
    return iscoroutinefunction(given) or iscoroutinefunction(getattr(given, "__call__", None))  # noqa: B004


def names_in(owner: str, name: str, given: Any) -> frozenset[str]:
    """A set, list or tuple of texts as a set. Raises ``RegistrationError`` for anything else."""
    if isinstance(given, str):
        raise RegistrationError(f"`{name}` of {owner} is one text, not a set of names.", name=owner)
    if not isinstance(given, set | frozenset | list | tuple):
        raise RegistrationError(f"`{name}` of {owner} is a set of names, not {given!r:.60}.", name=owner)
    if wrong := [one for one in given if not isinstance(one, str)]:
        raise RegistrationError(f"{wrong[0]!r:.60} in `{name}` of {owner} is no name.", name=owner)
    return frozenset(given)


def check_run(owner: str, given: Any) -> None:
    """Raises ``RegistrationError`` for what is no function of a context and arguments."""
    if not callable(given):
        raise RegistrationError(f"`run` of {owner} is a function, not {given!r:.60}.", name=owner)
    if inspect.isgeneratorfunction(given) or inspect.isasyncgenfunction(given):
        raise RegistrationError(f"`run` of {owner} returns its result once: it cannot `yield`.", name=owner)
    try:
        inspect.signature(given).bind(None, None)
    except TypeError as error:
        raise RegistrationError(
            f"`run` of {owner} is called with (context, args): {error}.", name=owner
        ) from error
    except ValueError:
        # Some functions of C say nothing of what they take.
        return


_TAG = re.compile(r"[a-z][a-z0-9-]{0,31}")


def check_tags(owner: str, given: Any) -> None:
    """Raises ``RegistrationError`` for anything but a tuple of different words of a-z, 0-9 and -: one that is written
    in two ways would be two."""
    if not isinstance(given, tuple):
        raise RegistrationError(f"Tags of {owner} are a tuple of words, not {given!r:.60}.", name=owner)
    for tag in given:
        if not isinstance(tag, str) or not _TAG.fullmatch(tag):
            raise RegistrationError(
                f"{tag!r:.60} of {owner} is no tag: it has to match {_TAG.pattern}.", name=owner
            )
    if len(set(given)) < len(given):
        raise RegistrationError(f"A tag of {owner} is there twice: {', '.join(given)}.", name=owner)


def check_input(owner: str, given: Any) -> None:
    """Raises ``RegistrationError`` for what is no pydantic model of an object, or for one that marks fields which it
    does not have."""
    if not isinstance(given, type) or not issubclass(given, BaseModel):
        raise RegistrationError(
            f"`input` of {owner} is a pydantic model, a class, not {given!r:.60}.", name=owner
        )
    if issubclass(given, RootModel):
        raise RegistrationError(
            f"`input` of {owner} is an object with fields; {given.__name__} is a RootModel.", name=owner
        )
    for field, info in given.model_fields.items():
        beside = shown_of(info).beside
        if beside and beside not in given.model_fields:
            raise RegistrationError(
                f"{given.__name__}.{field} of {owner} stands beside {beside!r}, which is no field of it.",
                name=owner,
            )


def check_provider(owner: str, name: str, given: Any) -> None:
    """Raises ``RegistrationError`` for what does not give a model when it is called. What it gives is not known before
    it is: of a class only its own names are."""
    if not callable(given):
        raise RegistrationError(
            f"`{name}` of {owner} is called for each turn: it is a function that gives a model, not {given!r:.60}.",
            name=owner,
        )
    if is_async(given):
        raise RegistrationError(
            f"`{name}` of {owner} gives a model at once, so it cannot be async.", name=owner
        )
    try:
        inspect.signature(given).bind()
    except TypeError as error:
        raise RegistrationError(
            f"`{name}` of {owner} is called with nothing: {error}.", name=owner
        ) from error
    except ValueError:
        # Some functions of C say nothing of what they take.
        return
    stream = getattr(given, "stream", None) if isinstance(given, type) else None
    if iscoroutinefunction(stream) or inspect.isgeneratorfunction(stream):
        raise RegistrationError(
            f"`stream` of {given.__name__}, `{name}` of {owner}, has to be an async generator: `async def` with "
            "`yield`.",
            name=owner,
        )
    if isinstance(given, type) and (lacking := [word for word in _MODEL if not _has(given, word)]):
        raise RegistrationError(
            f"`{name}` of {owner} is {given.__name__}, which has no `{lacking[0]}`: see envelopes.providers.port.",
            name=owner,
        )


_MODEL = ("stream", "label", "name", "model")


def _has(kind: type, word: str) -> bool:
    """Whether objects of a class will have it. One that sets things as it is made may set this too."""
    return hasattr(kind, word) or "__init__" in {name for one in kind.__mro__[:-1] for name in vars(one)}
