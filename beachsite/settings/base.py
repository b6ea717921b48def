"""What every way to run has in common. Everything that differs between machines comes from the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import django_stubs_ext
from csp.constants import NONE, SELF

from beachsite.settings import env
from beachsite.settings.database import database

# Makes `ModelAdmin[Booking]` and its like, which the type checker asks for, mean something when they are run.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent.parent
# Installed from a wheel, the site lies among other packages: what it keeps is where it is started.
HOME = BASE_DIR if (BASE_DIR / "manage.py").is_file() else Path.cwd()
BEACH_DATA = Path(env.text("BEACH_DATA", str(HOME / "var"))).expanduser().resolve()

# -- the application -----------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "daphne",  # first: its runserver replaces Django's
    "envelopes.desk",  # above the admin, whose templates it has in its own form
    "envelopes.desk.apps.DeskConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "csp",
    "waffle",
    "a2ui",
    "envelopes",
    "beachsite.demo",
    "beachsite",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "beachsite.static.StaticFilesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "envelopes.desk.zone.reader_zone",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "beachsite.urls"
ASGI_APPLICATION = "beachsite.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# -- language and time ---------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = ["beachsite.formats"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = env.time_zone("TIME_ZONE", "UTC")

# -- storage and messages between processes ------------------------------------------------------------------

DATABASES = {"default": database(env.text("DATABASE_URL"), BEACH_DATA)}

REDIS_URL = env.text("REDIS_URL")
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        # The layer waits five seconds at a time for a message; a read must be allowed to take longer than that.
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "socket_timeout": 15}],
            "prefix": "beach",
            "capacity": 1000,
        },
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 1000}}
}

# -- files ---------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
BEACH_CLIENT_FOLDER = str(BEACH_DATA / "client")
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    # In a checkout modules and styles are served as one file each of what they are now.
    "envelopes.client.finders.ClientFinder",
]
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    # Files of conversations: in a folder that nothing but the application serves, and that nobody else may read.
    "artifacts": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": Path(env.text("BEACH_ARTIFACT_ROOT", str(BEACH_DATA / "artifacts"))),
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
}
STATIC_ROOT = Path(env.text("BEACH_STATIC_ROOT", str(HOME / "var" / "static")))

# -- doors ---------------------------------------------------------------------------------------------------

ALLOWED_HOSTS = env.words("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
BEACH_ALLOWED_ORIGINS = env.words("BEACH_ALLOWED_ORIGINS")

BEACH_IMAGE_HOSTS = env.words("BEACH_IMAGE_HOSTS")
BEACH_INLINE_CATALOGS = env.words("BEACH_INLINE_CATALOGS")
BEACH_A2UI_CATALOGS = env.words("BEACH_A2UI_CATALOGS")
_MEDIA = [SELF, *(f"https://{host}" for host in BEACH_IMAGE_HOSTS)]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [*_MEDIA, "data:"],
        "media-src": _MEDIA,
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        # A page with an approve button must not be framed by anyone.
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"

# -- mail ----------------------------------------------------------------------------------------------------

EMAIL_BACKEND = env.text("EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend")
EMAIL_HOST = env.text("EMAIL_HOST", "localhost")
EMAIL_PORT = env.number("EMAIL_PORT", 25)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS", default=False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "beach@localhost")

# -- Beach ---------------------------------------------------------------------------------------------------

# Who runs turns: tasks inside the web process, or separate worker processes.
BEACH_EXECUTOR = env.choice("BEACH_EXECUTOR", ("inprocess", "worker"), "inprocess")
# How many web processes share the database; told, since no process can see its siblings.
BEACH_PROCESSES = env.number("BEACH_PROCESSES", 1, least=1)
# Who answers in a new session.
BEACH_DEFAULT_ACTOR = "sally"
# How many threads of a process work for sessions with the database, each with a connection that it keeps. SQLite takes
# one writer at a time, and whoever meets another waits longer than that one takes.
BEACH_DATABASE_THREADS = env.number(
    "BEACH_DATABASE_THREADS", 1 if DATABASES["default"]["ENGINE"].endswith("sqlite3") else 4, least=1
)
# How many turns a process runs at once; others wait, the oldest first.
BEACH_TURNS_AT_ONCE = env.number("BEACH_TURNS_AT_ONCE", 500, least=1)
# Where webhooks may go, how often one is tried, and for how many days it is kept what became of it.
BEACH_WEBHOOK_HOSTS = env.words("BEACH_WEBHOOK_HOSTS")
BEACH_WEBHOOK_ATTEMPTS = env.number("BEACH_WEBHOOK_ATTEMPTS", 12, least=1)
BEACH_WEBHOOK_DAYS = env.number("BEACH_WEBHOOK_DAYS", 30, least=1)
BEACH_AUDIT_DAYS = env.number("BEACH_AUDIT_DAYS", 0)
BEACH_RETENTION_DAYS = env.number("BEACH_RETENTION_DAYS", 0)
# How long a turn stays with a process that has stopped answering.
BEACH_LEASE_SECONDS = env.seconds("BEACH_LEASE_SECONDS", 15.0)
# How long a reader may take nothing of what is being sent to it before it is cut off.
BEACH_READER_SECONDS = env.seconds("BEACH_READER_SECONDS", 60.0)
# How many sockets, each of an open page, a process keeps for one person or guest.
BEACH_SOCKETS_PER_CALLER = env.number("BEACH_SOCKETS_PER_CALLER", 100, least=1)
# How many files a process sends at once: to all, and to one caller.
BEACH_DOWNLOADS = env.number("BEACH_DOWNLOADS", 500, least=1)
BEACH_DOWNLOADS_PER_CALLER = env.number("BEACH_DOWNLOADS_PER_CALLER", 50, least=1)
# How many streams of events a process keeps open: for all, and for one peer or person.
BEACH_STREAMS = env.number("BEACH_STREAMS", 2000, least=1)
BEACH_STREAMS_PER_CALLER = env.number("BEACH_STREAMS_PER_CALLER", 100, least=1)
# What connections of the live channel may take that have subscribed to nothing yet: how many of them a process has, how
# long each stays, how long a frame may be. 0 takes a cap off.
BEACH_LIVE_PENDING = env.number("BEACH_LIVE_PENDING", 1024)
BEACH_LIVE_PENDING_SECONDS = env.seconds("BEACH_LIVE_PENDING_SECONDS", 30.0, zero=True)
BEACH_LIVE_PENDING_BYTES = env.number("BEACH_LIVE_PENDING_BYTES", 65536)
# How many channels one of its connections may have polled.
BEACH_LIVE_PULLS = env.number("BEACH_LIVE_PULLS", 16, least=1)
# How many deliveries of the live channel are replayed to whoever comes back.
BEACH_LIVE_RING = env.number("BEACH_LIVE_RING", 256, least=1)
# Whether to subscribe to a session that is not there makes it.
BEACH_LIVE_PROVISION = env.flag("BEACH_LIVE_PROVISION", default=False)
# The version of the wire that is advertised, and what becomes of clients that do not know it.
BEACH_LIVE_VERSION = env.text("BEACH_LIVE_VERSION")
BEACH_LIVE_VERSION_POLICY = env.choice("BEACH_LIVE_VERSION_POLICY", ("reject", "advisory"), "reject")
# How long an approval may wait for a person.
BEACH_APPROVAL_SECONDS = env.seconds("BEACH_APPROVAL_SECONDS", 15 * 60)
# Who is told of an approval by mail, and after how many seconds; where replies go, the mail hosts that vouch for who
# sends them, and what signs those that are posted.
BEACH_APPROVAL_MAIL = env.choice("BEACH_APPROVAL_MAIL", ("off", "staff", "owner", "all"), "off")
BEACH_APPROVAL_MAIL_SECONDS = env.seconds("BEACH_APPROVAL_MAIL_SECONDS", 120, zero=True)
BEACH_MAIL_REPLY_TO = env.text("BEACH_MAIL_REPLY_TO")
BEACH_MAIL_AUTHSERV = env.words("BEACH_MAIL_AUTHSERV")
BEACH_MAIL_SECRET = env.text("BEACH_MAIL_SECRET")
# How the chat says that an approval waits while its reader looks elsewhere.
BEACH_NOTICES = env.choice("BEACH_NOTICES", ("title", "off", "web"), "title")
# Buttons elsewhere: what signs presses of them, and who is who here.
BEACH_BUTTON_SECRET = env.text("BEACH_BUTTON_SECRET")
BEACH_BUTTON_USERS = env.words("BEACH_BUTTON_USERS")
BEACH_SLACK_SECRET = env.text("BEACH_SLACK_SECRET")
BEACH_WHATSAPP_SECRET = env.text("BEACH_WHATSAPP_SECRET")
BEACH_WHATSAPP_VERIFY = env.text("BEACH_WHATSAPP_VERIFY")
# Links to approvals, in mails and from the command: the address of the site in them, how long one holds, and whether
# its addressee has to be signed in as well.
BEACH_SITE_URL = env.text("BEACH_SITE_URL")
BEACH_LINK_SECONDS = env.seconds("BEACH_LINK_SECONDS", 24 * 60 * 60)
BEACH_LINK_LOGIN = env.choice("BEACH_LINK_LOGIN", ("never", "high", "always"), "never")
# How long a turn may take, people and other agents that it waits for left out.
BEACH_TURN_SECONDS = env.seconds("BEACH_TURN_SECONDS", 30 * 60)
# Staff may write in conversations of agents that do not say so themselves.
BEACH_TAKEOVER = env.flag("BEACH_TAKEOVER", default=False)
# What becomes of a model's thinking: staff read it, only who reads the database does, or it is not kept.
BEACH_REASONING = env.choice("BEACH_REASONING", ("staff", "audit", "off"), "staff")
# Characters a second that the scripted model "writes"; 0 does not wait.
BEACH_SCRIPT_PACE = env.number("BEACH_SCRIPT_PACE", 900)
# Seconds that each step of the demo's research takes.
BEACH_DEMO_PACE = env.seconds("BEACH_DEMO_PACE", 1.2, zero=True)
BEACH_AGENT_NAME = env.text("BEACH_AGENT_NAME", "Beach")
BEACH_AGENT_DESCRIPTION = env.text("BEACH_AGENT_DESCRIPTION")
BEACH_AGENT_ORGANIZATION = env.text("BEACH_AGENT_ORGANIZATION")
BEACH_AGENT_VERSION = env.text("BEACH_AGENT_VERSION", "1")

ANTHROPIC_API_KEY = env.text("ANTHROPIC_API_KEY")
ANTHROPIC_BASE_URL = env.text("ANTHROPIC_BASE_URL")
BEACH_MODEL = env.text("BEACH_MODEL", "claude-sonnet-5-5")
# What a million tokens cost, by model, as JSON, and in which currency; what a turn may take, in tokens and in that.
BEACH_PRICES = env.prices("BEACH_PRICES")
BEACH_CURRENCY = env.text("BEACH_CURRENCY", "USD")
BEACH_TURN_TOKENS = env.number("BEACH_TURN_TOKENS", 0)
BEACH_TURN_COST = env.fraction("BEACH_TURN_COST") or 0.0
# What answers may cost in a day: all of them, those to one person or guest, those to guests from one address.
BEACH_DAY_COST = env.fraction("BEACH_DAY_COST") or 0.0
BEACH_PERSON_DAY_COST = env.fraction("BEACH_PERSON_DAY_COST") or 0.0
BEACH_ADDRESS_DAY_COST = env.fraction("BEACH_ADDRESS_DAY_COST") or 0.0
# How many messages a minute are answered: of one person, and from one address; how many proxies of ours add to
# X-Forwarded-For.
BEACH_MESSAGES_PER_MINUTE = env.number("BEACH_MESSAGES_PER_MINUTE", 30)
BEACH_MESSAGES_PER_ADDRESS = env.number("BEACH_MESSAGES_PER_ADDRESS", 300)
BEACH_PROXIES = env.number("BEACH_PROXIES", 0)
# How much a model reads: of turns before the one at work, of one result of a tool, and in one request.
BEACH_HISTORY_TOKENS = env.number("BEACH_HISTORY_TOKENS", 50000, least=1000)
BEACH_RESULT_CHARACTERS = env.number("BEACH_RESULT_CHARACTERS", 20000, least=1000)
BEACH_REQUEST_TOKENS = env.number("BEACH_REQUEST_TOKENS", 180000, least=1000)
# How often a model that failed for a passing reason is asked again, and the longest wait before that.
BEACH_MODEL_RETRIES = env.number("BEACH_MODEL_RETRIES", 4)
BEACH_MODEL_RETRY_SECONDS = env.seconds("BEACH_MODEL_RETRY_SECONDS", 120)
# OpenAI, or whatever speaks its chat completions: a server of one's own needs an address and a model, and no key.
OPENAI_API_KEY = env.text("OPENAI_API_KEY")
OPENAI_BASE_URL = env.text("OPENAI_BASE_URL")
BEACH_OPENAI_MODEL = env.text("BEACH_OPENAI_MODEL")
# What any of them is asked for with each request.
BEACH_MAX_TOKENS = env.number("BEACH_MAX_TOKENS", 16000, least=1)
BEACH_EFFORT = env.choice(
    "BEACH_EFFORT", ("", "none", "minimal", "low", "medium", "high", "xhigh", "max"), ""
)
BEACH_TEMPERATURE = env.fraction("BEACH_TEMPERATURE")
# The fast second model, which explains answers to other agents' models, and how long the end of a turn waits for it.
BEACH_CONTEXT_MODEL = env.text("BEACH_CONTEXT_MODEL", "claude-haiku-4-5")
BEACH_CONTEXT_SECONDS = env.seconds("BEACH_CONTEXT_SECONDS", 10.0)

# A folder with the official A2UI examples: the gallery lists them beside its own.
BEACH_SHARED = env.text("BEACH_SHARED")

# -- logging -------------------------------------------------------------------------------------------------

# The log for people, or an object of JSON a line.
BEACH_LOG_FORMAT = env.choice("BEACH_LOG_FORMAT", ("line", "json"), "line")
# What whoever reads /metrics brings; without it there is no such page.
BEACH_METRICS_TOKEN = env.text("BEACH_METRICS_TOKEN")
# Where a worker, which has no pages, tells its own.
BEACH_WORKER_METRICS = env.text("BEACH_WORKER_METRICS")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname:<7} {name}: {message}", "style": "{"},
        "json": {"()": "envelopes.json_log.formatter"},
    }
    if BEACH_LOG_FORMAT == "json"
    else {"line": {"format": "{asctime} {levelname:<7} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": BEACH_LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": env.log_level("BEACH_LOG_LEVEL", "INFO")},
    "loggers": {
        # Its own handler and no propagation are Django's default for runserver; here every line has one shape.
        "django.server": {"handlers": ["console"], "propagate": False},
        "daphne": {"level": "WARNING"},
    },
}
