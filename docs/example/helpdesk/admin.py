from __future__ import annotations

from django.contrib import admin

from helpdesk.models import Order, Refund

admin.site.register([Order, Refund])
