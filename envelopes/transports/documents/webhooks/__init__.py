"""Webhooks: how one is signed, how whoever receives one checks it, and how events of the log are sent by them."""
