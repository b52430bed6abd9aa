"""Runs the HTTP server, without its signal handlers."""

import uvicorn


async def run(server: uvicorn.Server) -> None:
    """Run the server; signals are ours to handle."""
    config = server.config
    if not config.loaded:
        config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    if not server.should_exit:
        await server.main_loop()
        await server.shutdown()
