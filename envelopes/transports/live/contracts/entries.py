"""What a contract is made of (7.1), as it travels; nothing beside the named keys is taken."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from envelopes.types import Json, JsonObject

StreamMode = Literal["append", "replace"]
ReplayPolicy = Literal["none", "latest", "all"]

Name = Annotated[StrictStr, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PropEntry(_Strict):
    """A property of the interface."""

    schema_: JsonObject = Field(alias="schema")
    required: StrictBool = False
    default: Json = None
    example: Json = None
    description: StrictStr | None = None
    sourceTool: Name | None = None


class ActionEntry(_Strict):
    """Something that a person can do. Without ``schema`` it carries nothing that is checked."""

    label: StrictStr | None = None
    schema_: JsonObject | None = Field(None, alias="schema")
    description: StrictStr | None = None
    example: Json = None
    icon: StrictStr | None = None
    confirm: StrictStr | StrictBool | JsonObject | None = None
    nextStep: Name | None = None


class ChannelSource(_Strict):
    """The tool whose results a channel carries."""

    tool: Name
    args: JsonObject | None = None


class ChannelEntry(_Strict):
    """A channel on which an agent sends. ``complete`` says that it can end, not that it has."""

    schema_: JsonObject = Field(alias="schema")
    description: StrictStr | None = None
    example: Json = None
    mode: StreamMode = "append"
    replay: ReplayPolicy = "none"
    complete: StrictBool = False
    source: ChannelSource | None = None


class ContextEntry(_Strict):
    """A slot of what the interface tells the agent about itself. ``debounceMs`` in milliseconds."""

    schema_: JsonObject = Field(alias="schema")
    default: Json = None
    debounceMs: Annotated[StrictInt, Field(ge=0)] = 300
    example: Json = None
    description: StrictStr | None = None


class ToolInfo(_Strict):
    """What a tool takes and gives; any JSON Schema, since it is not ours to check by."""

    inputSchema: JsonObject
    description: StrictStr | None = None
    outputSchema: JsonObject | None = None


class ToolEntry(_Strict):
    """A tool that actions and channels refer to."""

    toolInfo: ToolInfo
    serverInfo: Any = None
    usage: StrictStr | None = None
    example: Json = None


ENTRIES: dict[str, type[_Strict]] = {
    "propsSpec": PropEntry,
    "actionSpec": ActionEntry,
    "streamSpec": ChannelEntry,
    "contextSpec": ContextEntry,
    "agentCapabilities": ToolEntry,
}
"""The parts of a contract, and what the entries of each are."""

ENTRIES_IN: dict[str, str] = {"propsSpec": "properties", "agentCapabilities": "tools"}
"""Where a part keeps its entries, if not directly."""
