"""System checks of the project around Beach: each line that is missing is named, with where it belongs."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.template import TemplateDoesNotExist
from django.template.loader import get_template

from envelopes.client.finders import is_checkout
from envelopes.transports import prefixes

APPS = {
    "a2ui": "the commands and pages of interfaces",
    "django_htmx": "the script by which pages change",
    "django.contrib.staticfiles": "the pages' own code and styles",
}
"""What has to be installed beside Beach, and what it brings. Without Django's accounts nothing starts at all."""
MIDDLEWARE = (
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
)
PROCESSORS = (
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
)
ZONE = "envelopes.desk.zone.reader_zone"
FINDER = "envelopes.client.finders.ClientFinder"
APP_FINDER = "django.contrib.staticfiles.finders.AppDirectoriesFinder"
ASGI = "from envelopes.asgi import get_asgi_application"


@checks.register()
def applications(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """What Beach is made of is installed."""
    return [
        checks.Error(
            f"{name!r} is not in INSTALLED_APPS: it has {what}.",
            hint=f"Add {name!r} to INSTALLED_APPS.",
            id="envelopes.E040",
        )
        for name, what in APPS.items()
        if not apps.is_installed(name)
    ]


@checks.register()
def middleware(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Without these nobody knows who asks."""
    return [
        checks.Error(
            f"{name!r} is not in MIDDLEWARE, so nobody knows who asks.",
            hint=f"Add {name!r} to MIDDLEWARE.",
            id="envelopes.E041",
        )
        for name in MIDDLEWARE
        if not any(_is_kind(given, name) for given in settings.MIDDLEWARE)
    ]


@checks.register()
def templates(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Django finds the pages, and they know who asks."""
    try:
        found: Any = get_template("beach/panel/page.html")
    except (TemplateDoesNotExist, ImproperlyConfigured):
        return [
            checks.Error(
                "TEMPLATES finds no template of Beach.",
                hint="Set APP_DIRS to True in a backend 'django.template.backends.django.DjangoTemplates'.",
                id="envelopes.E042",
            )
        ]
    processors = found.backend.engine.context_processors
    return [
        checks.Error(
            f"{name!r} is no context processor of the templates, so pages do not know who asks.",
            hint=f"Add {name!r} to context_processors in the OPTIONS of TEMPLATES.",
            id="envelopes.E043",
        )
        for name in PROCESSORS
        if name not in processors
    ]


@checks.register(checks.Tags.staticfiles)
def static_files(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """The pages' own code is found: in a wheel it is built, in a checkout it has a finder."""
    if not apps.is_installed("django.contrib.staticfiles") or finders.find("beach/panel.js") is not None:
        return []
    line = FINDER if is_checkout() else APP_FINDER
    return [
        checks.Error(
            "No finder of static files finds the code of the pages (beach/panel.js).",
            hint=f"Add {line!r} to STATICFILES_FINDERS.",
            id="envelopes.E044",
        )
    ]


@checks.register(checks.Tags.urls)
def addresses(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """The pages have an address."""
    try:
        prefixes.own()
    except ImproperlyConfigured as error:
        return [
            checks.Error(
                "envelopes.urls is included nowhere that has one address.",
                hint=f"Add {prefixes.INCLUDE} to the urlpatterns of {settings.ROOT_URLCONF}, under any prefix "
                f"without arguments. {error.__cause__}",
                id="envelopes.E045",
            )
        ]
    return []


@checks.register()
def time_zones(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Times are kept with their zone."""
    if settings.USE_TZ:
        return []
    return [
        checks.Error(
            "USE_TZ is off, and Beach stores times with their zone.",
            hint="Set USE_TZ to True.",
            id="envelopes.E046",
        )
    ]


@checks.register()
def sockets(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """The chat goes on over a socket, which Django's own application does not know."""
    found: list[checks.CheckMessage] = []
    file = _asgi_file()
    if file is not None and "envelopes.asgi" not in file.read_text(encoding="utf-8"):
        told = f"{file} does not name envelopes.asgi, so pages open and never connect."
        hint = f"Replace Django's import of get_asgi_application there: {ASGI}"
        found.append(checks.Warning(told, hint=hint, id="envelopes.W040"))
    if settings.DEBUG and not apps.is_installed("daphne"):
        told = "`manage.py runserver` has no sockets: it serves WSGI."
        hint = f"Put 'daphne' first in INSTALLED_APPS, and set ASGI_APPLICATION = {_asgi_name()!r}."
        found.append(checks.Warning(told, hint=hint, id="envelopes.W041"))
    return found


@checks.register(checks.Tags.database)
def sqlite(app_configs: Any, databases: Any = None, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """SQLite as Django sets it up answers "database is locked" as soon as two write: a transaction that has begun to
    read may not write any more once another one has."""
    mode = connection.settings_dict["OPTIONS"].get("transaction_mode", "")
    if connection.vendor != "sqlite" or str(mode).upper() in ("IMMEDIATE", "EXCLUSIVE"):
        return []
    return [
        checks.Warning(
            "SQLite lets two agents at once run into 'database is locked'.",
            hint='Add to the default of DATABASES: "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, '
            '"init_command": "PRAGMA journal_mode=WAL;"}.',
            id="envelopes.W042",
        )
    ]


@checks.register()
def desk(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """The desk is all there, or not there at all: its templates, its site, and the reader's time zone."""
    names = [one.name for one in apps.get_app_configs()]
    has_frame, has_site = "envelopes.desk" in names, _desk_is_site()
    if not has_frame and not has_site:
        return []
    found = [
        checks.Error(told, hint=hint, id="envelopes.E047") for told, hint in _desk(names, has_frame, has_site)
    ]
    if not found and ZONE not in settings.MIDDLEWARE:
        hint = f"Add {ZONE!r} to MIDDLEWARE, below Django's of sessions and accounts."
        return [
            checks.Warning(
                "The desk tells times in TIME_ZONE, not the reader's.", hint=hint, id="envelopes.W043"
            )
        ]
    return list(found)


def _desk(names: list[str], has_frame: bool, has_site: bool) -> Iterator[tuple[str, str]]:
    admin = "django.contrib.admin"
    if not has_site:
        yield (
            "'envelopes.desk' has templates for the desk, but the admin's site is another one.",
            f"Put 'envelopes.desk.apps.DeskConfig' into INSTALLED_APPS in place of {admin!r}.",
        )
    elif not has_frame or names.index("envelopes.desk") > names.index(admin):
        yield (
            "The admin's templates come before those of the desk.",
            "Put 'envelopes.desk' into INSTALLED_APPS above 'envelopes.desk.apps.DeskConfig'.",
        )


def _desk_is_site() -> bool:
    if not apps.is_installed("django.contrib.admin"):
        return False
    return str(getattr(apps.get_app_config("admin"), "default_site", "")).startswith("envelopes.")


def _is_kind(given: str, name: str) -> bool:
    """Whether a middleware is this one, or one of a class that derives from it."""
    if given == name:
        return True
    from django.utils.module_loading import import_string

    try:
        found, known = import_string(given), import_string(name)
    except ImportError:
        return False
    return isinstance(found, type) and issubclass(found, known)


def _asgi_name() -> str:
    # A new project has no such setting; daphne's is the first to want one.
    given = settings.ASGI_APPLICATION if hasattr(settings, "ASGI_APPLICATION") else None
    return str(given or f"{settings.ROOT_URLCONF.rpartition('.')[0]}.asgi.application")


def _asgi_file() -> Path | None:
    """The file of the project's ASGI application, where it is one."""
    try:
        spec = importlib.util.find_spec(_asgi_name().rpartition(".")[0])
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and Path(spec.origin).is_file() else None
