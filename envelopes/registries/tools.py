"""Tools: what an actor may call besides respond().

A tool is a name, a pydantic model of its input and a function. Whatever has a side effect on the world says
so and waits for a person; whatever is not idempotent is never run twice (D19).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

from pydantic import BaseModel

from envelopes.errors import RegistrationError
from envelopes.protocol.respond import RESPOND
from envelopes.registries.base import Registry, check_name
from envelopes.registries.outputs import check_output, form_of
from envelopes.registries.policies import DEFAULT, Ask, Rule, check_callable, check_seconds
from envelopes.registries.retries import Retry
from envelopes.registries.shown import declare
from envelopes.registries.slots import check_data_name
from envelopes.registries.written import check_flag, check_input, check_run, check_tags, check_text
from envelopes.types import Json, JsonObject

Risk = Literal["low", "medium", "high"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What the Messages API takes as the name of a tool ("tools", field ``name``)."""


class ToolContext(Protocol):
    """What a running tool gets besides its arguments."""

    session_id: str
    turn_id: str
    call_id: str
    actor: str
    owner_name: str
    """What to call the person, possibly empty."""
    user: Any
    """The Django user whose conversation it is; None for a guest and for a program. Whoever has just written, where
    staff may, or has approved the call, is not meant."""
    stopped: bool
    """Whether nobody waits for it any more: it was stopped, its time is over, or this process ends. An async function
    is cancelled then; code in a thread has to look, between what it does, and end."""

    async def reveal(self, value: Json) -> Json:
        """The text behind the handle of an obscured field (D24); None when it has expired; other values as they are.

        What it gives must not be put into a result, a part or an error: all of them are stored.
        """
        ...

    async def attach(self, name: str, mime_type: str, content: bytes, *, alt: str = "") -> str:
        """Keep a file and show it as an ``artifact`` part; returns its id. ``alt`` says what is to be seen of a
        picture. Raises ``TooLarge``, ``LeaseLost``."""
        ...

    async def write_artifact(
        self,
        content: bytes,
        *,
        artifact_id: str = "",
        name: str = "",
        mime_type: str = "",
        alt: str = "",
        append: bool = False,
        last_chunk: bool = False,
        seq: int | None = None,
    ) -> str:
        """Write a file in pieces, each of which is shown at once on one card; returns its id (A2A,
        TaskArtifactUpdateEvent).

        Without ``artifact_id`` this begins a file. With it, ``append`` goes on after what is there, and a write
        without it replaces all of that. ``last_chunk`` ends the file, as the end of the call does; nothing can be
        appended afterwards. ``seq``, from 1, is the number of the write: one that was made before has no effect.

        Raises ``ValidationFailed`` for a file that is unknown in this conversation or ended, ``Forbidden`` for one of
        another actor or of a person, ``Conflict`` where a write with this ``seq`` had other bytes, ``TooLarge``,
        ``LeaseLost``. Nothing is changed then.
        """
        ...

    async def read_artifact(self, artifact_id: str) -> tuple[str, str, bytes]:
        """Name, media type and bytes of a file of this conversation, such as one that came with a message. Raises
        ``ValidationFailed`` for an unknown one."""
        ...

    async def emit(self, *parts: JsonObject) -> list[JsonObject]:
        """Append parts to the log now (``progress``, ``a2ui-surface``, ...); they are checked like an actor's. Returns
        the A2UI messages with what functions gave that they have called (``callRendererFunction``).

        Raises ``ValidationFailed`` for a bad part, with a pointer into ``parts`` (``/0/data``), and, with the rest
        stored, for a change of state that may not be made (``/0``, with ``problems``); ``RespondRefused`` for
        messages that a surface refuses (``/parts/0/...``); ``LeaseLost`` when another process has taken the work over.
        """
        ...


class ToolFunction(Protocol):
    """An async function, or a plain one, which may block: it is run in a thread of its own (``runtime.calling``)."""

    def __call__(self, context: ToolContext, args: Any, /) -> Awaitable[Json] | Json: ...


