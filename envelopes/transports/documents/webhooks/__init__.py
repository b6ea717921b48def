"""Webhooks: how one is signed and how whoever receives one checks it. Pure; what sends them stands
beside this folder."""
