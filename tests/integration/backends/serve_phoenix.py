"""Starts Arize Phoenix on loopback alone: its gRPC port would listen on every interface."""

import sys

import grpc.aio

_Server = type(grpc.aio.server())
_add = _Server.add_insecure_port
_Server.add_insecure_port = lambda self, address: _add(self, address.replace("[::]", "127.0.0.1"))

from phoenix.server.main import main  # noqa: E402 - after its server has learnt where to listen

sys.argv = ["phoenix", "serve"]
main()
