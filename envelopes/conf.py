"""Settings of the runtime: their names, types and defaults, in one place. A project sets them among Django's."""

from __future__ import annotations

from envelopes.model_settings import ModelSettings
from envelopes.setting import Setting
from envelopes.setting import choice as _choice
from envelopes.setting import flag as _flag
from envelopes.setting import number as _number
from envelopes.setting import text as _text
from envelopes.setting import texts as _texts
from envelopes.setting import whole as _whole
from envelopes.setting import whole_or_zero as _whole_or_zero


class RuntimeSettings(ModelSettings):
    """Each attribute is the setting of its name. It is read anew each time, so ``override_settings`` holds at once."""

    BEACH_A2UI_LIMITS: Setting[dict[str, int]] = Setting({}, "", lambda value: True)
    """What to change of the engine's limits, by name; ``limit_problems`` says what is wrong with it."""

    BEACH_AGENT_DESCRIPTION = _text()
    """What the Agent Card says of the site; "" for a line that names its agents."""

    BEACH_AGENT_NAME = _text("Beach")
    """What the site is called on its Agent Card."""

    BEACH_AGENT_ORGANIZATION = _text()
    """Who provides the agents, on their card."""

    BEACH_AGENT_VERSION = _text("1")
    """Of the agents, as their maker counts."""

    BEACH_ALLOW_UNPREFIXED = _flag(False)
    """Whether part types may be registered without a prefix of their application."""

    BEACH_A2UI_CATALOGS = _texts()
    """Ids of catalogs beside the standard's that models are told of in their prompt. Interfaces may use
    any that is there; our own is a text of some 2,000 characters."""

    BEACH_ALLOWED_ORIGINS = _texts()
    """Origins besides the page's own from which sockets are let in."""

    BEACH_ANONYMOUS = _flag(False)
    """Whether somebody who has not signed in may begin a conversation."""

    BEACH_APPROVAL_MAIL = _choice("off", "staff", "owner", "all")
    """Who is told by mail of an approval that waits: staff and others whom its rule names, the conversation's owner, or
    all of them."""

    BEACH_APPROVAL_MAIL_SECONDS = _number(120.0, zero=True)
    """How long one waits before that."""

    BEACH_APPROVAL_SECONDS = _whole(15 * 60)
    """How long a person has to decide, where the tool does not say."""

    BEACH_ARTIFACT_BYTES = _whole(25 * 1024 * 1024)
    """The largest file."""

    BEACH_UNNAMED_FILE_DAYS = _whole_or_zero(14)
    """How long a file is kept that was uploaded and that no message shows; 0: for good. Longer than pages keep messages
    that they could not send, which is a week."""

    BEACH_ARTIFACT_STORAGE = _text("artifacts")
    """The alias in STORAGES under which files of conversations are kept: never one whose files a server gives out."""

    BEACH_AUDIT_DAYS = _whole_or_zero(0)
    """How long entries of the decision log are kept; 0 for ever."""

    BEACH_BUTTON_SECRET = _text()
    """What signs presses of buttons that are posted to ``/buttons/webhook``: ``whsec_...``; "" for none."""

    BEACH_BUTTON_USERS = _texts()
    """Who is who elsewhere: ``slack:T0123/U0456=grace``, a door, who it says that pressed, and the username here."""

    BEACH_CLIENT_FOLDER = _text()
    """Where a checkout keeps the pages' code that it has put together; "" for its ``var/client``. A wheel has them."""

    BEACH_DATABASE_THREADS = _whole(4)
    """Threads that work with the database for sessions, each with a connection of its own."""

    BEACH_DEFAULT_ACTOR = _text()
    """The agent of a new conversation."""

    BEACH_DOWNLOADS = _whole(500)
    """How many files this process sends at once."""

    BEACH_DOWNLOADS_PER_CALLER = _whole(50)
    """How many of them to one person, guest or peer."""

    BEACH_EXECUTOR = _choice("inprocess", "worker")
    """Where turns run: in the server itself, or in processes of ``run_worker``."""

    BEACH_FLAG_SECONDS = _number(2.0)
    """The time between two looks for feature flags that were switched."""

    BEACH_FRAME_BYTES = _whole(128 * 1024)
    """The longest frame that a browser may send."""

    BEACH_FRAMES_PER_SECOND = _whole(40)
    """How many frames a browser may send, over a while."""

    BEACH_FUNCTION_SECONDS = _number(30.0)
    """How long an interface waits for the answer to a call of its agent's function."""

    BEACH_HTTP_WAIT_SECONDS = _number(25.0, zero=True)
    """How long a request over HTTP waits for the answer of its turn: less than proxies wait for us."""

    BEACH_IMAGE_HOSTS = _texts()
    """Hosts whose pictures a page loads; ``*.example.com`` for all below one."""

    BEACH_INLINE_CATALOGS = _texts()
    """JSON files of inline catalogs, for surfaces to use beside those of the standard and of applications. Agents
    get them whole; nobody else can bring one."""

    BEACH_LEASE_SECONDS = _number(15.0)
    """How long a turn is its runner's without being renewed."""

    BEACH_LINK_LOGIN = _choice("never", "high", "always")
    """Whether a link to an approval also wants its addressee signed in: for those of high risk, or for all."""

    BEACH_LINK_SECONDS = _whole(24 * 60 * 60)
    """How long a link to an approval holds."""

    BEACH_LIVE_PENDING = _whole_or_zero(1024)
    """How many connections of the live channel may have subscribed to nothing, in this process; 0 for no cap."""

    BEACH_LIVE_PENDING_BYTES = _whole_or_zero(65_536)
    """The longest frame of one that has subscribed to nothing; 0 for no cap of its own."""

    BEACH_LIVE_PENDING_SECONDS = _number(30.0, zero=True)
    """How long one may take to subscribe; 0 for as long as it likes."""

    BEACH_LIVE_PROVISION = _flag(False)
    """Whether to subscribe to a session that is not there makes it: for development."""

    BEACH_LIVE_PULLS = _whole(16)
    """How many channels one connection may have polled at once."""

    BEACH_LIVE_RING = _whole(256)
    """How many deliveries of a view are replayed, of all channels whose policy is ``all`` together."""

    BEACH_LIVE_VERSION = _text()
    """Another version of the wire than the source's to advertise on the live channel."""

    BEACH_LIVE_VERSION_POLICY = _choice("reject", "advisory")
    """What becomes of a connection that does not know it: closed, or told and left open."""

    BEACH_MAIL_AUTHSERV = _texts()
    """Mail hosts of ours that vouch for senders: the names with which their ``Authentication-Results`` begin. Without
    any, no reply decides."""

    BEACH_MAIL_REPLY_TO = _text()
    """The address that replies to mails about approvals go to; "" where they are not read."""

    BEACH_MAIL_SECRET = _text()
    """What signs mails that are posted to ``/mail/inbound``: ``whsec_...``; "" to have none posted."""

    BEACH_MESSAGE_CHARACTERS = _whole(20_000)
    """The longest message of a person."""

    BEACH_LOG_FORMAT = _choice("line", "json")
    """How the process log is written, in a project that takes our LOGGING."""

    BEACH_METRICS_TOKEN = _text()
    """What whoever reads ``/metrics`` brings; "" to have no such page."""

    BEACH_NOTICES = _choice("title", "off", "web")
    """How the chat says that an approval waits while its reader looks elsewhere: by the title and icon of its tab, not
    at all, or also by a notification of the browser's, for whoever asks for that by a click."""

    BEACH_PROCESSES = _whole(1)
    """How many processes serve the site; more than one need Redis."""

    BEACH_READER_SECONDS = _number(60.0)
    """How long whoever reads a reply, a stream or a socket may take nothing of it."""

    BEACH_RETENTION_DAYS = _whole_or_zero(0)
    """After how long without a word a conversation is deleted, with all that belongs to it; 0 for never."""

    BEACH_SESSION_ARTIFACT_BYTES = _whole(500 * 1024 * 1024)
    """All files of a conversation together."""

    BEACH_SEARCH_SECONDS = _number(2.0)
    """How often the search of conversations looks at what is new in the log."""

    BEACH_SECRET_SECONDS = _whole(60 * 60)
    """How long a sealed value can be revealed."""

    BEACH_SITE_URL = _text()
    """The address of the site, for links that are not made while a page of it is served: ``https://chat.example``."""

    BEACH_SLACK_SECRET = _text()
    """The signing secret of the Slack app whose buttons are posted to ``/buttons/slack``; "" for none."""

    BEACH_SOCKETS_PER_CALLER = _whole(100)
    """How many sockets, each of an open page, one person or guest may have, in this process."""

    BEACH_STREAMS = _whole(2_000)
    """How many streams this process keeps open for all."""

    BEACH_STREAMS_PER_CALLER = _whole(100)
    """How many streams one peer or person may have open, in this process."""

    BEACH_STYLES = _texts()
    """Static files with styles of the site and its applications, linked behind ours on pages of the chat and where the
    desk shows conversations: `shop/shop.css`."""

    BEACH_SWEEP_SECONDS = _number(1.0)
    """The time between two looks for turns that nobody runs."""

    BEACH_TAKEOVER = _flag(False)
    """Whether staff may write in conversations of agents that do not say so themselves."""

    BEACH_TOOL_CALLS_AT_ONCE = _whole(8)
    """How many calls of one reply run side by side; the others wait for one of them to end."""

    BEACH_TOOL_THREADS = _whole(64)
    """How many threads run tools that are plain functions, in this process; one that never ends keeps its thread."""

    BEACH_TOOL_SECONDS = _number(60.0)
    """How long a tool may take that does not say so itself."""

    BEACH_TURN_SECONDS = _number(1800.0)
    """How long a turn may take whose actor does not say so itself, people and peers that it waits for left out."""

    BEACH_TURNS_AT_ONCE = _whole(500)
    """How many turns a process runs at once; of the others the oldest is next."""

    BEACH_WHATSAPP_SECRET = _text()
    """The secret of the app whose WhatsApp messages are posted to ``/buttons/whatsapp``; "" for none."""

    BEACH_WHATSAPP_VERIFY = _text()
    """What that app's dashboard asks with when the address is set up there."""

    BEACH_WEBHOOK_ATTEMPTS = _whole(12)
    """How often a webhook is tried before it is given up."""

    BEACH_WEBHOOK_DAYS = _whole(30)
    """How long is kept what has become of one, once it was delivered or given up."""

    BEACH_WEBHOOK_HOSTS = _texts()
    """Hosts that webhooks may be sent to; ``*.example.com`` for all below one, ``host:8443`` for another port."""

    BEACH_WEBHOOK_HTTP = _flag(False)
    """Whether they may go without TLS: for tests."""

    BEACH_WEBHOOK_SECONDS = _number(2.0)
    """The time between two looks for what webhooks are to tell."""

    BEACH_WINDOW_ROWS = _whole(100)
    """Of how many rows a page shows the turns at first, at least."""

    BEACH_WORKER_METRICS = _text()
    """Where a process of ``run_worker`` has its own ``/metrics``: ``127.0.0.1:9464``; "" for nowhere. Several on one
    machine need a port each (``run_worker --metrics``)."""

    REDIS_URL = _text()
    """Of the server that the channel layer uses, for checks of it; `CHANNEL_LAYERS` is Django's own setting."""


conf = RuntimeSettings()
KNOWN = {
    name: found
    for kind in (ModelSettings, RuntimeSettings)
    for name, found in vars(kind).items()
    if isinstance(found, Setting)
}


def problems() -> list[tuple[str, str]]:
    """What is wrong with the settings themselves: ``(name, sentence)`` for each whose value is not of its kind. Where
    they are used they are not looked at again."""
    found = []
    for name, known in KNOWN.items():
        value = getattr(conf, name)
        if not known.fits(value):
            # Some hold keys and passwords.
            got = type(value).__name__ if known.kind == "a text" else repr(value)
            found.append((name, f"{name} is {got}; it must be {known.kind}."))
    return found
