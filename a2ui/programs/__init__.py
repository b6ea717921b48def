"""Programs: lists of messages as files. Reading them, checking them, and their resolved tree as data: for the commands,
the tests and the gallery."""
