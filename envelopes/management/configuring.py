"""``manage.py beach config``: the configuration of a site to a file, and from one."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from envelopes import config_transfer
from envelopes.config_transfer import Change
from envelopes.config_transfer.environment import differences
from envelopes.errors import BeachError, ValidationFailed
from envelopes.protocol.config_envelope import CONFIG_BYTES
from envelopes.protocol.text import clean_text
from envelopes.types import Json

PASSPHRASE = "BEACH_CONFIG_PASSPHRASE"  # noqa: S105 - the name of a variable
"""In the environment: as an argument everybody on the machine could read it."""

SIGNS = {"added": "+", "changed": "~", "only here": "="}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``export`` and ``import``."""
    verbs = parser.add_subparsers(dest="verb", required=True)
    export = verbs.add_parser("export", help="writes peers, groups and flags to a new file, encrypted")
    export.add_argument("file", type=Path, help="must not be there yet")
    export.add_argument(
        "--kind",
        choices=("config", "profile"),
        default="config",
        help="a profile is all but the peers (default: %(default)s)",
    )
    export.add_argument("--source", default="", help="where this is, for whoever reads the file")
    load = verbs.add_parser("import", help="makes this site what a file says, all of it or nothing")
    load.add_argument("file", type=Path)
    load.add_argument("--dry-run", action="store_true", help="only tells what would change")
    for verb in (export, load):
        verb.add_argument(
            "--passphrase-file",
            type=Path,
            metavar="PATH",
            help=f"its first line; else {PASSPHRASE}, else you are asked",
        )


def run(options: dict[str, Any], say: Callable[[str], object]) -> None:
    """Raises ``CommandError``."""
    try:
        (_export if options["verb"] == "export" else _import)(options, say)
    except ValidationFailed as error:
        hint = error.facts.get("hint")
        raise CommandError(f"{error.message} {hint}" if hint else error.message) from error
    except BeachError as error:
        raise CommandError(error.message) from error
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{options['file']}: {error}") from error


def _export(options: dict[str, Any], say: Callable[[str], object]) -> None:
    file: Path = options["file"]
    if file.exists():
        raise CommandError(f"{file} is there already.")
    passphrase = _passphrase(options["passphrase_file"], again=True)
    text = config_transfer.export(options["kind"], passphrase, source=options["source"])
    # For nobody else's eyes, however well it is encrypted.
    number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as out:
        out.write(text)
    say(f"Written: {file} ({options['kind']}).")


def _import(options: dict[str, Any], say: Callable[[str], object]) -> None:
    text = _text_of(options["file"])
    envelope, payload = config_transfer.read(text, _passphrase(options["passphrase_file"], again=False))
    report = config_transfer.carry_over(payload, dry=options["dry_run"])
    for change in report.changes:
        for line in _in_words(change):
            say(clean_text(line))
    for name, there, here in differences(envelope.metadata.environment):
        line = f"! {name}: {_shown(there)} in the file, {_shown(here)} here (set where it runs, not imported)"
        # Whoever wrote the file may have meant the terminal.
        say(clean_text(line))
    done = "would change" if options["dry_run"] else "changed"
    say(f"{report.changed} {done}, {report.same} as they were.")


def _text_of(file: Path) -> str:
    with file.open("rb") as opened:
        raw = opened.read(CONFIG_BYTES + 1)
    if len(raw) > CONFIG_BYTES:
        # Before it is in memory, however long it is.
        raise CommandError(f"{file} has more than {CONFIG_BYTES:,} bytes: it is no configuration.")
    return raw.decode()


def _in_words(change: Change) -> list[str]:
    first = f"{SIGNS[change.verb]} {change.what} {change.name}: {change.verb}"
    return [
        first + (", and stays" if change.verb == "only here" else ""),
        *(_member(name, before, after) for name, before, after in change.members),
    ]


def _member(name: str, before: Json, after: Json) -> str:
    if isinstance(before, list) and isinstance(after, list):
        words = [f"+{one}" for one in after if one not in before]
        words += [f"-{one}" for one in before if one not in after]
        return f"    {name}: {' '.join(words)}"
    return (
        f"    {name}: {_shown(before)} -> {_shown(after)}"
        if before is not None
        else f"    {name}: {_shown(after)}"
    )


def _shown(value: Json) -> str:
    return "nothing" if value is None else value if isinstance(value, str) else json.dumps(value)


def _passphrase(file: Path | None, *, again: bool) -> str:
    if file is not None:
        return file.read_text(encoding="utf-8").partition("\n")[0].rstrip("\r")
    if given := os.environ.get(PASSPHRASE):
        return given
    if not sys.stdin.isatty():
        raise CommandError(f"There is no passphrase: name a --passphrase-file, or set {PASSPHRASE}.")
    given = getpass.getpass("Passphrase: ")
    if again and getpass.getpass("Again: ") != given:
        raise CommandError("These are two different ones.")
    return given
