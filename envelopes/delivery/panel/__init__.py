"""The panel presenter: rows of the log become a thread of HTML, and later rows become operations on it."""
