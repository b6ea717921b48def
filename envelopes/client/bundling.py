"""The page's own code and styles: readable files in ``static/client/`` and ``static/styles/``, sent as one file each.

A browser gets one module instead of ten, without comments and with short names: one request, and half the bytes. It
gets one sheet of styles, too, since no page is shown before it has all of them. Nobody builds anything by hand: in a
checkout whoever looks for the file finds it made from the sources as they are (``finders``), and the wheel has them all
(``building``).

This module imports the standard library alone: it is also read while the wheel is built, where nothing is installed.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

ENTRIES = {
    f"beach/{name}.js": name
    for name in ("panel", "files", "notices", "widgets", "gallery", "door", "table", "talk", "desk")
}
"""What is served, and the module on top of each. What one on top exports is for those that import it while they run."""
_SHARED = ("tokens", "base", "controls", "surface", "fields", "views")
SHEETS = {
    "beach/chat.css": (
        *_SHARED,
        "frame",
        "shell",
        "conversation",
        "approval",
        "a2ui",
        "own",
        "panel",
        "composer",
        "modes",
    ),
    "beach/desk.css": (
        *_SHARED,
        "frame",
        "conversation",
        "approval",
        "a2ui",
        "own",
        "desk",
        "lists",
        "figures",
        "one",
        "stock",
        "admin",
        "talk",
        "modes",
    ),
    # What the chat’s own page needs beside, where the desk shows it; after desk.css.
    "beach/seen.css": ("panel", "composer"),
    "beach/door.css": (*_SHARED, "door", "modes"),
    "beach/asked.css": (*_SHARED, "approval", "door", "modes"),
}
"""The same for styles: of which files each consists. Where one undoes what another says, it comes after it."""
MINIFIER = "tdewolff-minify"

FILES = (*ENTRIES, *SHEETS)
"""All of them, by the names under which pages ask for them."""

_IMPORT = re.compile(r"^import \{ \w+(?:, \w+)* \} from '\./(\w+)\.js';\n", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)
_CONSTANT = r"([A-Z]+) = ([\de]+|'\w')"
_CONSTANTS = re.compile(rf"^(?:export )?const ((?:{_CONSTANT}(?:, )?)+);.*\n", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_NAME = re.compile(r"^(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
# What can be written in fewer bytes, and the minifier leaves: names that are given once, and properties by a letter.
_GIVEN = re.compile(r"(^\s*|[({] ?)const\b", re.MULTILINE)
_BY_LETTER = re.compile(r"(?<!\w)\['(\w)'\](?=\()")
_RUN = "import sys, minify; sys.stdout.write(minify.string('application/javascript', sys.stdin.read()))"


class BundleError(ValueError):
    """The sources use a form of import or export that cannot be put together, or a name twice."""


def bundle(folder: Path, entry: str = "panel") -> str:
    """All modules that the entry needs, each after those it imports, in one scope.

    So a name at the top of a module is the only one of its kind among them, and imports are of names as they are.
    """
    modules: dict[str, str] = {}

    def take(name: str, within: tuple[str, ...]) -> None:
        if name in within:
            raise BundleError(f"{name}.js imports itself, by way of {' and '.join(within)}.")
        if name in modules:
            return
        text = (folder / f"{name}.js").read_text(encoding="utf-8")
        for needed in _IMPORT.findall(text):
            take(needed, (*within, name))
        text = _EXPORT.sub("", _IMPORT.sub("", text))
        if left := _LEFT.search(text):
            raise BundleError(f"{name}.js has a form of import or export that is not known here: {left[0]}")
        modules[name] = text

    take(entry, ())
    seen: set[str] = set()
    for name in _NAME.findall("\n".join(modules.values())):
        if name in seen:
            raise BundleError(f"Two modules in static/client/ have something that is called {name}.")
        seen.add(name)
    code = _in_place("\n".join(modules.values()))
    exported = ", ".join(_EXPORTED.findall((folder / f"{entry}.js").read_text(encoding="utf-8")))
    if exported:
        return f"export const {{ {exported} }} = (() => {{\n{code}return {{ {exported} }};\n}})();\n"
    return f"(() => {{\n{code}}})();\n"


def _in_place(text: str) -> str:
    """The modules with each constant that is a number or a letter put where it is used, which the minifier does not."""
    values = dict(re.findall(_CONSTANT, "".join(found[0] for found in _CONSTANTS.findall(text))))
    return re.sub(r"\b[A-Z]+\b", lambda found: values.get(found[0], found[0]), _CONSTANTS.sub("", text))


def minified(source: str) -> str:
    """The same code in fewer bytes; unchanged where there is no minifier for the machine.

    In a process of its own: the minifier brings the runtime of Go, whose threads and signal handlers a server can do
    without.
    """
    if not has_minifier():
        return source
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", _RUN],
        input=_GIVEN.sub(r"\1let", _BY_LETTER.sub(r"\1", source)),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise BundleError(f"The minifier refused the modules in static/client/: {done.stderr.strip()}")
    return done.stdout


def source(static: Path, name: str) -> str:
    """The file ``name`` as one text, of the sources in the folder ``static``. Raises ``BundleError``."""
    if name in SHEETS:
        return "\n".join(
            (static / "styles" / f"{part}.css").read_text(encoding="utf-8") for part in SHEETS[name]
        )
    return bundle(static / "client", ENTRIES[name])


def is_code(name: str) -> bool:
    """Whether it goes through the minifier; styles are short enough, and stay readable."""
    return name in ENTRIES


def has_minifier() -> bool:
    """Not every machine has one: there is no wheel for Apple's processors."""
    return importlib.util.find_spec("minify") is not None
