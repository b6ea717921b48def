"""One module for each command of `manage.py` that the renderer adds."""
