"""Commands of the site for `manage.py`, which Django finds below here."""
