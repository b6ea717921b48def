"""A command a module: a worker without a server, the expiry of approvals."""
