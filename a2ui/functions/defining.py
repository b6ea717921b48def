"""What may be a function of a catalog: mistakes are told where they are made, not on a page."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from functools import partial
from typing import Any, get_args

from a2ui.errors import DefinitionError


def check(
    name: Any, evaluate: Any, callers: Any, literal: Any, arguments: Collection[str] | None, kinds: Any
) -> None:
    """Raises ``DefinitionError``. ``arguments`` are the names that the signature has, None where there is none;
    ``kinds`` is the type of ``callers``."""
    if not isinstance(name, str) or not name.isidentifier():
        raise DefinitionError(f"{name!r} is no name of a function: texts could not call it.")
    if callers not in get_args(kinds):
        raise DefinitionError(
            f"{name!r} may be called by {callers!r}, which is none of {', '.join(get_args(kinds))}."
        )
    if isinstance(literal, str):
        raise DefinitionError(
            f"`literal_args` of {name!r} is one text, not a set of names: a comma is missing."
        )
    if arguments is not None and (unknown := sorted(set(literal) - set(arguments))):
        raise DefinitionError(
            f"{name!r} has a literal argument {unknown[0]!r}, which its signature does not have."
        )
    check_signature(name, evaluate)


def module_of(evaluate: Any) -> str:
    """The name of the module in which a function is written, "" where it does not say."""
    while isinstance(evaluate, partial):
        evaluate = evaluate.func
    return str(getattr(evaluate, "__module__", "") or "")


def check_signature(name: str, evaluate: Any) -> None:
    """Raises ``DefinitionError`` for what cannot be called as a function of a catalog is."""
    if not callable(evaluate):
        raise DefinitionError(
            f"The function {name!r} has nothing to call: `evaluate` is a function of (args, env)."
        )
    if inspect.iscoroutinefunction(evaluate):
        raise DefinitionError(
            f"The function {name!r} answers while a surface is drawn, so it cannot be async."
        )
    try:
        inspect.signature(evaluate).bind({}, None)
    except TypeError as error:
        raise DefinitionError(f"The function {name!r} is called with (args, env): {error}.") from error
    except ValueError:
        # Some functions of C say nothing of what they take.
        return
