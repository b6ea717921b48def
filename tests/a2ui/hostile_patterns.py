"""Patterns made to cost time or memory, and what one process spends on all of them.

Run as a program it sets a limit on its own memory first: `python -m tests.a2ui.hostile_patterns`. Prints JSON.
"""

from __future__ import annotations

import json
import resource
from functools import partial
from itertools import count
from pathlib import Path
from random import Random

MIB = 1 << 20
ROOM = 160 * MIB
"""What the process may take beyond what it has once everything is imported."""

PATTERNS = {
    "a count in a count": "^(?:a{1000}){1000}$",
    "a larger count in a count": "^(?:a{3000}){3000}$",
    "three levels": "^(?:(?:a{1000}){1000}){1000}$",
    "ten levels": "(?:" * 10 + "a" + "{9})" * 10,
    "twenty levels of two": "(?:" * 20 + "a" + "{2})" * 20,
    "forty levels of two": "(?:" * 40 + "a" + "{2})" * 40,
    "a count without an end": "(?:a{1000,}){1000,}",
    "optional counts": "^(?:(?:a{0,1000}){0,1000})$",
    "a count of a million": "a{1000000}",
    "a count of a thousand digits": "a{" + "9" * 950 + "}",
    "nothing, often": "(?:(?:(?:){1000}){1000}){1000}",
    "edges, often": r"(?:(?:\b|){1000}|$){1000}",
    "look-ahead before counts": "(?=a)(?:a{1000}){1000}",
    "look-ahead in counts": "(?:(?:(?=a)a){1000}){1000}",
    "look-ahead in look-ahead": "(?=" * 45 + "a{20}" + ")" * 45,
    "look-behind of counts": "(?<=(?:a{1,500}){1,500})b",
    "look-around, counted": "(?:(?=a{9})(?<!b{9})[ab]){90}c",
    "many look-aheads": "(?=.*b)" * 140,
    "many look-behinds": r"(?<!\w{3})" * 95,
    "negative look-ahead of stars": "^(?!(?:a*)*$)(?:a+)+$",
    "look-ahead that backtracks": "^(?=x?)(a+)+$",
    "look-ahead that backtracks, unanchored": "(?=(a+)+$)",
    "back-reference": r"^(a|aa)+\1$",
    "back-reference by name": r"^(?<q>a+)+\k<q>$",
    "back-references, counted": r"^(?:(a{100}){100}\1{100}){100}$",
    "counted letters": r"\p{L}{1000}",
    "counted letters of two kinds": r"(?:\p{Lu}\p{Ll}{30}){30}",
    "letters in look-ahead": r"(?=\p{L}{900})\p{Lu}",
    "many letters": r"\p{L}" * 195,
    "many letters in either case": "(?i:" + r"\p{L}" * 190 + ")",
    "one set of many classes": "[" + r"\p{L}\P{Lu}" * 80 + "]{100}",
    "one set of many classes in either case": "(?i:[" + r"\P{L}\P{Lu}" * 80 + "]){1000}",
    "everything in either case": "(?i:[" + r"\u{0}-\u{10FFFF}" * 50 + "]){1000}",
    "many different classes": "".join(f"(?=\\p{{{name}}})" for name in (
        "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po")),
    "scripts in either case": "(?i:" + "|".join([r"\p{Greek}", r"\p{Cyrillic}", r"\p{Latin}"] * 25) + "){50}",
    "far characters, counted": "[" + "".join([chr(0x1F300 + 3 * n) for n in range(300)]) + "]{500}",
    "all but far characters, counted": "[^" + "".join([chr(0x4E00 + 7 * n) for n in range(850)]) + "]{90}",
    "alternatives": "|".join("a" * n for n in range(1, 40)),
    "alternatives, counted": "(?:" + "|".join("ab" * n for n in range(1, 20)) + "){1,20}c",
    "alternatives of nothing": "(?:" + "|" * 300 + "){16}x",
    "alternatives of counts": "(?:a{1,300}|[ab]{1,300}|.{1,300}){1,5}c",
    "steps": "(a{1,30}){1,30}b",
    "states": "(?:[ab]*a[ab]{12}){1,20}c",
    "optional, then needed": "(?:a?){500}a{500}b",
    "dots": "(?:.{1,1000}){1,5}x",
    "stars of dots": ".*" * 450 + "x",
    "stars in stars": "(?:" * 49 + "a*" + ")*" * 49 + "b",
    "words": r"(?:\b\w+\b ?){1,500}!",
    "not at a word": r"(?:\B[ab]|\Bc?){200}d",
    "lines": "(?m:^.*$){300}x",
}  # fmt: skip
_RANDOM = Random(7)
TEXTS = {
    "one letter": "a" * 9_999 + "!",
    "two letters": "".join(_RANDOM.choices("ab", k=10_000)),
    "words": "".join(_RANDOM.choices("ab c", k=10_000)),
    "far letters": "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(10_000)),
    "letters of all kinds": "".join(chr(0x100 + n) for n in range(10_000)),
}


def _status(name: str) -> int:
    """Bytes of a line of this process's status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def main() -> None:
    from a2ui.errors import ExpressionError
    from a2ui.safety import regex
    from a2ui.safety.limits import DEFAULT_LIMITS
    from tests.fuzz.cost import BOUND_MS, cost

    room = _status("VmSize") + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    before = _status("VmRSS")
    outcomes: dict[str, list[str]] = {}
    costs: dict[str, float] = {}
    names = count()

    def search(name: str, text: str) -> None:
        # Named anew each time, so that it is read and compiled each time.
        pattern = f"(?<n{next(names)}>{PATTERNS[name]})"
        try:
            outcome = str(regex.search(pattern, text, DEFAULT_LIMITS))
        except ExpressionError as error:
            outcome = error.facts.get("limit") or error.facts.get("unsupported") or error.code
        outcomes.setdefault(name, []).append(outcome)

    for name in PATTERNS:
        for kind, text in TEXTS.items():
            costs[f"{name}, {kind}"] = cost(partial(search, name, text))
    print(
        json.dumps(
            {
                "outcomes": {name: sorted(set(found)) for name, found in outcomes.items()},
                "dear": {name: took for name, took in costs.items() if took > BOUND_MS},
                "dearest": max(costs.values()),
                "grown_mib": (_status("VmHWM") - before) / MIB,
            }
        )
    )


if __name__ == "__main__":
    main()
