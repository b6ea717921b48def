#!/usr/bin/env python3
"""Django's command line, which first makes sure that its own virtual environment is there."""

import os
import sys

from beachsite import bootstrap


def main() -> None:
    """Prepare the environment, then hand over to Django."""
    bootstrap.ensure(sys.argv)
    # The suite must never meet the settings, and so the database and keys, that this machine runs with.
    settings = "test" if sys.argv[1:2] == ["test"] else "local"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", f"beachsite.settings.{settings}")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
