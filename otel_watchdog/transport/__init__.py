"""How corrections travel: HTTP, server-sent events, the signal file, threads behind."""
