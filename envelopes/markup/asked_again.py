"""A model that failed is asked again: what people and staff read of it."""

from __future__ import annotations

from django.utils.translation import gettext as _

from envelopes.types import JsonObject


def was_to_be_asked(retry: JsonObject, at: str) -> str:
    """``asked_again`` for whoever reads it later, whatever has come of it."""
    words = {
        "busy": _("{} was busy, to be tried again at {}"),
        "silent": _("{} did not answer, to be tried again at {}"),
        "broken": _("The connection to {} broke off, to be tried again at {}"),
    }
    told = words.get(str(retry.get("why"))) or _("{} had a problem, to be tried again at {}")
    return told.format(str(retry.get("who")), at)


def asked_again(retry: JsonObject, at: str) -> str:
    """``retry`` as a ``turn`` row has it (``protocol.rows.TurnData``), ``at`` as its reader writes that moment."""
    words = {
        "busy": _("{} is busy, trying again at {}"),
        "silent": _("{} did not answer, trying again at {}"),
        "broken": _("The connection to {} broke off, trying again at {}"),
    }
    told = words.get(str(retry.get("why"))) or _("{} had a problem, trying again at {}")
    return told.format(str(retry.get("who")), at)
