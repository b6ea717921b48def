"""Transports register themselves, by names that say what they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from django.urls import reverse

from envelopes import transports as folder
from envelopes.errors import RegistrationError
from envelopes.registries.transports import SessionFacts, Transport, TransportRegistry, transports


@pytest.mark.parametrize("name", ["pager", "Panel", "", "acme.", "acme/pager", "panel\n", "a" * 65])
def test_a_transport_needs_a_known_name_or_a_prefix(name: str) -> None:
    with pytest.raises(RegistrationError):
        TransportRegistry("transport").register(Transport(name, "streaming"))


def test_a_clash_and_an_unknown_capability_are_refused() -> None:
    registry = TransportRegistry("transport")
    registry.register(Transport("acme.pager", "buffered"))
    registry.register(Transport("sse", "streaming", capabilities=frozenset({"surfaces"})))
    with pytest.raises(RegistrationError):
        registry.register(Transport("acme.pager", "streaming"))
    with pytest.raises(RegistrationError, match="telepathy"):
        registry.register(Transport("live", "streaming", capabilities=frozenset({"telepathy"})))


def test_a_transport_that_nobody_follows_rows_over_presents_nothing() -> None:
    with pytest.raises(RegistrationError, match="email"):
        Transport("email", "buffered").present(SessionFacts("s", "en", "UTC"))


def test_the_panel_has_registered_itself_and_brought_its_addresses() -> None:
    assert "panel" in transports
    assert reverse("envelopes:session", args=["abc"]).endswith("/chat/abc/")


def test_a_folder_is_a_transport(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "acme_transports"
    for name in ("", "pager", "tape"):
        (package / name).mkdir(exist_ok=True, parents=True)
        (package / name / "__init__.py").touch()
    (package / "helper.py").write_text("raise AssertionError", encoding="utf-8")
    (package / "pager" / "transport.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match=r"acme_transports\.tape\.transport"):
        folder.discover("acme_transports")
    (package / "tape" / "transport.py").touch()
    folder.discover("acme_transports")
    found = {name for name in sys.modules if name.startswith("acme_transports")}
    for name in found:
        monkeypatch.delitem(sys.modules, name)
    assert {"acme_transports.pager.transport", "acme_transports.tape.transport"} <= found
