"""Checking that the audit log is what was written: entry by entry, from the anchor to the sealed head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.db import transaction

from envelopes.audit import chain
from envelopes.models.audit import PERSONAL, AuditChain, AuditEntry, AuditKind
from envelopes.types import Json

AT_ONCE = 1_000
AGAIN = 5
"""So often a look begins anew because retention has taken the oldest entries meanwhile."""

UNSEALED = (
    "The head is not sealed with the key of this site: it was changed, or SECRET_KEY was (see SECRET_KEY_FALLBACKS,"
    " and --seal)."
)


@dataclass(frozen=True)
class Verdict:
    """``problem`` is "" where all holds, else what is wrong with entry ``broken`` (0: with the head). ``number`` and
    ``digest`` are those of the newest entry that was looked at."""

    first: int = 1
    number: int = 0
    digest: str = ""
    erased: int = 0
    broken: int = 0
    problem: str = ""


@dataclass
class Walk:
    """Entries in order, from behind ``number`` and ``digest``. ``unnamed`` are those without content that no erasure
    has named yet."""

    number: int
    digest: str
    unnamed: dict[int, None] = field(default_factory=dict)
    erased: int = 0

    def step(self, entry: AuditEntry) -> str:
        """Take the next entry; what is wrong with it, or ""."""
        if entry.number > self.number + 1:
            return f"Entry {self.number + 1} is missing: the next one is {entry.number}."
        if entry.number <= self.number:
            return "Its number was there before."
        if entry.chain_digest != chain.chain_digest(self.digest, entry):
            return "It was changed, or is not the one that was written here."
        if entry.salt and entry.content_digest != _content_digest(entry):
            return "Its name, reason, digest or details were changed."
        if not entry.salt:
            if any(getattr(entry, name) for name in PERSONAL):
                return "It has content, but no salt."
            self.unnamed[entry.number] = None
            self.erased += 1
        if entry.kind == AuditKind.ERASED:
            self.name(entry)
        self.number, self.digest = entry.number, entry.chain_digest
        return ""

    def name(self, entry: AuditEntry) -> None:
        """Take in what an erasure says: of entries before it, whatever else it names."""
        for first, last in ranges_of(entry.facts.get("entries")):
            for number in range(max(1, first), min(last, entry.number) + 1):
                self.unnamed.pop(number, None)


def verify(expected: tuple[int, str] | None = None) -> Verdict:
    """Check the whole log as it stands when this begins; what is added meanwhile is not looked at.

    ``expected`` is number and digest of an entry as somebody has written them down elsewhere: it has to be there.
    """
    verdict = Verdict()
    for _ in range(AGAIN):
        head = AuditChain.objects.filter(pk=1).first()
        verdict = _verified(head, expected)
        now = AuditChain.objects.filter(pk=1).first()
        if (head and head.first) == (now and now.first):
            break
    return verdict


def _verified(head: AuditChain | None, expected: tuple[int, str] | None) -> Verdict:
    if head is None:
        newest = AuditEntry.objects.order_by("-number").first()
        if newest is None and expected is None:
            return Verdict()
        told = f"There is no head, but entry {newest.number}." if newest else "There are no entries."
        return Verdict(problem=told)
    walk = Walk(head.first - 1, head.anchor)

    def broken(number: int, problem: str) -> Verdict:
        return Verdict(head.first, walk.number, walk.digest, walk.erased, number, problem)

    for entry in entries_upto(head.number):
        problem = walk.step(entry)
        if problem:
            return broken(min(entry.number, walk.number + 1), problem)
        if expected is not None and entry.number == expected[0] and entry.chain_digest != expected[1]:
            return broken(entry.number, "It is not the one that was expected.")
    if walk.unnamed:
        return broken(min(walk.unnamed), "Its content is gone, and no erasure is on record.")
    if walk.number < head.number:
        gone = head.number - walk.number
        return broken(walk.number + 1, f"It is missing, and so are all behind it: {gone} of {head.number}.")
    if walk.digest != head.digest:
        return broken(walk.number, "It is not the one that the head names.")
    if expected is not None and head.number < expected[0]:
        return broken(head.number + 1, f"The log ends before entry {expected[0]}, which was expected.")
    # Last: what is wrong with an entry says more.
    return broken(0, "" if chain.holds(head) else UNSEALED)


def entries_upto(number: int, after: int = 0) -> Iterator[AuditEntry]:
    """The entries behind ``after`` up to ``number``, in order, some at a time."""
    while True:
        found = list(
            AuditEntry.objects.filter(number__gt=after, number__lte=number).order_by("number")[:AT_ONCE]
        )
        yield from found
        if len(found) < AT_ONCE:
            return
        after = found[-1].number


def _content_digest(entry: AuditEntry) -> str:
    try:
        return chain.content_digest(entry.salt, entry.personal)
    except ValueError:
        # No salt of ours, or content that no JSON of ours holds.
        return ""


def ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as ``[first, last]`` of each run."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def ranges_of(value: Json) -> list[tuple[int, int]]:
    """What ``ranges`` made, read back; nothing of what is no such list."""
    if not isinstance(value, list):
        return []
    return [
        (one[0], one[1])
        for one in value
        if isinstance(one, list) and len(one) == 2 and all(type(number) is int for number in one)
    ]


def reseal() -> Verdict:
    """Seal the head anew with the key of now, if nothing else is wrong; the verdict on everything else."""
    with transaction.atomic():
        head = chain.locked_head()
        verdict = _verified(head, None)
        if verdict.broken == 0 and verdict.number == head.number:
            chain.move(head, is_sealed=True)
            return Verdict(verdict.first, verdict.number, verdict.digest, verdict.erased)
    return verdict
