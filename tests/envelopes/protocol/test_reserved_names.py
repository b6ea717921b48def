"""Names of the runtime stay its own, however an agent writes them (D22)."""

from __future__ import annotations

import pytest

from envelopes.errors import ValidationFailed
from envelopes.protocol.surfaces import check_reserved
from envelopes.types import JsonObject


def surface(name: str) -> JsonObject:
    return {"createSurface": {"surfaceId": name}}


def action(name: str) -> JsonObject:
    button = {"id": "root", "component": "Button", "action": {"event": {"name": name}}}
    return {"updateComponents": {"surfaceId": "s", "components": [button]}}


@pytest.mark.parametrize("message", [surface, action])
@pytest.mark.parametrize(
    "name",
    [
        "beach:approve",
        "BEACH:approve",
        "_GGUI:x",
        " \tbeach:approve",
        "beach :approve",
        "be\u200bach:approve",
        "\ufeffbeach:approve",
        "\u00adbeach:approve",
        "\u2060beach:approve",
        "\uff42\uff45\uff41\uff43\uff48\uff1aapprove",
        "beach\ufe55approve",
    ],
)
def test_a_reserved_name_in_disguise_is_refused(message: object, name: str) -> None:
    assert callable(message)
    with pytest.raises(ValidationFailed, match="belong to the runtime"):
        check_reserved([message(name)])


@pytest.mark.parametrize("name", ["beaches", "my-beach:x", "ggui:x", "book"])
def test_other_names_are_nobodys(name: str) -> None:
    check_reserved([surface(name), action(name)])
