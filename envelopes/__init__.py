"""The envelope protocol and its runtime: a log for each conversation, turns that agents run, transports that follow."""
