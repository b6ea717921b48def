"""What `manage.py a2ui` runs: the engine on the command line, without database or server."""
