#!/usr/bin/env python3
"""Django's command line, which first makes sure that its own virtual environment is there."""

import os
import sys

from beachsite import bootstrap


def main() -> None:
    """Prepare the environment, then hand over to Django."""
    bootstrap.ensure(sys.argv)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "beachsite.settings.local")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
