"""``manage.py beach``: the decision log, conversations as files, and the end of a person's data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from datetime import datetime, time
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.dateparse import parse_date

from envelopes.audit import exporting, verifying
from envelopes.errors import BeachError
from envelopes.models import AuditEntry, Session
from envelopes.records import erasing, storing, taking

Say = Callable[[str], object]


def add_arguments(commands: Any) -> None:
    """The subcommands."""
    verify = commands.add_parser(
        "verify-audit",
        help="checks the decision log, and names the first entry that is not as it was written",
    )
    verify.add_argument(
        "--expect",
        type=_entry,
        metavar="NUMBER:DIGEST",
        help="an entry that was written down elsewhere, and has to be there",
    )
    verify.add_argument(
        "--seal",
        action="store_true",
        help="seals the head with the key of now, if all else holds: after a change of SECRET_KEY",
    )
    export = commands.add_parser("export-audit", help="writes the decision log to a new file")
    export.add_argument("file", type=Path, help="must not be there yet; - for standard output")
    export.add_argument("--format", choices=tuple(exporting.FORMATS), default="jsonl")
    export.add_argument("--since", type=_day, metavar="YYYY-MM-DD", help="entries of that day and later ones")
    export.add_argument("--until", type=_day, metavar="YYYY-MM-DD", help="entries before that day")
    take = commands.add_parser("export-session", help="writes a conversation to a new file")
    take.add_argument("id", help="the public id, as in its address")
    take.add_argument("file", type=Path, help="must not be there yet; - for standard output")
    take.add_argument("--files", action="store_true", help="with the files that belong to it")
    bring = commands.add_parser(
        "import-session", help="stores a conversation from a file, under a new id and inert"
    )
    bring.add_argument("file", type=Path)
    bring.add_argument(
        "--owner", metavar="NAME", help="whose it is here; else nobody's, and staff alone see it"
    )
    erase = commands.add_parser(
        "erase-user", help="erases the data of a person; without --yes only tells what that is"
    )
    erase.add_argument("person", help="a user name, user:ID, or anonymous:KEY of a visitor")
    erase.add_argument("--yes", action="store_true", help="does it: there is no way back")


def run(options: dict[str, Any], say: Say) -> None:
    """Do what was asked; raises ``CommandError``."""
    try:
        COMMANDS[options["command"]](options, say)
    except BeachError as error:
        raise CommandError(error.message) from error


# -- the decision log --------------------------------------------------------------------------------------------


def _verify(options: dict[str, Any], say: Say) -> None:
    verdict = verifying.reseal() if options["seal"] else verifying.verify(options["expect"])
    if verdict.problem:
        raise CommandError(
            f"{f'Entry {verdict.broken}' if verdict.broken else 'The head'}: {verdict.problem}"
        )
    if not verdict.number:
        say("There are no entries.")
        return
    count = verdict.number - verdict.first + 1
    say(
        f"{count} entries hold, {verdict.first} to {verdict.number}; the content of {verdict.erased} was erased."
    )
    say(f"Newest: {verdict.number} {verdict.digest}")


def _export(options: dict[str, Any], say: Say) -> None:
    entries = AuditEntry.objects.all()
    if options["since"]:
        entries = entries.filter(at__gte=options["since"])
    if options["until"]:
        entries = entries.filter(at__lt=options["until"])
    _write(options["file"], exporting.pieces(entries, options["format"]))


def _entry(text: str) -> tuple[int, str]:
    number, _, digest = text.partition(":")
    if not number.isdecimal() or len(digest) != 64:
        raise argparse.ArgumentTypeError("This is no NUMBER:DIGEST.")
    return int(number), digest


def _day(text: str) -> datetime:
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no day: write YYYY-MM-DD.")
    return timezone.make_aware(datetime.combine(day, time.min))


# -- conversations and people ------------------------------------------------------------------------------------


def _take(options: dict[str, Any], say: Say) -> None:
    session = Session.objects.filter(public_id=options["id"]).first()
    if session is None:
        raise CommandError(f"There is no conversation {options['id']!r}.")
    _write(options["file"], taking.exported(session, files=options["files"]))


def _bring(options: dict[str, Any], say: Say) -> None:
    owner = None
    if options["owner"]:
        users = get_user_model()._default_manager
        owner = users.filter(**{users.model.USERNAME_FIELD: options["owner"]}).first()
        if owner is None:
            raise CommandError(f"There is nobody called {options['owner']!r}.")
    try:
        with options["file"].open("rb") as file:
            session = storing.imported(file, owner=owner)
    except OSError as error:
        raise CommandError(f"{options['file']} cannot be read: {error}") from error
    say(session.public_id)


def _erase(options: dict[str, Any], say: Say) -> None:
    person = erasing.find(options["person"])
    try:
        report = erasing.erase(person) if options["yes"] else erasing.plan(person)
    except ProtectedError as error:
        raise CommandError(f"Something of an application holds the account: {error}") from error
    say("Erased:" if options["yes"] else "Would be erased:")
    for what, count in report.erased.items():
        say(f"  {what}: {count}")
    for sentence in report.kept:
        say(f"Kept: {sentence}")
    if not options["yes"]:
        say("Nothing was erased. Add --yes to do it.")


def _write(file: Path, pieces: Iterable[str]) -> None:
    """To a file of its own: what stands in the way is not overwritten."""
    if str(file) == "-":
        sys.stdout.writelines(pieces)
        return
    try:
        with file.open("x", encoding="utf-8", newline="") as out:
            out.writelines(pieces)
    except FileExistsError as error:
        raise CommandError(f"{file} is there already.") from error
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error}") from error


COMMANDS: dict[str, Callable[[dict[str, Any], Say], None]] = {
    "verify-audit": _verify,
    "export-audit": _export,
    "export-session": _take,
    "import-session": _bring,
    "erase-user": _erase,
}
