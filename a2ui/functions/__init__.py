"""The catalog functions and the formatString grammar."""
