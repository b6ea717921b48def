"""The routes of the site."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth
from django.templatetags.static import static
from django.urls import include, path
from django.utils.functional import lazy
from django.views.generic import RedirectView
from django.views.i18n import set_language

from envelopes.serving import health, metrics_page
from envelopes.transports.signing_in import SignIn

# Lazy: the hashed name is known only where files have been collected, and routes are loaded before that too.
icon = lazy(static, str)("beach/mark.svg")

# Django's own reads the form once more, to check its token: of a form that cannot be read, that is an error again.
handler400 = "beachsite.refused.bad_request"
handler403 = "beachsite.refused.permission_denied"
handler404 = "beachsite.refused.page_not_found"


urlpatterns = [
    # Asked for by browsers on pages that name no icon of their own, such as the admin's.
    path("favicon.ico", RedirectView.as_view(url=icon)),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics_page.metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("accounts/login/", SignIn.as_view(), name="login"),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("accounts/language/", set_language, name="set_language"),
    path("gallery/", include("a2ui.gallery.urls")),
    path("", include("envelopes.urls")),
]
