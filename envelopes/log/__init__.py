"""The session log: append, read, doorbell, snapshots."""
