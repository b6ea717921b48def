"""Agent Cards of other agents, as they would show them."""

from __future__ import annotations

from typing import Any

EXTENSION = "https://beach.cool-ai.io/extensions/v1"


def agent_card(*consumes: str, **changes: Any) -> dict[str, Any]:
    """A card of A2A 1.0 that says in the Beach extension what its agent takes."""
    return {
        "name": "Baxter",
        "description": "Plans journeys.",
        "version": "1.0",
        "supportedInterfaces": [
            {
                "url": "https://baxter.example/a2a",
                "protocolBinding": "JSONRPC",
                "protocolVersion": "1.0",
            }
        ],
        "capabilities": {
            "extensions": [{"uri": EXTENSION, "params": {"envelopeConsumes": list(consumes)}}],
        },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "plan", "name": "Plan", "description": "Plans.", "tags": ["travel"]}],
        **changes,
    }
