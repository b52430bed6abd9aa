"""Runs rotel, a collector in Rust, before a place that takes whatever it passes on."""

import http
import socket
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECONDS_TO_START = 20


class Sink(BaseHTTPRequestHandler):
    """Takes whatever it is sent."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Answer that all is well."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(http.HTTPStatus.OK)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def sink():
    """Run a place to pass spans on to; yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def running(agent):
    """Run the agent that passes spans on by OTLP; yield its process id and its port for HTTP."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with sink() as url:
        rotel = subprocess.Popen(  # noqa: S603 - a program that was named
            [
                *(agent, "start", "--exporter", "otlp", "--otlp-exporter-protocol", "http"),
                *("--otlp-exporter-endpoint", url, "--otlp-grpc-endpoint", "127.0.0.1:0"),
                *("--otlp-http-endpoint", f"127.0.0.1:{port}"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            await_port(port)
            yield rotel.pid, port
        finally:
            rotel.terminate()
            rotel.wait(SECONDS_TO_START)


def await_port(port):
    """Wait until something listens on a port."""
    for _ in range(SECONDS_TO_START * 10):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            threading.Event().wait(0.1)
        else:
            return
    raise SystemExit(f"nothing listens on port {port}")
