"""Commands of the runtime for `manage.py`, which Django finds below here."""
