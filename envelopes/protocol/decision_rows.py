"""Rows about decisions that do not settle an approval: one of several, too late, by whoever may not, with more than a
decision."""

from __future__ import annotations

from typing import TypedDict

from envelopes.types import JsonObject


class GrantData(TypedDict):
    """One of several who have to approve has done so, and the question stays open: ``given`` have of ``needed``.
    ``by`` is the key of the principal, ``name`` what people call them, ``role`` by what right, ``source`` the door."""

    approvalId: str
    by: str
    name: str
    role: str
    source: str
    reason: str
    given: int
    needed: int


class EditIgnoredData(TypedDict):
    """Arguments, or whatever else, that came along with a decision: they changed nothing (D20)."""

    approvalId: str
    by: str
    source: str
    sent: JsonObject


class LateDecisionData(TypedDict):
    """A decision that changed nothing, since there was one already. ``by`` is the key of the principal."""

    approvalId: str
    decision: str
    by: str
    reason: str
    source: str


class TriedDecisionData(TypedDict):
    """A decision by somebody who may not decide; it changed nothing. ``by`` is the key of the principal."""

    approvalId: str
    decision: str
    by: str
    source: str
