"""`python -m tests.conformance [--check]`: exit code 1 where a case fails or --check finds an old page."""

from __future__ import annotations

import sys

from tests.conformance.page import PAGE, page, run
from tests.shared import SHARED


def main(arguments: list[str]) -> int:
    """Runs the suites; writes the page, or compares it."""
    if SHARED is None:
        print("The shared data is not there: set BEACH_SHARED.", file=sys.stderr)
        return 2
    tallies = run()
    failed = [problem for tally in tallies.values() for problem in tally.failed]
    for problem in failed:
        print(problem, file=sys.stderr)
    text = page(tallies)
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE.name} is not current: run python -m tests.conformance", file=sys.stderr)
        return 1
    print(f"{sum(len(t.passed) for t in tallies.values())} cases pass, {len(failed)} fail without reason.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
