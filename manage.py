#!/usr/bin/env python3
"""Django's command line, which first makes sure that its own virtual environment is there."""

import gc
import os
import sys

from beachsite import bootstrap


def data_folder(argv: list[str]) -> str:
    """What `demo --data DIR` names: settings are read before any command sees its own options."""
    if argv[1:2] == ["demo"]:
        for word, following in zip(argv, [*argv[1:], ""], strict=True):
            if word == "--data":
                return following
            if word.startswith("--data="):
                return word.partition("=")[2]
    return ""


def main() -> None:
    """Prepare the environment, then hand over to Django."""
    # What is made until a command runs stays: to search it again and again would take a quarter of that time. Servers
    # set it once more (``envelopes.serving.collector``).
    gc.set_threshold(100_000, 20, 50)
    bootstrap.ensure(sys.argv)
    # The suite must never meet the settings, and so the database and keys, that this machine runs with.
    settings = "test" if sys.argv[1:2] == ["test"] else "local"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", f"beachsite.settings.{settings}")
    folder = data_folder(sys.argv)
    if folder:
        os.environ["BEACH_DATA"] = folder
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # A setting that cannot work says what to write instead; where in our code it was read helps nobody.
        if "--traceback" in sys.argv:
            raise
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