@dataclass(frozen=True)
class ApprovalPolicy:
    """How a person is asked before a tool runs.

    ``question`` is one plain sentence made from the arguments; ``done`` one made from arguments and result.
    ``required`` may look at the arguments. ``rule`` says who is asked and how many have to approve, or that a rule
    approves: an ``Ask``, or a function of ``Asking`` (``registries.policies``). ``expires_after``: seconds, "setting"
    for ``BEACH_APPROVAL_SECONDS``, None for a question that stays open. ``editable``: whoever may decide may correct
    the arguments first. ``peers`` are the names of those that may decide as well, in conversations of their own and
    with the scope for it; by default no program may. Raises ``RegistrationError`` for what cannot be meant.
    """

    question: Callable[[Any], str]
    why: Callable[[Any], str] = lambda args: ""
    done: Callable[[Any, Json], str] = lambda args, result: ""
    risk: Risk = "medium"
    risk_note: str = ""
    required: Callable[[Any], bool] = lambda args: True
    expires_after: float | Literal["setting"] | None = "setting"
    peers: Collection[str] = ()
    rule: Rule = DEFAULT
    editable: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.peers, str):
            raise RegistrationError(f"The peers of a policy are a list of names, not {self.peers!r}.")
        peers: Collection[Any] = self.peers
        if wrong := [peer for peer in peers if not isinstance(peer, str)]:
            raise RegistrationError(f"The peers of a policy are names; {wrong[0]!r:.60} is none.")
        check_flag("an approval policy", "editable", self.editable)
        for name in ("question", "why", "required"):
            check_callable(name, getattr(self, name), "args")
        check_callable("done", self.done, "args", "result")
        if self.risk not in get_args(Risk):
            raise RegistrationError(f"{self.risk!r} is none of {', '.join(get_args(Risk))}.")
        check_text("an approval policy", "risk_note", self.risk_note)
        check_seconds("expires_after", self.expires_after, ("setting", None), positive=True)
        if isinstance(self.rule, type):
            raise RegistrationError(
                f"The rule of a policy is {self.rule.__name__}(...), not the class itself."
            )
        if not isinstance(self.rule, Ask):
            check_callable("rule", self.rule, "asking")
        elif self.rule.on_expiry == "ask-again" and (self.rule.expires_after, self.expires_after) == (
            "policy",
            None,
        ):
            raise RegistrationError("What never expires is never asked again: say when it expires.")


