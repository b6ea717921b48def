"""The panel's presenter: rows of the log in, HTML and operations out."""
