"""What a peer may be let do, a closed list: a scope only narrows what the same rights would allow a person (R10)."""

from __future__ import annotations

SCOPES: dict[str, str] = {
    "chat": "begin conversations and say something in its own",
    "read": "follow its own conversations and fetch what was answered",
    "decide": "answer an approval whose policy names it",
    "documents": "send documents and patches of them to its own conversations",
    "live": "use the live channel",
}


def offered(name: str) -> str:
    """A scope for whoever chooses: its name, and what it is."""
    return f"{name}: {SCOPES[name]}"
