"""The steps of `make try`, a module a server."""
