"""What a function is, what it runs in, and the registry it is looked up in (rulebook 9.1)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal, TypeAlias

from a2ui.data.values import JSON
from a2ui.errors import DefinitionError, ExpressionError
from a2ui.functions import defining
from a2ui.safety.limits import DEFAULT_LIMITS, Limits
from a2ui.safety.raised import is_ours
from a2ui.schema.dynamic import Signature


def system_clock() -> datetime:
    """The clock of whoever is given no other (R7)."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Env:
    """Everything a function may know beside its arguments.

    `locale` is a BCP 47 tag (`pl-PL`, `pl_PL`), unknown ones mean English. `timezone` is the zone of the session.
    `now` is the clock: called without arguments it gives an aware time.
    """

    locale: str = "en-US"
    timezone: tzinfo = UTC
    limits: Limits = DEFAULT_LIMITS
    now: Callable[[], datetime] = system_clock


Evaluate: TypeAlias = Callable[[Mapping[str, Any], Env], JSON]

Price: TypeAlias = Callable[[Mapping[str, Any], Limits, set[str]], int]
"""(arguments, limits, what this drawing has paid for already) -> calls."""

Prepare: TypeAlias = Callable[[str, Mapping[str, Any], Env], Callable[[Any], JSON] | None]


Callers: TypeAlias = Literal["rendererOnly", "rendererOrAgent", "agentOnly"]
"""Who may call a function: interfaces, agents by `callRendererFunction`, or both (section 9 of the reading of 1.0)."""


@dataclass(frozen=True, slots=True)
class Function:
    """A catalog function.

    `evaluate` gets the resolved arguments by name (absent ones are missing or None) and returns a JSON value; it
    raises ExpressionError for arguments without meaning. `effect`: does something beyond its result, so it runs
    only as the direct result of a user action. `literal_args`: arguments that must be literals, never bindings.
    `signature`: what strict mode asks of a call.
    `prepare`, optional: given the name of the only argument that is not fixed, the fixed ones and the environment, a
    function of that argument alone which does the same as `evaluate`, or None.
    `price`, optional: what a call with these arguments costs in usual calls, beyond one.
    `callers`: `allowedCallers` of catalogs; agents may call no function with an `effect`.
    `remote`: the agent runs it when an interface calls it (`callAgentFunction`, 1.0): see `agent_function`.
    """

    name: str
    evaluate: Evaluate
    effect: bool = False
    literal_args: frozenset[str] = field(default_factory=frozenset)
    signature: Signature | None = None
    prepare: Prepare | None = None
    price: Price | None = None
    callers: Callers = "rendererOnly"
    remote: bool = False
    ours: bool = field(init=False)
    """Whether it is part of this package; of any other the value is looked at."""
    special: bool = field(init=False)
    """Whether interfaces call it in another way than most functions, or not at all."""

    def __post_init__(self) -> None:
        signature = self.signature
        known = None if signature is None else {*signature.required, *signature.optional}
        defining.check(self.name, self.evaluate, self.callers, self.literal_args, known, Callers)
        object.__setattr__(self, "ours", is_ours(defining.module_of(self.evaluate)))
        object.__setattr__(self, "special", self.effect or self.callers != "rendererOnly")

    @property
    def is_open(self) -> bool:
        """Whether agents may call it: there is an implementation here, which needs nobody's click."""
        return self.callers != "rendererOnly" and not self.remote and not self.effect


def agent_function(name: str, signature: Signature | None = None) -> Function:
    """A function that only the agent can run: interfaces call it, and show a mark until the answer comes."""
    return Function(name, _elsewhere, signature=signature, callers="rendererOrAgent", remote=True)


def _elsewhere(args: Mapping[str, Any], env: Env) -> JSON:
    raise ExpressionError("The agent runs this function.")


class FunctionRegistry:
    """Functions by name. Immutable once it is shared: `extend` makes a new registry."""

    __slots__ = ("_functions",)

    def __init__(self, functions: Iterable[Function] = ()) -> None:
        self._functions: dict[str, Function] = {}
        for function in functions:
            self.register(function)

    @property
    def by_name(self) -> Mapping[str, Function]:
        """All functions by name."""
        return self._functions

    def get(self, name: str) -> Function | None:
        """The function of that name, None if there is none."""
        return self._functions.get(name)

    def register(self, function: Function) -> None:
        """Add a function while the registry is being built. Raises ValueError if the name is taken."""
        if function.name in self._functions:
            raise ValueError(f"A function named {function.name!r} is registered already.")
        self._functions[function.name] = function

    @classmethod
    def named(cls, functions: Mapping[str, Function]) -> FunctionRegistry:
        """A registry in which functions have other names than their own."""
        registry = cls()
        registry._functions = dict(functions)
        return registry

    def extend(self, *functions: Function, replacing: Container[str] = ()) -> FunctionRegistry:
        """A new registry with these functions as well. Raises ``DefinitionError`` for one whose name is taken, unless
        it is said to be ``replacing`` the old one."""
        for function in functions:
            if function.name in self._functions and function.name not in replacing:
                raise DefinitionError(
                    f"There is a function {function.name!r} already; `replacing` names those that are to go."
                )
        extended = FunctionRegistry()
        extended._functions = {**self._functions, **{function.name: function for function in functions}}
        return extended

    def __iter__(self) -> Iterator[Function]:
        return iter(self._functions.values())

    def __len__(self) -> int:
        return len(self._functions)

    def __contains__(self, name: object) -> bool:
        return name in self._functions
