"""English, with the 24 hours that the chat has too (Django's own are "5:32 a.m.")."""

from __future__ import annotations

TIME_FORMAT = "H:i"
DATE_FORMAT = "j F Y"
DATETIME_FORMAT = "j F Y, H:i"
SHORT_DATE_FORMAT = "j M Y"
SHORT_DATETIME_FORMAT = "j M Y, H:i"
MONTH_DAY_FORMAT = "j F"
FIRST_DAY_OF_WEEK = 1
