"""A folder of pages at an address of this machine, text packed as every host of pages packs it."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKED = {".html", ".css", ".js", ".json", ".svg", ".ipynb", ".xml"}


@dataclass
class Server:
    """Where it is, and how many bytes it has sent for each path."""

    address: str
    sent: dict[str, int] = field(default_factory=dict)


class _Handler(SimpleHTTPRequestHandler):
    sent: dict[str, int]

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        packed = path.suffix in PACKED
        body = gzip.compress(body, 6) if packed else body
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path.name))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        if path.suffix != ".html":  # a browser keeps what it has compiled of a script with the script
            self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.sent[self.path] = len(body)
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Serve ``folder`` until the block ends."""
    sent: dict[str, int] = {}
    handler = type("Handler", (_Handler,), {"sent": sent})
    made = ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: handler(*a, directory=str(folder)))
    threading.Thread(target=made.serve_forever, daemon=True).start()
    try:
        yield Server(f"http://127.0.0.1:{made.server_port}", sent)
    finally:
        made.shutdown()
        made.server_close()
