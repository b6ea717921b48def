"""``manage.py beach verify-audit``: whether the decision log is what was written."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError

from envelopes.audit import verifying

Say = Callable[[str], object]

COMMANDS = ("verify-audit",)


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


def run(options: dict[str, Any], say: Say) -> None:
    """Do what was asked; raises ``CommandError``."""
    _RUN[options["command"]](options, say)


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


def _entry(text: str) -> tuple[int, str]:
    number, _, digest = text.partition(":")
    if not number.isdecimal() or len(digest) != 64:
        raise argparse.ArgumentTypeError("This is no NUMBER:DIGEST.")
    return int(number), digest


_RUN: dict[str, Callable[[dict[str, Any], Say], None]] = {"verify-audit": _verify}
