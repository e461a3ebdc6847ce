"""TLS by name although the connection goes to an address; trust from the system and the operator's file."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trustme

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.transport.http_client import CertificateError, HttpClient, HttpOptions
from mcp_curated_shared.transport.http_client.trust import trust
from tests.shared.http_client.loopback import PRIVATE, PUBLIC, Names, Server, answer, policy

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


@pytest.fixture
async def server(authority: trustme.CA) -> AsyncIterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("good.example", PUBLIC).configure_cert(context)
    async with Server([answer(b"SECURE")], context=context) as one:
        yield one


def client(ca_file: str | None) -> HttpClient:
    names = Names(good_example=[[PUBLIC], [PRIVATE]], other_example=[[PUBLIC]])
    return HttpClient(policy(), HttpOptions(ca_file=ca_file, resolver=names))


async def test_the_certificate_and_the_server_name_are_checked_by_name(server: Server, ca_file: str):
    async with client(ca_file) as http:
        response = await http.get(server.url(host="good.example"))
    assert response.body == b"SECURE"
    assert server.names == ["good.example"]
    assert server.asked[0].headers["host"] == f"good.example:{server.port}"


async def test_a_certificate_for_another_name_is_refused(server: Server, ca_file: str):
    async with client(ca_file) as http:
        with pytest.raises(CertificateError, match=r"other\.example"):
            await http.get(server.url(host="other.example"))
    assert server.asked == []


async def test_a_certificate_for_an_address_is_checked_too(server: Server, ca_file: str):
    async with client(ca_file) as http:
        assert (await http.get(server.url())).body == b"SECURE"


async def test_an_unknown_authority_is_refused_with_the_flag_that_adds_one(server: Server):
    async with client(None) as http:
        with pytest.raises(CertificateError, match="--ca-file"):
            await http.get(server.url(host="good.example"))
    assert server.asked == []


async def test_plain_http_behind_https_is_a_certificate_error_and_not_a_crash(ca_file: str):
    def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 smtp.example ESMTP\r\n")
        writer.close()

    plain = await asyncio.start_server(greet, PUBLIC, 0)
    port = plain.sockets[0].getsockname()[1]
    async with plain, client(ca_file) as http:
        with pytest.raises(CertificateError):
            await http.get(f"https://good.example:{port}/")


def test_a_file_without_certificates_is_refused(tmp_path: Path):
    empty = tmp_path / "empty.pem"
    empty.write_text("no certificate")
    for path in (empty, tmp_path / "missing.pem"):
        with pytest.raises(SettingsError, match="--ca-file"):
            trust(str(path))


def test_the_settings_of_tls_verify_and_are_made_once(ca_file: str):
    context = trust(ca_file)
    assert context is trust(ca_file)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert trust() is not context


async def test_requests_that_are_cancelled_at_any_moment_leave_nothing_and_a_client_that_works(
    server: Server, ca_file: str
):
    async with HttpClient(policy(), HttpOptions(ca_file=ca_file, resolver=Names(good_example=[[PUBLIC]]))) as http:
        for step in range(40):  # the lookup, the connection, the handshake, the request, the answer
            task = asyncio.create_task(http.get(server.url(host="good.example" if step % 2 else None)))
            await asyncio.sleep(step * 0.0003)
            task.cancel()
            await asyncio.wait([task])
        assert (await http.get(server.url())).body == b"SECURE"
