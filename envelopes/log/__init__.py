"""The session log: appending rows, reading them, ringing whoever waits for more."""
