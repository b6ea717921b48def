"""What a peer may be let do, a closed list: a scope only narrows what the same rights would allow a person (R10)."""

from __future__ import annotations

SCOPES: dict[str, str] = {
    "chat": "begin conversations and say something in its own",
    "read": "follow its own conversations and fetch what was answered",
    "decide": "answer an approval whose policy names it",
    "documents": "send documents and patches of them to its own conversations",
    "live": "use the live channel",
}

NOT_YET: dict[str, str] = {
    "decide": "no policy names one so far",
}
"""Those that let a peer do nothing so far, and why."""


def offered(name: str) -> str:
    """A scope for whoever chooses: its name, what it is, and that it does nothing yet where that is so."""
    told = f" ({NOT_YET[name]})" if name in NOT_YET else ""
    return f"{name}: {SCOPES[name]}{told}"
