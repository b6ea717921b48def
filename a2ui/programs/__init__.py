"""Programs: lists of messages as files, for the commands, the tests and the gallery."""
