"""A site of our own on loopback, for tests: answers by path, and a record of what was asked."""

import http.server
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Answer:
    """What a path answers. `send` takes over when the bytes themselves are the point."""

    body: bytes | str = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    send: Callable[[http.server.BaseHTTPRequestHandler], None] | None = None


@dataclass
class Site:
    """The running site: `answers` may be changed while it runs."""

    answers: dict[str, Answer]
    port: int = 0
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def count(self, path: str) -> int:
        return sum(one.partition("?")[0] == path for one, _ in self.asked)


def page(body: str, content_type: str = "text/html; charset=utf-8", **more: str) -> Answer:
    return Answer(body, headers={"Content-Type": content_type, **more})


@contextmanager
def serve(answers: dict[str, Answer]) -> Generator[Site]:
    """Serve these paths; a query is ignored, any other path is a 404."""
    site = Site(answers)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            site.asked.append((self.path, dict(self.headers.items())))
            answer = site.answers.get(self.path.partition("?")[0], Answer("not here", 404))
            if answer.send is not None:
                answer.send(self)
                return
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            self.send_response(answer.status)
            for name, value in ({"Content-Type": "text/html"} | answer.headers).items():
                if value:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False  # a drip may still hang when the test has ended

        def handle_error(self, request: object, client_address: object) -> None:
            del request, client_address  # a client that left in the middle is what some tests are about

    server = Server(("127.0.0.1", 0), Handler)
    site.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
