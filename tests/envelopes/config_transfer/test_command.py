"""``manage.py beach config``, as it is typed."""

from __future__ import annotations

import json
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command

from envelopes import peers
from envelopes.config_transfer import sealing
from envelopes.management import configuring
from envelopes.models import Peer

pytestmark = pytest.mark.django_db

PASSPHRASE = "correct horse battery"


@pytest.fixture(autouse=True)
def _given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "COST", 2**14)
    monkeypatch.setenv(configuring.PASSPHRASE, PASSPHRASE)


def config(*words: object) -> list[str]:
    out = StringIO()
    call_command("beach", "config", *map(str, words), stdout=out, no_color=True)
    return out.getvalue().splitlines()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Of a site with one peer and one group, which is gone."""
    peers.add("desk", ["chat", "read"], rate=60)
    Group.objects.create(name="Deciders")
    assert config("export", tmp_path / "site.json") == [f"Written: {tmp_path}/site.json (config)."]
    return tmp_path / "site.json"


def test_an_export_is_for_its_owners_eyes_and_overwrites_nothing(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    with pytest.raises(CommandError, match="there already"):
        config("export", file)
    assert file.read_bytes() == before


def test_an_import_tells_what_it_changes_and_no_secret(file: Path, settings: object) -> None:
    digest, end = Peer.objects.values_list("token_digest", "token_end")[0]
    peers.renew(Peer.objects.get())
    Peer.objects.update(rate=5, scopes=["read", "act"])
    later = Peer.objects.get().token_end
    Group.objects.all().delete()
    Group.objects.create(name="Others")
    settings.BEACH_MODEL = "other"  # type: ignore[attr-defined]
    told = [
        "+ group Deciders: added",
        "    permissions: []",
        "= group Others: only here, and stays",
        "~ peer desk: changed",
        f"    token: ...{later} -> ...{end}",
        "    scopes: +chat -act",
        "    rate: 5 -> 60",
        "! BEACH_MODEL: claude-sonnet-5-5 in the file, other here (set where it runs, not imported)",
    ]

    dry = config("import", file, "--dry-run")
    assert dry == [*told, "2 would change, 0 as they were."]
    assert Peer.objects.get().rate == 5
    assert config("import", file) == [*told, "2 changed, 0 as they were."]
    assert Peer.objects.get().rate == 60
    again = config("import", file)
    assert again == [told[2], told[-1], "0 changed, 2 as they were."]
    assert not any(digest in line or PASSPHRASE in line for line in dry)


def test_a_passphrase_file_holds_it_in_its_first_line(file: Path, tmp_path: Path) -> None:
    held = tmp_path / "passphrase"
    held.write_text(f"{PASSPHRASE}\r\nnot this\n")
    assert config("import", file, "--passphrase-file", held)[-1] == "0 changed, 2 as they were."


def test_without_a_passphrase_or_with_a_wrong_one_it_says_so(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(configuring.PASSPHRASE, "some other words")
    with pytest.raises(CommandError, match="does not open this file"):
        config("import", file)
    monkeypatch.delenv(configuring.PASSPHRASE)
    with pytest.raises(CommandError, match="There is no passphrase"):
        config("import", file)
    with pytest.raises(CommandError, match="There is no passphrase"):
        config("export", tmp_path / "other.json")
    assert not (tmp_path / "other.json").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"v": "1"}'])
def test_what_is_no_such_file_is_refused_in_a_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(CommandError):
        config("import", tmp_path / "x")
    with pytest.raises(CommandError):
        config("import", tmp_path / "none")


def test_what_is_far_too_long_is_not_even_read() -> None:
    with pytest.raises(CommandError, match="more than 16,777,216 bytes"):
        config("import", "/dev/zero")


def test_what_a_file_says_of_its_settings_writes_nothing_to_the_terminal(file: Path) -> None:
    from envelopes import config_transfer
    from envelopes.protocol.config_envelope import ConfigEnvironment, ConfigMetadata

    payload = config_transfer.read(file.read_text(), PASSPHRASE)[1]
    wicked = {"\x1b[2J": "\x1b]0;title\x07"}
    metadata = ConfigMetadata(exported_at="now", environment=ConfigEnvironment(settings=dict(wicked)))
    sealed = sealing.seal("config", metadata, payload.model_dump_json().encode(), PASSPHRASE)
    file.write_text(json.dumps(sealed.as_json()))

    told = "\n".join(config("import", file, "--dry-run"))
    assert "[2J" in told and "\x1b" not in told and "\x07" not in told
