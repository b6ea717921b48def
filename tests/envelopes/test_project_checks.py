"""Each line that a project needs is named by a check, where it is missing and only there."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.checks import CheckMessage, run_checks
from django.urls import include, path

import envelopes
from beachsite.settings.base import MIDDLEWARE as OURS
from envelopes.checks import project
from envelopes.checks.settings import processes

ROOT = Path(envelopes.__file__).parent

prefixed = [path("<str:tenant>/beach/", include("envelopes.urls"))]
urlpatterns: list[Any] = []


def told(found: Any) -> list[tuple[str, str]]:
    messages: list[CheckMessage] = list(found)
    assert all(message.hint for message in messages), "every message says what to change"
    return [(str(message.id), str(message.hint)) for message in messages]


def test_this_site_has_every_line() -> None:
    assert [found.id for found in run_checks() if str(found.id).startswith("envelopes.")] == []


@pytest.mark.parametrize("name", sorted(project.APPS))
def test_an_application(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = project.apps
    monkeypatch.setattr(
        project,
        "apps",
        SimpleNamespace(is_installed=lambda asked: asked != name and here.is_installed(asked)),
    )
    assert told(project.applications(None)) == [("envelopes.E040", f"Add {name!r} to INSTALLED_APPS.")]


@pytest.mark.parametrize("name", project.MIDDLEWARE)
def test_middleware(name: str, settings: Any) -> None:
    settings.MIDDLEWARE = [given for given in OURS if given != name]
    assert told(project.middleware(None)) == [("envelopes.E041", f"Add {name!r} to MIDDLEWARE.")]


def test_middleware_that_derives_from_it_is_as_good(settings: Any) -> None:
    settings.MIDDLEWARE = [*project.MIDDLEWARE[1:], f"{__name__}.OwnSessions"]
    assert told(project.middleware(None)) == []


def _own_sessions() -> type:
    from django.contrib.sessions.middleware import SessionMiddleware

    return type("OwnSessions", (SessionMiddleware,), {})


OwnSessions = _own_sessions()


def test_templates_that_are_not_found(settings: Any) -> None:
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "APP_DIRS": False}]
    ((name, hint),) = told(project.templates(None))
    assert name == "envelopes.E042" and "Set APP_DIRS to True" in hint


@pytest.mark.parametrize("name", project.PROCESSORS)
def test_a_context_processor(name: str, settings: Any) -> None:
    given = settings.TEMPLATES[0]
    rest = [one for one in given["OPTIONS"]["context_processors"] if one != name]
    settings.TEMPLATES = [{**given, "OPTIONS": {"context_processors": rest}}]
    ((found, hint),) = told(project.templates(None))
    assert found == "envelopes.E043" and f"Add {name!r} to context_processors" in hint


@pytest.mark.parametrize(("checkout", "finder"), [(True, project.FINDER), (False, project.APP_FINDER)])
def test_a_finder(checkout: bool, finder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "finders", SimpleNamespace(find=lambda name: None))
    monkeypatch.setattr(project, "is_checkout", lambda: checkout)
    assert told(project.static_files(None)) == [("envelopes.E044", f"Add {finder!r} to STATICFILES_FINDERS.")]


@pytest.mark.parametrize("where", ["nowhere", "below an argument"])
def test_addresses(where: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "urlpatterns", [] if where == "nowhere" else prefixed)
    settings.ROOT_URLCONF = __name__
    ((found, hint),) = told(project.addresses(None))
    assert found == "envelopes.E045" and 'Add path("beach/", include("envelopes.urls"))' in hint


def test_times_without_a_zone(settings: Any) -> None:
    settings.USE_TZ = False
    assert told(project.time_zones(None)) == [("envelopes.E046", "Set USE_TZ to True.")]


def test_an_application_without_sockets(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_asgi.py").write_text("from django.core.asgi import get_asgi_application\n")
    monkeypatch.syspath_prepend(tmp_path)
    settings.ASGI_APPLICATION = "own_asgi.application"
    ((found, hint),) = told(project.sockets(None))
    assert found == "envelopes.W040" and hint.endswith("from envelopes.asgi import get_asgi_application")


def test_a_server_without_sockets(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DEBUG = True
    monkeypatch.setattr(project, "apps", SimpleNamespace(is_installed=lambda name: name != "daphne"))
    ((found, hint),) = told(project.sockets(None))
    assert found == "envelopes.W041" and "Put 'daphne' first in INSTALLED_APPS" in hint


@pytest.mark.parametrize(
    ("mode", "expected"), [("IMMEDIATE", []), ("deferred", ["envelopes.W042"]), ("", ["envelopes.W042"])]
)
def test_sqlite_that_locks_itself_out(
    mode: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"OPTIONS": {"transaction_mode": mode}}
    monkeypatch.setattr(project, "connection", SimpleNamespace(vendor="sqlite", settings_dict=options))
    assert [name for name, _ in told(project.sqlite(None))] == expected
    monkeypatch.setattr(project, "connection", SimpleNamespace(vendor="postgresql", settings_dict=options))
    assert told(project.sqlite(None)) == []


@pytest.mark.parametrize(
    ("installed", "site", "expected"),
    [
        (["envelopes.desk", "django.contrib.admin"], True, []),
        (["django.contrib.admin"], False, []),
        (["envelopes.desk", "django.contrib.admin"], False, ["envelopes.E047"]),
        (["django.contrib.admin"], True, ["envelopes.E047"]),
        (["django.contrib.admin", "envelopes.desk"], True, ["envelopes.E047"]),
    ],
)
def test_half_a_desk(
    installed: list[str], site: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configs = [SimpleNamespace(name=name) for name in installed]
    monkeypatch.setattr(project, "apps", SimpleNamespace(get_app_configs=lambda: configs))
    monkeypatch.setattr(project, "_desk_is_site", lambda: site)
    assert [name for name, _ in told(project.desk(None))] == expected


def test_a_desk_without_its_readers_zone(settings: Any) -> None:
    settings.MIDDLEWARE = [given for given in OURS if given != project.ZONE]
    assert [name for name, _ in told(project.desk(None))] == ["envelopes.W043"]


def test_each_check_has_an_id_of_its_own() -> None:
    found: dict[str, set[str]] = {}
    for file in [*(ROOT / "checks").glob("*.py"), *ROOT.glob("transports/*/checks.py")]:
        for function in ast.parse(file.read_text(encoding="utf-8")).body:
            for node in ast.walk(function):
                if isinstance(node, ast.Constant) and str(node.value).startswith(
                    ("envelopes.E", "envelopes.W")
                ):
                    found.setdefault(node.value, set()).add(f"{file}: {getattr(function, 'name', '')}")

    assert len(found) > 30
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_the_channel_layer_in_the_documents_is_one_that_several_processes_share(settings: Any) -> None:
    guide = (ROOT.parent / "docs" / "library.md").read_text(encoding="utf-8")
    (block,) = [text for text in guide.split("```python\n")[1:] if "CHANNEL_LAYERS" in text]
    names: dict[str, Any] = {}
    exec(compile(block.split("```")[0], "library.md", "exec"), names)  # noqa: S102
    assert names["BEACH_PROCESSES"] == 2
    settings.BEACH_PROCESSES = 2
    assert [found.id for found in processes(None)] == ["envelopes.E030"]
    settings.CHANNEL_LAYERS = names["CHANNEL_LAYERS"]
    assert processes(None) == []
