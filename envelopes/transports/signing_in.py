"""Where people sign in: the project's own page where it has one (``LOGIN_URL``), else one below the prefix of
``envelopes.urls``."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import views
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponseRedirect
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, Resolver404, path, reverse

from envelopes.addresses import resolved


def login_url(then: str) -> str:
    """The address of the page on which somebody signs in who wants to be at ``then``."""
    return f"{_page()}?{urlencode({'next': then})}"


def to_login(then: str) -> HttpResponseRedirect:
    """Sends somebody there."""
    return redirect_to_login(then, _page())


def _page() -> str:
    ours = reverse("envelopes:login")
    try:
        given = resolve_url(settings.LOGIN_URL)
        if not urlsplit(given).netloc:
            # Django's default is an address that a new project does not have.
            resolved(given)
    except (NoReverseMatch, Resolver404):
        return ours
    return given


class SignIn(views.LoginView):
    """Django's view, which leads to the chat."""

    template_name = "beach/panel/login.html"

    def get_default_redirect_url(self) -> str:
        """The address for whoever came from nowhere."""
        return reverse("envelopes:index")


class SignOut(views.LogoutView):
    """Django's view, which leads to ``LOGOUT_REDIRECT_URL``, or to the chat."""

    def get_default_redirect_url(self) -> str:
        """The address."""
        return str(resolve_url(settings.LOGOUT_REDIRECT_URL or "envelopes:index"))


routes = [
    path("sign-in", SignIn.as_view(), name="login"),
    path("sign-out", SignOut.as_view(), name="logout"),
]
