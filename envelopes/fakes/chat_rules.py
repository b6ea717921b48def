"""What OpenAI's chat completions demand of a request, as far as it decides what a client must send."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_TOOL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


def problem_of(path: str, headers: Mapping[str, str], body: Any) -> tuple[int, str, str] | None:
    """``(status, code, message)`` of the first thing that the API would refuse, or None."""
    if path.split("?", maxsplit=1)[0] != "/v1/chat/completions":
        return 404, "unknown_url", f"No {path}."
    key = headers.get("authorization", "").removeprefix("Bearer ")
    if not key or key == "wrong":
        return 401, "invalid_api_key", "Incorrect API key provided"
    found = next(_problems(body), None)
    return None if found is None else (400, "invalid_value", found)


def _problems(body: Any) -> Iterator[str]:
    if not isinstance(body, dict):
        yield "The body is no JSON object."
        return
    if not isinstance(body.get("model"), str):
        yield "you must provide a model parameter"
    if body.get("stream") is not True:
        yield "stream: this fake only streams"
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield "max_tokens and max_completion_tokens cannot both be set"
    if body.get("reasoning_effort", "low") not in _EFFORTS:
        yield "reasoning_effort: unsupported value"
    if not 0 <= body.get("temperature", 1) <= 2:
        yield "temperature: must be between 0 and 2"
    tools = body.get("tools")
    if tools == []:
        yield "tools: empty array"
    if "tool_choice" in body and not tools:
        yield "tool_choice is only allowed when tools are specified"
    yield from _tools(tools or [])
    yield from _messages(body.get("messages"))


def _tools(tools: list[dict[str, Any]]) -> Iterator[str]:
    for number, tool in enumerate(tools):
        function = tool.get("function", {})
        if tool.get("type") != "function" or not _TOOL.fullmatch(function.get("name", "")):
            yield f"tools[{number}].function.name: string does not match pattern"
        if function.get("parameters", {}).get("type") != "object":
            yield f"tools[{number}].function.parameters: schema must be of type 'object'"


def _messages(messages: Any) -> Iterator[str]:
    if not isinstance(messages, list) or not messages:
        yield "messages: too short"
        return
    asked: list[str] = []
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        role = message.get("role")
        if asked and role != "tool":
            yield f"{where}: tool_call_ids did not have response messages: {', '.join(asked)}"
        match role:
            case "system" | "developer" | "user":
                if not isinstance(message.get("content"), str) or not message["content"].strip():
                    yield f"{where}.content: a non-empty string"
            case "tool":
                if message.get("tool_call_id") not in asked:
                    yield f"{where}: 'tool' must be a response to a preceding message with 'tool_calls'"
                else:
                    asked.remove(message["tool_call_id"])
                if not isinstance(message.get("content"), str):
                    yield f"{where}.content: a string"
            case "assistant":
                yield from _assistant(where, message)
                asked = [call["id"] for call in message.get("tool_calls", [])]
            case other:
                yield f"{where}.role: invalid value {other!r}"
    if asked:
        yield f"tool_call_ids did not have response messages: {', '.join(asked)}"


def _assistant(where: str, message: dict[str, Any]) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls == [] or (not calls and not message.get("content")):
        yield f"{where}: an assistant message needs content or tool_calls"
    for call in calls or []:
        if call.get("type") != "function" or not isinstance(call.get("function", {}).get("arguments"), str):
            yield f"{where}.tool_calls: type and arguments"
            continue
        try:
            json.loads(call["function"]["arguments"])
        except ValueError:
            yield f"{where}.tool_calls: arguments are no JSON"
