"""Formats of dates and times in English, the language of the site."""
