"""Templates as people read them."""

from __future__ import annotations

from beachsite.suite import ROOT

LONGEST = 120


def test_no_line_of_a_template_is_longer_than_one_of_code() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST
    ]
    assert long == []
