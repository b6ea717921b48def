"""System checks: of what applications register, of settings, and of the lines that a project needs.

What a transport alone knows it checks itself (``envelopes/transports/<name>/checks.py``).
"""
