"""A long run of one fuzz test, by atheris or with random bytes. See README.md beside this file."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from importlib import import_module, util


def entry(name: str) -> Callable[[bytes], object]:
    """What takes the bytes for `module:test`."""
    module, _, test = name.partition(":")
    found = getattr(import_module(f"tests.fuzz.{module}"), test)
    fuzz: Callable[[bytes], object] = found.hypothesis.fuzz_one_input
    return fuzz


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "beachsite.settings.test")
    import django

    django.setup()
    name, *rest = arguments
    if "--runs" in rest:
        source, fuzz = random.Random(0), entry(name)
        for _ in range(int(rest[rest.index("--runs") + 1])):
            fuzz(source.randbytes(source.randrange(16, 4096)))
        return
    if util.find_spec("atheris") is None:
        sys.exit("atheris is not installed: see tests/fuzz/README.md, or give --runs N.")
    atheris = import_module("atheris")
    with atheris.instrument_imports(include=["a2ui", "envelopes"]):
        fuzz = entry(name)
    atheris.Setup([sys.argv[0], *rest], fuzz)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
