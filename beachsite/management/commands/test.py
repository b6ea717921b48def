"""`manage.py test`: the whole suite, or what is named, under pytest. What follows `test` goes to pytest as it is."""

from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand

from beachsite import suite


class Command(BaseCommand):
    """Run the tests."""

    help = (
        "Runs the test suite with pytest, or only the files, folders and applications that are named: "
        "manage.py test shop. Further arguments are pytest's: manage.py test -k approvals -x"
    )
    requires_system_checks = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Take the command line as it is: the options are pytest's, and Django's parser would refuse them."""
        sys.exit(suite.run(argv[2:], os.environ))

    def handle(self, *args: Any, **options: Any) -> None:
        """For `call_command`, where nobody has a command line."""
        sys.exit(suite.run([], os.environ))
