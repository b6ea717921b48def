"""Actors: who answers in a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from a2ui.safety.text import clean_text
from envelopes.conf import conf
from envelopes.errors import RegistrationError
from envelopes.protocol.text import is_blank
from envelopes.providers.port import Provider
from envelopes.registries.base import Registry, check_name
from envelopes.registries.policies import check_callable, check_seconds
from envelopes.registries.slots import Slot, check_slots
from envelopes.registries.tools import Tool, runtime_tools, tools
from envelopes.registries.written import check_flag, check_items, check_provider, check_tags, check_text
from envelopes.types import Json


@dataclass(frozen=True)
class Prompt:
    """A suggestion in the empty panel: a title, a line, and the text that it sends."""

    title: str
    detail: str
    text: str

    def __post_init__(self) -> None:
        for name in ("title", "detail", "text"):
            check_text("a prompt", name, getattr(self, name))
        if is_blank(self.text):
            raise RegistrationError(f"The prompt {self.title!r} sends nothing.")


@dataclass(frozen=True)
class Instructing:
    """What instructions may depend on: the conversation and whose it is. ``user`` is the owner's Django account, None
    for a guest and for a program; ``owner_name`` is what to call them, possibly empty. ``locale`` and ``timezone`` are
    those of the conversation (BCP 47, IANA)."""

    actor: str
    session_id: str = ""
    user: Any = None
    owner_name: str = ""
    locale: str = ""
    timezone: str = "UTC"


@dataclass(frozen=True)
class Actor:
    """One agent.

    ``provider`` is called once per turn, so that settings and tests can choose the model. ``instructions`` are the
    actor's own part of the system prompt, a text or a plain function of ``Instructing`` that gives one: it is asked
    once each time a process takes up a turn, in a thread in which the ORM works, and what it gives should stay the same
    within a conversation, or no prompt cache holds. The respond() snippet is added by the runtime. ``slots`` say where
    its data and the results of its tools go and how they come together; by default the newest of a kind stands for its
    turn.
    ``translator`` is called for the end of a turn that a program began which takes ``llm-context``: a fast model, which
    says for the program's own model what the answer means; None where there is none. ``turn_seconds`` is how long a
    turn of its may take; None for the setting ``BEACH_TURN_SECONDS``. ``contract`` is what front ends of their own may
    submit in its conversations and what it delivers to them (docs/live-channel.md), where a conversation has none of
    its own. ``takeover`` says whether staff may write in its conversations under their own names; None for the setting
    ``BEACH_TAKEOVER``. ``catalogs`` are ids of the A2UI catalogs that its models are told of, those that matter most
    first; None for those of the setting ``BEACH_A2UI_CATALOGS``, those of applications and the Basic Catalog.
    ``tagged``: it also has the tools that any application registers with one of these tags, as they are registered,
    behind its own, which go before one of the same name.

    Raises ``RegistrationError`` for what is no name, for a display name with characters that cannot be seen, for two
    tools of one name or that answer one function, for slots that contradict each other, and for what is no text,
    function or tuple where one is needed.
    """

    name: str
    display_name: str
    role: str
    instructions: str | Callable[[Instructing], str]
    provider: Callable[[], Provider]
    tools: tuple[Tool, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    greeting: str = "What can I do for you?"
    pledge: str = ""
    slots: tuple[Slot, ...] = ()
    translator: Callable[[], Provider | None] | None = None
    turn_seconds: float | None = None
    contract: Mapping[str, Json] | None = None
    takeover: bool | None = None
    catalogs: tuple[str, ...] | None = None
    tagged: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_name("actor", self.name)
        owner = f"the actor {self.name!r}"
        for name in ("display_name", "role", "greeting", "pledge"):
            check_text(owner, name, getattr(self, name))
        if callable(self.instructions):
            check_callable("instructions", self.instructions, "instructing")
        else:
            check_text(owner, "instructions", self.instructions)
        if is_blank(self.display_name) or clean_text(self.display_name) != self.display_name:
            raise RegistrationError(
                f"{self.display_name!r} is not what people can call an actor.", name=self.name
            )
        check_provider(owner, "provider", self.provider)
        if self.translator is not None:
            check_provider(owner, "translator", self.translator)
        check_items(owner, "tools", self.tools, Tool)
        check_tags(owner, self.tagged)
        check_items(owner, "prompts", self.prompts, Prompt)
        check_items(owner, "slots", self.slots, Slot)
        if self.catalogs is not None:
            check_items(owner, "catalogs", self.catalogs, str)
        if self.contract is not None and not isinstance(self.contract, Mapping):
            raise RegistrationError(
                f"`contract` of {owner} is an object, not {self.contract!r:.60}.", name=self.name
            )
        if self.takeover is not None:
            check_flag(owner, "takeover", self.takeover)
        check_seconds("turn_seconds", self.turn_seconds, (None,))
        if self.turn_seconds is not None and not self.turn_seconds > 0:
            raise RegistrationError(f"A turn of {self.name!r} needs some time.", name=self.name)
        taken: set[str] = set()
        for tool in self.tools:
            if tool.name.casefold() in taken:
                raise RegistrationError(
                    f"The actor {self.name!r} has two tools called {tool.name!r}.", name=tool.name
                )
            taken.add(tool.name.casefold())

        answered = [tool.answers for tool in self.tools if tool.answers]
        if len(answered) > len(set(answered)):
            raise RegistrationError(f"Two tools of {self.name!r} answer one function.", name=self.name)
        check_slots(self.name, self.slots)

    def instructions_for(self, instructing: Instructing) -> str:
        """Its instructions in one conversation. Raises ``RegistrationError`` where its function gives no text, and
        whatever that raises."""
        if isinstance(self.instructions, str):
            return self.instructions
        given: object = self.instructions(instructing)
        if not isinstance(given, str):
            raise RegistrationError(
                f"`instructions` of the actor {self.name!r} gives a text, not {given!r:.60}.", name=self.name
            )
        return given

    @property
    def budget(self) -> float:
        """How many seconds a turn of its may take."""
        return conf.BEACH_TURN_SECONDS if self.turn_seconds is None else self.turn_seconds

    @property
    def lets_staff_write(self) -> bool:
        """Whether staff may take its conversations over."""
        return conf.BEACH_TAKEOVER if self.takeover is None else self.takeover

    @property
    def all_tools(self) -> tuple[Tool, ...]:
        """Its own tools and those that are registered with one of its tags."""
        if not self.tagged:
            return self.tools
        own = {tool.name.casefold() for tool in self.tools}
        wanted = set(self.tagged)
        found = (tool for tool in tools if wanted.intersection(tool.tags) and tool.name.casefold() not in own)
        return (*self.tools, *found)

    @property
    def offered(self) -> list[Tool]:
        """What its model may call beside respond(): its tools and, where it has any, those of the runtime."""
        given = self.all_tools
        taken = {tool.name for tool in given}
        beside = (tool for tool in runtime_tools if tool.name not in taken)
        return [*given, *beside] if given else []

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.offered if tool.name == name), None)

    def answering(self, function: str) -> Tool | None:
        """The tool that runs a function of a catalog when an interface calls it; None where the actor answers."""
        return next((tool for tool in self.all_tools if tool.answers == function), None)


actors: Registry[Actor] = Registry("actor")


def agent_name(name: str) -> str:
    """What people call the agent ``name``; that itself where it is no longer there."""
    actor = actors.get(name)
    return actor.display_name if actor is not None else name


def default_actor() -> Actor:
    """The actor of a new conversation: that of the setting, else the first that was registered. Raises
    ``RegistrationError`` where there is none."""
    name = conf.BEACH_DEFAULT_ACTOR
    first = next(iter(actors.names()), "")
    if not name and not first:
        raise RegistrationError("No application registers an agent: `manage.py beach new-agent` writes one.")
    return actors[name or first]
