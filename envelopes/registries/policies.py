"""What the policy of a tool answers when a call is about to be asked about: ask, and whom; approved by a rule; or run.

A policy is ``Ask`` itself or a function of ``Asking``. What it answers is stored with the question, so changing it
changes no question that was asked. Whatever it cannot mean is refused where it is written (``RegistrationError``).
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from envelopes.errors import RegistrationError
from envelopes.registries.written import check_flag, check_text, is_async

OnExpiry = Literal["deny", "stay-open", "ask-again"]
"""``deny``: the call is denied (D18). ``stay-open``: the question has no end. ``ask-again``: it is asked anew, as
another attempt, ``ASKED_AGAIN`` times; then it is denied."""

ASKED_AGAIN = 3
"""How often a question that nobody answered is asked again."""
MOST_NEEDED = 20
"""People who have to approve one call, at most."""

_PERMISSION = re.compile(r"[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*")
_RULE = re.compile(r"[a-z][a-z0-9-]{0,47}")
_GROUP = re.compile(r"(?=.*\S).{1,150}")
_OWN_RULES = ("expiry", "reuse")


def _is_named(name: object, pattern: re.Pattern[str]) -> bool:
    return isinstance(name, str) and pattern.fullmatch(name) is not None


def check_seconds(name: str, given: object, words: tuple[object, ...], *, positive: bool = False) -> None:
    """Raises ``RegistrationError`` for what is neither one of ``words`` nor seconds, above 0 if ``positive``."""
    is_word = any(given is word or (isinstance(word, str) and given == word) for word in words)
    if is_word:
        return
    if not isinstance(given, int | float) or isinstance(given, bool) or not math.isfinite(given):
        allowed = ", ".join(map(repr, words))
        raise RegistrationError(f"{name} is a number of seconds or {allowed}, not {given!r}.")
    if positive and given <= 0:
        raise RegistrationError(f"{name} has to be more than 0 seconds.")


def check_callable(name: str, given: object, *arguments: str) -> None:
    """Raises ``RegistrationError`` for what cannot be called with that many values, or answers only later."""
    if not callable(given):
        of = ", ".join(arguments) or "nothing"
        raise RegistrationError(f"{name} is a function of {of}, not {given!r:.60}.")
    if is_async(given):
        raise RegistrationError(f"{name} answers at once: it cannot be async.")
    try:
        inspect.signature(given).bind(*arguments)
    except TypeError as error:
        raise RegistrationError(f"{name} is called with {', '.join(arguments)}: {error}.") from error
    except ValueError:
        # Some functions of C say nothing of what they take.
        return


@dataclass(frozen=True)
class Asking:
    """What a policy may look at. ``args`` is the tool's input, ``user`` the account of the conversation's owner (None
    for a guest and for a program), ``owner`` their key and ``owner_name`` what to call them; ``asked_by`` are the keys
    of all whose words this turn answers; ``attempt`` counts how often the same call was asked about here."""

    args: Any
    tool: str
    actor: str
    session_id: str
    user: Any = None
    owner: str = ""
    owner_name: str = ""
    asked_by: tuple[str, ...] = ()
    attempt: int = 1


@dataclass(frozen=True)
class Owner:
    """Whoever owns the conversation."""

    @property
    def token(self) -> str:
        return "owner"


@dataclass(frozen=True)
class Permission:
    """Users with a Django permission, ``app_label.codename``; of Beach's own only staff."""

    name: str

    def __post_init__(self) -> None:
        if not _is_named(self.name, _PERMISSION):
            raise RegistrationError(f"{self.name!r} is no permission: one is 'app_label.codename'.")

    @property
    def token(self) -> str:
        return f"permission:{self.name}"


@dataclass(frozen=True)
class Group:
    """Users in the Django group of this name."""

    name: str

    def __post_init__(self) -> None:
        if not _is_named(self.name, _GROUP):
            raise RegistrationError(f"{self.name!r} is no name of a group: one has 1 to 150 characters.")

    @property
    def token(self) -> str:
        return f"group:{self.name}"


Decider: TypeAlias = Owner | Permission | Group

OWNER = Owner()
STAFF = Permission("envelopes.decide_approval")
"""Staff who decide in all conversations."""


@dataclass(frozen=True)
class Ask:
    """People are asked: any of ``deciders``, of whom ``needed`` have to approve; one denial denies.

    ``four_eyes``: neither the owner nor whoever asked decides. ``expires_after``: seconds, "policy" for what the
    ``ApprovalPolicy`` says. ``reuse_within``: seconds for which the approval of the very same call, by a person, in the
    same conversation and for the same agent, is taken once more. ``login``: a link decides only while its addressee is
    signed in, and a mail or a button elsewhere does not, whatever ``BEACH_LINK_LOGIN`` says.
    """

    deciders: Sequence[Decider] = (OWNER, STAFF)
    needed: int = 1
    four_eyes: bool = False
    expires_after: float | Literal["policy", "setting"] | None = "policy"
    on_expiry: OnExpiry = "deny"
    reuse_within: float | None = None
    login: bool = False

    def __post_init__(self) -> None:
        deciders: object = self.deciders
        if not isinstance(deciders, list | tuple) or not deciders:
            raise RegistrationError("Name who may decide: a list of OWNER, Permission(...) and Group(...).")
        if wrong := [one for one in deciders if not isinstance(one, Owner | Permission | Group)]:
            raise RegistrationError(f"{wrong[0]!r} is neither OWNER, Permission(...) nor Group(...).")
        if type(self.needed) is not int or not 1 <= self.needed <= MOST_NEEDED:
            raise RegistrationError(f"{self.needed!r} people cannot be needed: 1 to {MOST_NEEDED} can.")
        only_owner = all(isinstance(one, Owner) for one in deciders)
        if only_owner and (self.needed > 1 or self.four_eyes):
            raise RegistrationError("The owner alone is one person: name who else decides.")
        if self.on_expiry not in get_args(OnExpiry):
            raise RegistrationError(f"{self.on_expiry!r} is none of {', '.join(get_args(OnExpiry))}.")
        check_flag("a question", "four_eyes", self.four_eyes)
        check_seconds("expires_after", self.expires_after, ("policy", "setting", None), positive=True)
        if self.on_expiry == "ask-again" and self.expires_after is None:
            raise RegistrationError("What never expires is never asked again: say when it expires.")
        check_seconds("reuse_within", self.reuse_within, (None,), positive=True)
        if type(self.login) is not bool:
            raise RegistrationError(f"login is True or False, not {self.login!r}.")

    @property
    def tokens(self) -> tuple[str, ...]:
        """Who may decide, as it is stored. Under four eyes the owner may not."""
        return tuple(one.token for one in self.deciders if not (self.four_eyes and isinstance(one, Owner)))


DEFAULT = Ask()
"""The owner, or staff who decide in all conversations."""


@dataclass(frozen=True)
class AutoApprove:
    """Nobody is asked: the rule ``name`` approves, and that is recorded. ``label`` is what people read of it."""

    name: str
    label: str = ""

    def __post_init__(self) -> None:
        if not _is_named(self.name, _RULE) or self.name in _OWN_RULES:
            raise RegistrationError(
                f"{self.name!r} is no name for a rule: it has to match {_RULE.pattern}, and is not "
                f"{' or '.join(_OWN_RULES)}."
            )
        check_text(f"the rule {self.name!r}", "label", self.label)


@dataclass(frozen=True)
class NoQuestion:
    """The call runs like that of a tool without a policy."""


Answer: TypeAlias = Ask | AutoApprove | NoQuestion
Rule: TypeAlias = Ask | Callable[[Asking], Answer]
