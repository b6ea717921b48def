"""The desk: the frame that the admin's pages stand in, its start page, and how it writes times.

Apart from ``envelopes.admin``, which registers models when it is imported: Django makes its site before that.
"""
