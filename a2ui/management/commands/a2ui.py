"""What the engine makes of a program, on the command line."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.management.base import CommandError

from a2ui.catalog.beach import BEACH_CATALOG, BEACH_CATALOG_1_0
from a2ui.catalog.beach.document import document
from a2ui.data.patch import apply_patch
from a2ui.engine import Engine, EngineOptions
from a2ui.errors import A2uiError, PatchError
from a2ui.management.piping import PipedCommand
from a2ui.programs.checking import check
from a2ui.programs.conversion import TARGETS, convert
from a2ui.programs.reading import parse_json, read_cases, read_program
from a2ui.programs.tree import is_pseudo, perform, run
from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.teaching.catalogs import for_prompt

_FILE = "JSON, or JSON lines; - is the standard input"


class Command(PipedCommand):
    """``manage.py a2ui {tree,html,check,convert,patch,catalog}``. Needs no database and starts no server."""

    help = (
        "Shows what the A2UI engine makes of a program (a list of messages), converts it to another version, or "
        "applies a JSON Patch."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One subcommand each."""
        verbs = parser.add_subparsers(
            dest="verb", required=True, metavar="{tree,html,check,convert,patch,catalog}"
        )
        for verb, text in (
            ("tree", "prints the resolved tree of every surface as JSON"),
            ("html", "prints the HTML of every surface"),
            ("check", "prints what is wrong; exit code 1 if anything is an error"),
        ):
            sub = verbs.add_parser(verb, help=text)
            _take_source(sub)
            sub.add_argument("--locale", default="en-US", help="a BCP 47 tag (default: %(default)s)")
            sub.add_argument("--timezone", default="UTC", help="a zone by name (default: %(default)s)")
            sub.add_argument("--strict", action="store_true", help="refuse what the official schemas refuse")
            if verb == "check":
                sub.add_argument("--json", action="store_true", help="print a list of objects, not lines")
        catalog = verbs.add_parser("catalog", help="prints our own catalog as a JSON document")
        catalog.add_argument(
            "--to", default="1.0", choices=("0.9", "1.0"), help="the version of the protocol"
        )
        catalog.add_argument("--prompt", action="store_true", help="as models are told of it")
        conversion = verbs.add_parser(
            "convert",
            help="prints the program in another version, and on the standard error what that cannot say",
        )
        _take_source(conversion)
        conversion.add_argument("--to", required=True, choices=TARGETS, help="the version to write")
        conversion.add_argument(
            "--json", action="store_true", help="print {messages, notes}, nothing on the standard error"
        )
        conversion.add_argument(
            "--strict", action="store_true", help="exit code 1 if anything is lost or not converted"
        )
        patch = verbs.add_parser(
            "patch", help="prints the document after an RFC 6902 patch; exit code 1 on errors"
        )
        patch.add_argument("document", metavar="DOC", help="a JSON document; - is the standard input")
        patch.add_argument("patch", metavar="PATCH", help="a JSON list of operations, as a file")

    def handle(self, *args: Any, **options: Any) -> None:
        """Runs the subcommand."""
        if options["verb"] == "patch":
            self._patch(options["document"], options["patch"])
            return
        if options["verb"] == "catalog":
            if options["prompt"]:
                self._write(for_prompt(BEACH_CATALOG_1_0 if options["to"] == "1.0" else BEACH_CATALOG))
            else:
                self._print(document(options["to"]))
            return
        try:
            text = _text(options["cases"] or options["file"])
            programs = read_cases(text) if options["cases"] else {"": read_program(text)}
        except A2uiError as error:
            if options["verb"] == "check":
                self._print({"error": {"code": error.code, "message": error.message, **error.facts}})
                sys.exit(1)
            raise CommandError(error.message) from error
        if options["verb"] == "convert":
            self._convert(programs, options)
            return
        engine = _engine(options)
        if options["verb"] == "check":
            self._check(engine, programs, options)
            return
        if options["verb"] == "tree":
            results: dict[str, Any] = {
                name: run(engine.surfaces(), messages) for name, messages in programs.items()
            }
        else:
            results = {name: _html(engine, messages) for name, messages in programs.items()}
        if options["cases"]:
            self._print(results)
        elif options["verb"] == "tree":
            self._print(results[""])
        else:
            self._write("\n".join(results[""].values()))

    def _check(self, engine: Engine, programs: dict[str, list[Any]], options: dict[str, Any]) -> None:
        found = {
            name: check(engine, messages, strict=options["strict"]) for name, messages in programs.items()
        }
        if options["cases"]:
            self._print(
                {name: [finding.as_json() for finding in findings] for name, findings in found.items()}
            )
        elif options["json"]:
            self._print([finding.as_json() for finding in found[""]])
        else:
            self._write("\n".join([str(finding) for finding in found[""]]) or "Nothing is wrong.")
        if any(finding.severity == "error" for findings in found.values() for finding in findings):
            sys.exit(1)

    def _convert(self, programs: dict[str, list[Any]], options: dict[str, Any]) -> None:
        done = {name: convert(messages, options["to"]) for name, messages in programs.items()}
        results: dict[str, Any] = {name: one.messages for name, one in done.items()}
        if options["json"]:
            results = {
                name: {"messages": one.messages, "notes": [note.as_json() for note in one.notes]}
                for name, one in done.items()
            }
        self._print(results if options["cases"] else results[""])
        for name, one in done.items():
            for note in () if options["json"] else one.notes:
                self.stderr.write(f"{name}: {note}" if name else str(note))
        if options["strict"] and not all(one.lossless for one in done.values()):
            sys.exit(1)

    def _patch(self, document: str, patch: str) -> None:
        try:
            result, _ = apply_patch(
                parse_json(_text(document)), parse_json(_text(patch)), limits=DEFAULT_LIMITS
            )
        except A2uiError as error:
            at = {"index": error.index, "path": error.path} if isinstance(error, PatchError) else {}
            self._print({"error": {"code": error.code, "message": error.message, **at}})
            sys.exit(1)
        self._print(result)

    def _print(self, value: Any) -> None:
        self._write(json.dumps(value, ensure_ascii=False, indent=1))

    def _write(self, text: str) -> None:
        # A lone half of a surrogate pair has no bytes in UTF-8; as an escape it stays valid JSON.
        self.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _take_source(parser: ArgumentParser) -> None:
    """A program, or several by name."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("file", nargs="?", metavar="FILE", help=f"a program: {_FILE}")
    source.add_argument("--cases", metavar="FILE", help="an object {name: program}; prints {name: result}")


def _engine(options: dict[str, Any]) -> Engine:
    try:
        zone = ZoneInfo(options["timezone"])
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise CommandError(f"There is no time zone {options['timezone']!r}.") from error
    return Engine(EngineOptions(locale=options["locale"], timezone=zone, strict=options["strict"]))


def _text(name: str) -> str:
    """The text of a file, or of the standard input."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{name} is not UTF-8: {error.reason}.") from error


def _html(engine: Engine, program: list[Any]) -> dict[str, str]:
    surfaces = engine.surfaces()
    for message in program:
        if is_pseudo(message):
            perform(surfaces, message)
        else:
            surfaces.apply(message)
    return {surface.id: surface.html() for surface in surfaces}
