"""What the runtime did between two things that people saw, as one line that opens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from envelopes.admin.conversation.rows import Glance
from envelopes.admin.sentences import sentence
from envelopes.costs import with_cost
from envelopes.markup.html import reveal
from envelopes.registries.transports import Drawn

LINES = 200
"""So many rows one fold lists; of more it says how many there are."""

_WORDS = {"provider": "model", "tool-result": "tool", "settled": "turn"}
"""What staff call a kind of row; one that is not here is called what it is."""


@dataclass(frozen=True)
class Line:
    """One row. ``words`` are escaped."""

    seq: int
    what: str
    words: SafeString
    lasted: str
    failed: bool


@dataclass(frozen=True)
class Fold:
    """``rows`` of the runtime, in order, and when the row before them was written."""

    rows: Sequence[Glance]
    since: Glance | None

    @property
    def count(self) -> str:
        return ngettext("{} runtime row", "{} runtime rows", len(self.rows)).format(len(self.rows))

    @property
    def failed(self) -> bool:
        return any(row.failed for row in self.rows)

    @property
    def summary(self) -> str:
        """What it came to: calls, tools, errors, time, tokens."""
        calls = sum(row.kind == "provider" for row in self.rows)
        tools = sum(row.kind == "tool-result" for row in self.rows)
        errors = sum(row.failed for row in self.rows)
        tokens, cost = sum(row.usage for row in self.rows), sum(row.cost for row in self.rows)
        came = [
            ngettext("{} model call", "{} model calls", calls).format(calls) if calls else "",
            ngettext("{} tool", "{} tools", tools).format(tools) if tools else "",
            ngettext("{} error", "{} errors", errors).format(errors) if errors else "",
            seconds(self.rows[-1].at - (self.since or self.rows[0]).at),
            with_cost(ngettext("{} token", "{} tokens", tokens).format(f"{tokens:,}"), cost)
            if tokens
            else "",
        ]
        return ", ".join(filter(None, came))

    def lines(self) -> Iterator[Line]:
        before = self.since or self.rows[0]
        for row in self.rows[:LINES]:
            what = _WORDS.get(row.kind, row.part_type or row.kind)
            yield Line(row.seq, what, reveal(_words(row)), seconds(row.at - before.at), row.failed)
            before = row

    @property
    def cut(self) -> int:
        return max(0, len(self.rows) - LINES)


@dataclass(frozen=True)
class Piece:
    """Something of the conversation: its ``html``, or a ``fold``."""

    html: SafeString | str = ""
    fold: Fold | None = None


def seconds(span: timedelta) -> str:
    """``4.1 s``, ``2 min``; what took next to nothing has no words."""
    took = max(0.0, span.total_seconds())
    if took < 0.05:
        return ""
    return _("{} s").format(f"{took:.1f}") if took < 60 else _("{} min").format(round(took / 60))


def _words(row: Glance) -> str:
    if row.kind == "provider" and not row.data.get("error"):
        used = row.taken
        words = _("Second model") if "purpose" in row.data else _("Call {}").format(row.data.get("step", "?"))
        if not used.total:
            return words
        words = _("{}, {} tokens in, {} out").format(words, f"{used.came:,}", f"{used.written:,}")
        return with_cost(words, row.cost)
    if row.kind == "part":
        # What it holds is in the log, for those who read that.
        return _("Not shown to anybody")
    return sentence(row.as_row())


def folded(blocks: Sequence[Drawn], rows: Sequence[Glance]) -> list[Piece]:
    """``blocks``, from top to bottom, with what the runtime did between them: before an agent's answer, after a
    person's words. Gaps, and what was done before the first block, are left out."""
    shown = [block for block in blocks if block.seq]
    spoke = {row.seq for row in rows if not row.is_runtime}
    before = {row.seq: rows[number - 1] for number, row in enumerate(rows) if number}
    pieces: list[Piece] = []
    waiting: list[Glance] = []

    def unfold() -> None:
        if waiting:
            pieces.append(Piece(fold=Fold(list(waiting), before.get(waiting[0].seq))))
            waiting.clear()

    runtime = iter([row for row in rows if row.is_runtime and shown and row.seq >= shown[0].seq])
    row = next(runtime, None)
    for number, block in enumerate(shown):
        end = shown[number + 1].seq if number + 1 < len(shown) else None
        own: list[Glance] = []
        while row is not None and (end is None or row.seq < end):
            own.append(row)
            row = next(runtime, None)
        by_person = block.seq in spoke
        if not by_person:
            waiting.extend(own)
        unfold()
        pieces.append(Piece(html=block.html))
        if by_person:
            waiting.extend(own)
    unfold()
    return pieces