@dataclass(frozen=True)
class Tool:
    """``background`` tools return at once to the model; their result is injected into the turn later.

    ``label`` is a present participle for people ("Booking the flight"). ``data_kind`` marks a result as data-bearing.
    ``unfinished`` makes parts from the id and the arguments of a call that has ended without a result, whoever ended
    it: the last word of the tool to a surface that it was filling. It must hold however far the call had come.
    ``answers``: the function of a catalog that it runs for interfaces (``callAgentFunction``): beside all turns,
    without a person's approval, and again after a crash.
    ``polled``: whoever follows a conversation on the live channel may have it run again and again, with arguments of
    their own, for a channel whose ``source`` it is: beside all turns, without a person's approval.
    ``concurrent``: whether it may run beside other calls of the same reply. One that is not idempotent, asks for
    approval or runs in the background never does: it is begun when those before it have ended.
    ``output`` is what its result has to be: one that is not is a fault of the tool, and goes no further
    (``registries.outputs``). ``tags`` are words by which actors take tools (``Actor.tagged``) and staff find actions.
    ``retry``: on what it is tried again by itself. Only a tool that may run twice can be, and one that asks for
    approval only where it says so itself (``idempotent=True``); None for ``idempotent`` is True and says nothing.
    Raises ``RegistrationError`` for a ``name`` that the Messages API would refuse, and for that of the runtime's own
    tool: a name is what a person reads on an approval, so it holds nothing that cannot be seen. Also for what is
    no model of an input, no function of a context and arguments, no policy and no time.
    """

    name: str
    description: str
    input: type[BaseModel]
    run: ToolFunction
    label: str = ""
    approval: ApprovalPolicy | None = None
    idempotent: bool | None = None
    background: bool = False
    data_kind: str | None = None
    timeout: float | None = None
    unfinished: Callable[[str, Any], Sequence[JsonObject]] | None = None
    answers: str = ""
    polled: bool = False
    concurrent: bool = True
    output: type[BaseModel] | None = None
    tags: tuple[str, ...] = ()
    retry: Retry | None = None

    def __post_init__(self) -> None:
        check_name("tool", self.name, _NAME)
        if self.name.casefold() == RESPOND:
            raise RegistrationError(f"{self.name!r} is the runtime's own tool.", name=self.name)
        owner = f"the tool {self.name!r}"
        check_text(owner, "description", self.description)
        check_text(owner, "label", self.label)
        check_input(owner, self.input)
        check_run(owner, self.run)
        if self.approval is not None and not isinstance(self.approval, ApprovalPolicy):
            raise RegistrationError(
                f"`approval` of {owner} is an ApprovalPolicy or None, not {self.approval!r:.60}.",
                name=self.name,
            )
        says_so = self.idempotent is not None
        if not says_so:
            object.__setattr__(self, "idempotent", True)
        for flag in ("idempotent", "background", "polled", "concurrent"):
            check_flag(owner, flag, getattr(self, flag))
        if self.output is not None:
            check_output(owner, self.output)
        check_tags(owner, self.tags)
        if self.retry is not None:
            self._check_retry(owner, says_so)
        check_seconds("timeout", self.timeout, (None,), positive=True)
        check_data_name(owner, "" if self.data_kind is None else self.data_kind)
        check_text(owner, "answers", self.answers)
        if self.unfinished is not None:
            check_callable("unfinished", self.unfinished, "id", "args")
        if self.polled and (self.approval is not None or self.background or not self.idempotent):
            raise RegistrationError(
                f"{self.name!r} may be polled, so it needs no approval, runs at once and may run twice.",
                name=self.name,
            )
        if self.answers and (self.approval is not None or self.background or not self.idempotent):
            raise RegistrationError(
                f"{self.name!r} answers interfaces, so it needs no approval, runs at once and may run twice.",
                name=self.name,
            )

    def _check_retry(self, owner: str, says_so: bool) -> None:
        if not isinstance(self.retry, Retry):
            raise RegistrationError(f"`retry` of {owner} is a Retry, not {self.retry!r:.60}.", name=self.name)
        if not self.idempotent:
            raise RegistrationError(
                f"{self.name!r} is not idempotent: after a failure it may have taken effect, "
                "so it is never tried again by itself.",
                name=self.name,
            )
        if self.approval is not None and not says_so:
            raise RegistrationError(
                f"{self.name!r} asks for approval: it is tried again only where it says `idempotent=True`.",
                name=self.name,
            )

    @property
    def runs_beside_others(self) -> bool:
        """Whether calls of it may run while others of the same reply do."""
        alone = self.approval is not None or self.background or not self.idempotent
        return self.concurrent and not alone

    @property
    def fields(self) -> list[JsonObject]:
        """What its author said of its arguments, for people: titles, formats (``envelopes.registries.shown``)."""
        return declare(self.input)

    def definition(self) -> JsonObject:
        """The tool as the Messages API wants it: the same object each time, for whoever only reads it."""
        return self._definition

    @cached_property
    def _definition(self) -> JsonObject:
        # Each step of each turn asks, and to make a schema takes as long as to store one.
        schema = self.input.model_json_schema()
        schema.pop("title", None)
        for part in (schema, *schema.get("$defs", {}).values()):
            if "properties" in part:
                # Keys that nothing reads are refused when a call is checked: the model has to know.
                part.setdefault("additionalProperties", False)
        told = self.description
        if self.output is not None and (form := form_of(self.output)):
            told = f"{told}\nReturns {form}".lstrip()
        return {"name": self.name, "description": told, "input_schema": schema}


runtime_tools: Registry[Tool] = Registry("tool of the runtime")
"""Tools that every actor has which has any: those that belong to what tools give. A tool of an actor's own goes before
one of its name."""

tools: Registry[Tool] = Registry("tool")
"""Tools for actors of other applications to use: an actor has those that it names, registered or not."""
