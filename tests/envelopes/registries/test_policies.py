"""Policies say who is asked; what they cannot mean is refused where it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from beachsite.suite import ROOT
from envelopes.errors import RegistrationError
from envelopes.registries.policies import (
    ASKED_AGAIN,
    MOST_NEEDED,
    OWNER,
    STAFF,
    Ask,
    AutoApprove,
    Group,
    Permission,
)
from envelopes.registries.tools import ApprovalPolicy

MANAGERS = Group("Travel managers")


async def _later(asking: object) -> Ask:
    return Ask()


def _of_two(one: object, two: object) -> Ask:
    return Ask()


WRONG: dict[str, Callable[[], object]] = {
    "nobody decides": lambda: Ask(deciders=()),
    "a word for a list": lambda: Ask(deciders="owner"),  # type: ignore[arg-type]
    "a word among deciders": lambda: Ask(deciders=["owner"]),  # type: ignore[list-item]
    "no number": lambda: Ask(needed=0),
    "a truth for a number": lambda: Ask(needed=True),
    "too many": lambda: Ask(needed=MOST_NEEDED + 1),
    "two owners": lambda: Ask(deciders=[OWNER], needed=2),
    "four eyes of one": lambda: Ask(deciders=[OWNER], four_eyes=True),
    "an unknown outcome": lambda: Ask(on_expiry="allow"),  # type: ignore[arg-type]
    "an unknown time": lambda: Ask(expires_after="soon"),  # type: ignore[arg-type]
    "asked again after never": lambda: Ask(on_expiry="ask-again", expires_after=None),
    "asked again after the policy's never": lambda: ApprovalPolicy(
        str, expires_after=None, rule=Ask(on_expiry="ask-again")
    ),
    "a window of nothing": lambda: Ask(reuse_within=0),
    "an endless window": lambda: Ask(reuse_within=float("inf")),
    "a permission without an app": lambda: Permission("decide"),
    "a group without a name": lambda: Group(" "),
    "a rule with blanks": lambda: AutoApprove("small amounts"),
    "a rule of the runtime's": lambda: AutoApprove("expiry"),
    "a rule that is none": lambda: ApprovalPolicy(str, rule="owner"),  # type: ignore[arg-type]
    "a rule that answers later": lambda: ApprovalPolicy(str, rule=_later),  # type: ignore[arg-type]
    "a rule of two values": lambda: ApprovalPolicy(str, rule=_of_two),  # type: ignore[arg-type]
    "a question of nothing": lambda: ApprovalPolicy(lambda: "?"),  # type: ignore[arg-type,misc]
    "a sentence of one value": lambda: ApprovalPolicy(str, done=lambda args: ""),  # type: ignore[arg-type,misc]
    "another risk": lambda: ApprovalPolicy(str, risk="huge"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_refused_where_it_is_written(name: str) -> None:
    with pytest.raises(RegistrationError):
        WRONG[name]()


def test_under_four_eyes_the_owner_is_none_of_those_who_decide() -> None:
    assert Ask().tokens == ("owner", "permission:envelopes.decide_approval")
    assert Ask(deciders=[OWNER, STAFF, MANAGERS], four_eyes=True).tokens == (
        STAFF.token,
        "group:Travel managers",
    )


def test_policies_of_before_mean_what_they_meant() -> None:
    policy: Any = ApprovalPolicy(lambda args: "Pay?", required=lambda args: args > 3, expires_after=None)

    assert policy.rule == Ask() and policy.editable
    assert policy.required(4) and not policy.required(3)


def test_limits_are_documented() -> None:
    limits = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")

    assert f"(`ask-again`) | {ASKED_AGAIN} |" in limits
    assert f"have to approve one call | {MOST_NEEDED} |" in limits
