"""Addresses of databases: every form, every password, and no secret in an error."""

import secrets
import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_database.addresses import SSL_MODES, read_address, read_tunnel
from mcp_curated_database.engines.addresses import PostgresAddress, SqliteFile
from mcp_curated_shared.errors import SettingsError


def postgres(text: str) -> PostgresAddress:
    address = read_address(text)
    assert isinstance(address, PostgresAddress)
    return address


def password_of(text: str) -> str | None:
    password = postgres(text).password
    return None if password is None else password.reveal()


@pytest.mark.parametrize(
    ("text", "path", "immutable"),
    [
        ("/data/shop.db", "/data/shop.db", False),
        ("sqlite:///data/shop.db", "/data/shop.db", False),
        ("sqlite:////data/shop.db", "/data/shop.db", False),
        ("sqlite:///data/shop.db?immutable=1", "/data/shop.db", True),
        ("sqlite:///data/shop.db?mode=ro", "/data/shop.db", False),
        ("sqlite+aiosqlite:///data/shop.db", "/data/shop.db", False),
        ("file:/data/a%20shop.db", "/data/a shop.db", False),
        ("file:///data/shop.db", "/data/shop.db", False),
        ("/data/50% off.db", "/data/50% off.db", False),
    ],
)
def test_an_sqlite_file_is_a_path_or_an_address(text: str, path: str, immutable: bool):
    assert read_address(text) == SqliteFile(path, immutable)


@pytest.mark.parametrize(
    "text",
    [
        "shop.db",
        "./shop.db",
        "sqlite://shop.db",
        "file:shop.db",
        ":memory:",
        "sqlite:///x.db?mode=rwc",
        "",
        "sqlite:///",
    ],
)
def test_what_is_no_absolute_path_of_a_file_is_refused(text: str):
    with pytest.raises(SettingsError):
        read_address(text)


def test_a_postgresql_address_has_its_parts():
    address = postgres("postgresql://reader:pw@db.example:5433/shop?sslmode=verify-full&sslrootcert=/ca.pem")
    assert (address.host, address.port, address.user, address.database) == ("db.example", 5433, "reader", "shop")
    assert (address.sslmode, address.sslrootcert) == ("verify-full", "/ca.pem")
    assert postgres("postgres://u@[::1]:5432/d").host == "::1"
    assert postgres("postgresql:///d?host=/run/postgresql").host == "/run/postgresql"
    assert postgres("postgresql://h/d").password is None


@pytest.mark.parametrize("mode", SSL_MODES)
def test_all_six_modes_of_tls_are_known(mode: str):
    assert postgres(f"postgresql://u@h/d?sslmode={mode}").sslmode == mode


@given(st.text(alphabet=string.punctuation + "aä1 ", min_size=1, max_size=20))
def test_a_password_may_hold_anything_when_it_is_encoded(password: str):
    assert password_of(f"postgresql://u:{quote(password, safe='')}@h:5432/d?sslmode=require") == password


@given(st.text(alphabet=string.punctuation.replace("%", "") + "aä1", min_size=1, max_size=20))
def test_a_password_may_hold_anything_when_it_is_not(password: str):
    assert password_of(f"postgresql://u:{password}@h:5432/d?sslmode=require") == password


def test_a_percent_that_is_no_escape_is_itself():
    assert password_of("postgresql://u:w/rd%@h/d") == "w/rd%"
    assert password_of("postgresql://u:100%sure@h/d") == "100%sure"


@pytest.mark.parametrize(
    "form",
    [
        "mysql://u:{}@h/d",
        "postgress://u:{}@h/d",
        "postgresql://u:{}@h:port/d",
        "postgresql://u:{}@h:99999/d",
        "postgresql://u:{}@h/d?sslmode=requir",
        "postgresql://u:{}@h/d?sslmod=require",
        "postgresql://u:{}@h1,h2/d",
        "u:{}@h/d",
        "host=h password={} dbname=d",
        "postgresql://u:{}@h/d?sslrootcert=relative.pem",
        "sqlite://u:{}@h/d",
    ],
)
def test_no_error_repeats_a_password(form: str):
    password = f"S{secrets.token_hex(8)}"
    with pytest.raises(SettingsError) as caught:
        read_address(form.format(password))
    assert password not in str(caught.value)
    assert password not in repr(caught.value)


def test_an_address_never_shows_its_password():
    password = secrets.token_hex(8)
    address = postgres(f"postgresql://u:{password}@h/d")
    assert password not in repr(address)
    assert password not in address.shown
    assert "***" in address.shown


@pytest.mark.parametrize("text", ["ssh bastion", "ssh  me@bastion.example"])
def test_a_tunnel_is_ssh_and_a_host(text: str):
    assert read_tunnel(text).startswith("ssh ")


@pytest.mark.parametrize("text", ["bastion", "ssh -oProxyCommand=x h", "ssh h; rm", "ssh -W h", "ssh h x", "sh x"])
def test_a_tunnel_is_no_command_line(text: str):
    with pytest.raises(SettingsError):
        read_tunnel(text)
