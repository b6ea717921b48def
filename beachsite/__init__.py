"""The Django project: settings, the web entry points and the demo."""
