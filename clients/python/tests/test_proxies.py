"""Proxies between client and service, and TLS."""

from __future__ import annotations

import base64
import contextlib
import http.client
import http.server
import os
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Any, Iterator
from urllib.parse import urlsplit

import pytest

from ledger_service import LedgerService
from promptledger import ConnectionError, Promptledger


class Proxy(http.server.ThreadingHTTPServer):
    """Forwards requests and tunnels connections, both to one target, and records what it is asked for."""

    daemon_threads = True

    def __init__(self, target: tuple[str, int], response: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.target = target
        self.response = response
        self.asked: list[tuple[str, str, str]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class ProxyHandler(http.server.BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"

    def _forward(self) -> None:
        self._record()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path[self.path.index("/", 8) :]
        connection = http.client.HTTPConnection(*self.server.target)
        connection.request(self.command, path, body, dict(self.headers.items()))
        response = connection.getresponse()
        text = response.read()
        self.send_response(response.status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = _forward

    def do_CONNECT(self) -> None:
        self._record()
        self.send_response(self.server.response)
        if self.server.response != 200:
            self.send_header("Content-Length", "0")
        self.end_headers()
        if self.server.response != 200:
            return
        upstream = socket.create_connection(self.server.target)

        def copy(source: socket.socket, target: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while data := source.recv(65_536):
                    target.sendall(data)
                target.shutdown(socket.SHUT_WR)

        threading.Thread(target=copy, args=(upstream, self.connection), daemon=True).start()
        copy(self.connection, upstream)
        self.close_connection = True

    def _record(self) -> None:
        self.server.asked.append((self.command, self.path, self.headers.get("Proxy-Authorization", "")))

    def log_message(self, *args: Any) -> None:
        pass


@contextlib.contextmanager
def running(server: http.server.HTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def proxy(sqlite_service: LedgerService) -> Iterator[Proxy]:
    target = urlsplit(sqlite_service.address)
    proxy = Proxy((str(target.hostname), int(target.port or 0)))
    with running(proxy):
        yield proxy


def test_requests_go_through_the_proxy_of_the_environment(
    sqlite_service: LedgerService, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = sqlite_service.tenant()
    monkeypatch.setenv("HTTP_PROXY", f"http://user:p%40ss@{proxy.address}")
    ledger = Promptledger(api_key=tenant.key, base_url="http://ledger.invalid:8080/")
    ledger.signals.create(tenant.prompt, value="positive", comment="ü")
    assert ledger.usage.get()["used"] == 1
    credentials = f"Basic {base64.b64encode(b'user:p@ss').decode()}"
    assert proxy.asked == [
        ("POST", f"http://ledger.invalid:8080/api/v1/prompts/{tenant.prompt}/signals", credentials),
        ("GET", "http://ledger.invalid:8080/api/v1/usage", credentials),
    ]


def test_hosts_in_no_proxy_are_reached_directly_and_an_empty_proxy_ignores_the_environment(
    sqlite_service: LedgerService, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = sqlite_service.tenant()
    monkeypatch.setenv("http_proxy", f"http://{proxy.address}")
    monkeypatch.setenv("NO_PROXY", "other.example,127.0.0.1")
    sqlite_service.ledger(tenant).usage.get()
    monkeypatch.delenv("NO_PROXY")
    sqlite_service.ledger(tenant, proxy="").usage.get()
    assert proxy.asked == []
    sqlite_service.ledger(tenant).usage.get()
    assert len(proxy.asked) == 1


def test_in_a_cgi_script_a_client_cannot_choose_the_proxy(
    sqlite_service: LedgerService, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The web server passes the header Proxy of a request on as this variable.
    monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.address}")
    monkeypatch.setenv("REQUEST_METHOD", "GET")
    sqlite_service.ledger(sqlite_service.tenant()).usage.get()
    assert proxy.asked == []


@pytest.mark.parametrize("url", ["socks5://u:secret@a:1", "https://u:secret@a:1", "http://", "http://u:secret@a:x"])
def test_an_unsupported_proxy_is_rejected_without_showing_it(url: str) -> None:
    with pytest.raises(ValueError, match="proxy") as failure:
        Promptledger(api_key="plk_x", base_url="https://ledger.example.com", proxy=url)
    assert "secret" not in str(failure.value)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost, with its key in the same file."""
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    arguments = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    arguments += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(path), "-out", f"{path}.crt"]
    subprocess.run(["openssl", "req", *arguments, *files], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


class TlsHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    authorizations: list[str] = []

    def do_GET(self) -> None:
        self.authorizations.append(self.headers["Authorization"])
        body = b'{"data":{"used":7}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def tls_port(certificate: Path) -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), TlsHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    setattr(server, "handle_error", lambda *args: None)
    TlsHandler.authorizations.clear()
    with running(server):
        yield server.server_address[1]


needs_openssl = pytest.mark.skipif(
    not any(os.access(Path(folder) / "openssl", os.X_OK) for folder in os.environ["PATH"].split(os.pathsep)),
    reason="openssl is not installed",
)


@needs_openssl
def test_the_certificate_of_the_service_is_verified_before_the_key_is_sent(certificate: Path, tls_port: int) -> None:
    options: dict[str, Any] = {"api_key": "plk_x", "max_retries": 0}
    with pytest.raises(ConnectionError, match="certificate verify failed") as failure:
        Promptledger(base_url=f"https://localhost:{tls_port}", **options).usage.get()
    assert failure.value.is_connected is False
    trusting = ssl.create_default_context(cafile=str(certificate))
    with pytest.raises(ConnectionError, match="certificate|IP address mismatch"):
        Promptledger(base_url=f"https://127.0.0.1:{tls_port}", ssl_context=trusting, **options).usage.get()
    assert TlsHandler.authorizations == []
    ledger = Promptledger(base_url=f"https://localhost:{tls_port}", ssl_context=trusting, **options)
    assert [ledger.usage.get()["used"] for _ in range(3)] == [7] * 3
    assert TlsHandler.authorizations == ["Bearer plk_x"] * 3


@needs_openssl
def test_a_proxy_tunnels_tls_and_never_sees_the_key(
    certificate: Path, tls_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate))
    proxy = Proxy(("127.0.0.1", tls_port))
    with running(proxy):
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:pass@{proxy.address}")
        ledger = Promptledger(api_key="plk_x", base_url="https://localhost:9", ssl_context=trusting, max_retries=0)
        assert [ledger.usage.get()["used"] for _ in range(2)] == [7, 7]
    assert [(command, path) for command, path, _ in proxy.asked] == [("CONNECT", "localhost:9")]
    assert proxy.asked[0][2].startswith("Basic ")


@needs_openssl
def test_a_proxy_that_refuses_the_tunnel_is_a_failed_connection_that_every_call_may_retry(tls_port: int) -> None:
    proxy = Proxy(("127.0.0.1", tls_port), response=502)
    with running(proxy):
        url = f"http://{proxy.address}"
        ledger = Promptledger(api_key="plk_x", base_url="https://localhost:9", proxy=url, max_retries=1)
        with pytest.raises(ConnectionError, match="502") as failure:
            ledger.keys.create()
    assert failure.value.is_connected is False
    assert len(proxy.asked) == 2
