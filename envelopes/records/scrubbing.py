"""Taking a person out of what others keep: their key, names and reasons, and no other word."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from django.apps import apps

from envelopes.audit import ageing
from envelopes.models import Approval, AuditEntry, Session
from envelopes.part_types.staff_message import described
from envelopes.providers.transcript import dumped
from envelopes.types import Json

ERASED = "(erased)"
"""What stands where a key or a name stood in somebody else's conversation."""

_REPEATED = 8
"""A reason with so many characters is taken out of longer texts too, such as what a model was told."""


@dataclass(frozen=True)
class Scrub:
    """Takes a person out of JSON: whole values that are their key, name or reason, the same as JSON within a text,
    their name as that of staff, and long reasons wherever they stand. Other words of others stay as they are."""

    key: str
    names: frozenset[str]
    reasons: frozenset[str]

    def __call__(self, value: Json) -> Json:
        if isinstance(value, dict):
            # Who may not decide stands as names (``approvals.rules``).
            return {ERASED if name == self.key else name: self(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        if text == self.key or text in self.names:
            return ERASED
        if text in self.reasons:
            return ""
        for known, instead in (
            (self.key, ERASED),
            *((name, ERASED) for name in self.names),
            *((reason, "") for reason in self.reasons),
        ):
            # As tools write it, and as models read it.
            for quoted in {json.dumps(known), json.dumps(known, ensure_ascii=False), dumped(known)}:
                text = text.replace(quoted, json.dumps(instead))
        for name in self.names:
            # Models were told what they wrote as staff.
            text = text.replace(described(name), described(ERASED))
        for reason in self.reasons:
            if len(reason) >= _REPEATED:
                text = text.replace(reason, "")
        return text


def entries_naming(session: Session, key: str, names: frozenset[str]) -> list[int]:
    """The entries of the decision log about what others did in ``session`` whose details name somebody: who was mailed,
    by whom it was decided before."""
    found = AuditEntry.objects.filter(session_id=session.public_id).exclude(salt="").exclude(who=key)
    is_named = _one_of(names)
    rows = found.exclude(details={}).values_list("number", "details")
    return [number for number, details in rows if is_named.search(json.dumps(details, ensure_ascii=False))]


def erase_naming(session: Session, key: str, names: frozenset[str]) -> int:
    """Erase ``entries_naming`` somebody, and their names in what Django's own log says of others; how many entries that
    were. The chain is the last thing that this locks (``ageing.erase``)."""
    _scrub_staff_log(session, names)
    named = entries_naming(session, key, names)
    return ageing.erase(AuditEntry.objects.filter(number__in=named)) if named else 0


def _scrub_staff_log(session: Session, names: frozenset[str]) -> None:
    if not apps.is_installed("django.contrib.admin"):
        return
    from django.contrib.admin.models import LogEntry
    from django.contrib.contenttypes.models import ContentType

    is_named, kind = _one_of(names), ContentType.objects.get_for_model(Approval)
    asked = [str(pk) for pk in session.approvals.values_list("pk", flat=True)]
    for entry in LogEntry.objects.filter(content_type=kind, object_id__in=asked):
        if (told := is_named.sub(ERASED, entry.change_message)) != entry.change_message:
            LogEntry.objects.filter(pk=entry.pk).update(change_message=told)


def _one_of(names: frozenset[str]) -> re.Pattern[str]:
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)" if words else r"(?!)")
