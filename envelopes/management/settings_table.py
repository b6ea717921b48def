"""All settings of Beach as a table, made of ``envelopes.conf``: what ``manage.py beach settings`` prints and
docs/settings.md holds."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from envelopes import conf, model_settings

COMMAND = "settings"


def rows() -> Iterator[tuple[str, str, str]]:
    """Name, default and what it is, in the order of their names."""
    for name in sorted(conf.KNOWN):
        known = conf.KNOWN[name]
        default = list(known.default) if isinstance(known.default, tuple) else known.default
        yield name, repr(default), " ".join(filter(None, (_words().get(name, ""), _kind(name, known.kind))))


def write(options: dict[str, Any], say: Callable[[str], object]) -> None:
    """Prints the table."""
    for line in markdown():
        say(line)


def markdown() -> Iterator[str]:
    """The lines of the table."""
    yield "| setting | default | |"
    yield "| --- | --- | --- |"
    for name, default, told in rows():
        yield f"| `{name}` | `{default}` | {told.replace('|', chr(92) + '|')} |"


def _kind(name: str, kind: str) -> str:
    return f"({kind})" if kind.startswith("one of") else ""


def _words() -> dict[str, str]:
    """What stands below each setting in the code, in one line."""
    found: dict[str, str] = {}
    for module, kind in ((model_settings, model_settings.ModelSettings), (conf, conf.RuntimeSettings)):
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ClassDef) and node.name == kind.__name__:
                found |= _words_of(node.body)
    return found


def _words_of(body: list[ast.stmt]) -> dict[str, str]:
    found = {}
    for node, following in zip(body, [*body[1:], None], strict=True):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        told = following.value if isinstance(following, ast.Expr) else None
        if isinstance(target, ast.Name) and isinstance(told, ast.Constant) and isinstance(told.value, str):
            found[target.id] = " ".join(told.value.replace("``", "`").split())
    return found
