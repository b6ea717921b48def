"""What an approval card says of its rule: who may decide, who has, and what people changed of the call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from envelopes.markup.context import PageContext
from envelopes.markup.html import NOTHING, SafeString, html, icon, isolated, join, trusted
from envelopes.registries.policies import STAFF
from envelopes.types import JsonObject

_DEFAULT: Final = ("owner", "staff")
_DEFAULT_TOKENS: Final = ("owner", STAFF.token)
RULE_PREFIX: Final = "policy:"


def tokens_of(about: JsonObject) -> list[str]:
    """Who may decide, as the question has it (``approvals.rules``); of older questions nothing."""
    found = about.get("deciders")
    return [token for token in found if isinstance(token, str)] if isinstance(found, list) else []


def needed_of(about: JsonObject) -> int:
    """How many have to approve."""
    found = about.get("needed")
    return found if isinstance(found, int) and found > 1 else 1


def kinds(about: JsonObject) -> list[str]:
    """As what one decides here, in the words that a page has of its reader (``approvals.rights.kinds_of``); empty where
    it is as for every tool without a rule of its own."""
    of_token = {"owner": "owner", STAFF.token: "staff"}
    tokens = [token for token in tokens_of(about) if not token.startswith("peer:")]
    found = list(dict.fromkeys(of_token.get(token, "member") for token in tokens))
    return [] if not tokens or sorted(found) == sorted(_DEFAULT) else found


def attributes(about: JsonObject, given: Sequence[Mapping[str, object]]) -> SafeString:
    """What a page that knows its reader needs to tell whether there is anything for them to press: who may decide;
    ``data-given``, where the person in the conversation has approved; ``data-four-eyes``, where they may not."""
    found = kinds(about)
    return join(
        (
            html(' data-deciders="{}"', " ".join(found)) if found else NOTHING,
            trusted(" data-given") if _has_owner(given) else NOTHING,
            trusted(" data-four-eyes") if about.get("fourEyes") is True else NOTHING,
        )
    )


def _has_owner(given: Sequence[Mapping[str, object]]) -> bool:
    return any(one.get("role") == "owner" for one in given)


def gave(about: JsonObject, given: Sequence[Mapping[str, object]]) -> SafeString:
    """The sentence for the person in the conversation, where they have approved and others have not yet."""
    left = needed_of(about) - len(given)
    if left < 1 or not _has_owner(given):
        return NOTHING
    told = ngettext(
        "You approved this. {} more person has to approve before it runs.",
        "You approved this. {} more people have to approve before it runs.",
        left,
    )
    return html('<p class="b-approval__gave">{}</p>', told.format(left))


def theirs(about: JsonObject) -> SafeString:
    """The sentence for whoever may not decide."""
    names = [name for token in tokens_of(about) if (name := _named(token))]
    if not kinds(about):
        told = html("{}", _("Only the person in this conversation, or staff who approve, can decide."))
    elif len(names) == 1:
        told = html(_("Only {} can decide."), names[0])
    else:
        told = html(_("Only {} or {} can decide."), join(names[:-1], ", "), names[-1])
    if about.get("fourEyes") is True:
        told = html("{} {}", told, _("Whoever asked for it cannot."))
    return told


def deciders(about: JsonObject) -> SafeString:
    """Who may decide, as a fact above the card."""
    tokens = [name for token in tokens_of(about) or _DEFAULT_TOKENS if (name := _named(token))]
    told = tokens[0] if len(tokens) == 1 else html(_("{} or {}"), join(tokens[:-1], ", "), tokens[-1])
    # It begins with words of ours, never with a name.
    told = trusted(told[:1].upper() + told[1:])
    needed = needed_of(about)
    return html(_("{}; {} must approve"), told, needed) if needed > 1 else told


def _named(token: str) -> SafeString:
    kind, _colon, name = token.partition(":")
    if kind == "owner":
        return html("{}", _("the person in this conversation"))
    if token == STAFF.token:
        return html("{}", _("staff who approve"))
    if kind == "group":
        return html(_("a member of “{}”"), isolated(name))
    return html(_("whoever has the permission “{}”"), isolated(name)) if kind == "permission" else NOTHING


def votes(about: JsonObject, given: Sequence[Mapping[str, object]], page: PageContext) -> SafeString:
    """How many have approved of those who have to, and who; nothing where one is enough."""
    needed = needed_of(about)
    if needed == 1:
        return NOTHING
    left = needed - len(given)
    told = _("{} of {} approved").format(len(given), needed)
    if left > 0:
        more = ngettext("{} more is needed", "{} more are needed", left).format(left)
        told = f"{told}, {more}"
    dots = join(
        trusted('<i data-state="done"></i>' if number < len(given) else "<i></i>") for number in range(needed)
    )
    people = join(
        html(
            '<li data-state="done">{}<span>{}</span>{}</li>',
            icon("check"),
            _approved(one),
            page.clock(str(one["at"])) if one.get("at") else NOTHING,
        )
        for one in given
    )
    return html(
        '<div class="b-votes"><p class="b-votes__sum"><span class="b-votes__dots" aria-hidden="true">{}</span>{}</p>'
        "{}</div>",
        dots,
        told,
        html('<ul role="list">{}</ul>', people) if given else NOTHING,
    )


def _approved(decision: Mapping[str, object]) -> SafeString:
    told = html(_("{} approved"), who(decision))
    reason = decision.get("reason")
    return html("{}: <q>{}</q>", told, isolated(str(reason))) if reason else told


def who(decision: Mapping[str, object]) -> SafeString:
    """What people call whoever decided."""
    return isolated(str(decision.get("name") or "") or _("The visitor"))


def by_several(given: Sequence[Mapping[str, object]]) -> SafeString:
    """ "Ada and Maria"."""
    names = [who(one) for one in given]
    return html(_("{} and {}"), join(names[:-1], ", "), names[-1])


def by_rule(decided_by: str, name: str) -> SafeString:
    """What is told of a call that nobody was asked about."""
    if decided_by.startswith(f"{RULE_PREFIX}reuse:"):
        return html(_("Approved before by {}, and taken once more"), isolated(name or _("the visitor")))
    return html(_("Approved by the rule “{}”"), isolated(name or decided_by.removeprefix(RULE_PREFIX)))


def edited(about: JsonObject, changed: int) -> SafeString:
    """Who changed the call, and how much of it."""
    name = isolated(str(about.get("editedByName") or "") or _("The visitor"))
    told = ngettext("{} changed {} value.", "{} changed {} values.", changed)
    return html("{} {}", html(told, name, changed), _("This is what will run."))
