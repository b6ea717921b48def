"""Copies of static files with their compressed forms, for a server that looks files up one by one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from whitenoise.compress import Compressor

from beachsite.static import compressed


@pytest.fixture
def sheet(tmp_path: Path, settings: Any) -> Path:
    settings.BEACH_DATA = tmp_path / "data"
    file = tmp_path / "sheet.css"
    file.write_text("a { color: red }\n" * 200, encoding="utf-8")
    return file


def _kept(sheet: Path) -> list[str]:
    return sorted(file.name for file in (sheet.parent / "data").rglob("*") if file.is_file())


def test_whoever_comes_first_makes_the_copy_and_all_get_it(sheet: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        copies = set(threads.map(compressed, [str(sheet)] * 8))
    assert len(copies) == 1
    assert Path(copies.pop()).read_bytes() == sheet.read_bytes()
    assert _kept(sheet) == ["sheet.css", "sheet.css.gz"]


def test_a_copy_that_could_not_be_made_is_made_the_next_time(
    sheet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **options: Any) -> Any:
        raise OSError("no space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Compressor, "compress", full)
        with pytest.raises(OSError, match="no space"):
            compressed(str(sheet))
    assert _kept(sheet) == []
    compressed(str(sheet))
    assert _kept(sheet) == ["sheet.css", "sheet.css.gz"]
