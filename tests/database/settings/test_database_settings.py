"""Sources, saved queries and settings: what is given is used, and what is misspelt stops the start."""

import secrets
from pathlib import Path

import pytest

from mcp_curated_database.doctor import checks
from mcp_curated_database.engines.addresses import PostgresAddress, SqliteFile
from mcp_curated_database.settings import DatabaseSettings
from mcp_curated_shared.errors import InvalidArgumentError, SettingsError
from mcp_curated_shared.settings import Loaded, load, render
from tests.database.sqlite.sample import make

PASSWORD = f"p@ss:w/rd%{secrets.token_hex(6)}"


def loaded(*arguments: str, **environ: str) -> Loaded[DatabaseSettings]:
    return load(DatabaseSettings, arguments, environ)


def from_file(tmp_path: Path, text: str) -> DatabaseSettings:
    path = tmp_path / "sources.toml"
    path.write_text(text, encoding="utf-8")
    return loaded(f"--sources={path}").settings


def test_sources_are_named_by_their_file_or_as_the_operator_says():
    found = loaded("/data/my shop.db", "/other/my shop.db", "crm=postgresql://u@h/customers", "/x/query.db").settings
    assert [source.name for source in found.sources] == ["my_shop", "my_shop_2", "crm", "query_db"]


def test_a_source_cannot_be_called_query():
    with pytest.raises(SettingsError, match="query"):
        loaded("query=/data/a.db")


@pytest.mark.parametrize("variable", ["DATABASE_URL", "DB_CONNECTION"])
def test_a_variable_gives_the_database_where_nothing_else_does(variable: str, tmp_path: Path):
    url = "postgresql://u@h/shop"
    assert [source.name for source in loaded(**{variable: url}).settings.sources] == ["shop"]
    assert [source.name for source in loaded("/data/a.db", **{variable: url}).settings.sources] == ["a"]
    hidden = tmp_path / "url"
    hidden.write_text(f"{url}\n")
    assert [source.name for source in loaded(**{f"{variable}_FILE": str(hidden)}).settings.sources] == ["shop"]


def test_passwords_are_known_to_the_redactor_and_shown_by_nothing(tmp_path: Path):
    path = tmp_path / "sources.toml"
    path.write_text(f'[sources.a]\nhost = "h"\ndatabase = "d"\npassword = "{PASSWORD}"\n')
    for found in (
        loaded(f"postgresql://u:{PASSWORD}@h/d"),
        loaded(DATABASE_URL=f"postgresql://u:{PASSWORD}@h/d"),
        loaded(f"--sources={path}"),
    ):
        assert PASSWORD in found.secrets
        assert PASSWORD not in render(found)
        assert PASSWORD not in repr(found.settings)


def test_a_file_gives_sources_and_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    found = from_file(
        tmp_path,
        """
        [sources.shop]
        address = "postgresql://reader@db.example/shop"
        password_env = "SHOP_PASSWORD"
        sslmode = "verify-full"
        sslrootcert = "system"
        tunnel = "ssh bastion"
        [sources.notes]
        file = "/data/notes.db"
        immutable = true
        [queries.recent]
        source = "notes"
        sql = "SELECT ?"
        params = [{ name = "since", type = "date", default = "2026-01-01" }, { name = "n", type = "integer" }]
        """,
    )
    shop, notes = (source.address for source in found.sources)
    assert isinstance(shop, PostgresAddress)
    assert shop.password is not None
    assert shop.password.reveal() == PASSWORD
    assert (shop.sslmode, shop.sslrootcert, shop.tunnel) == ("verify-full", "system", "ssh bastion")
    assert notes == SqliteFile("/data/notes.db", True)
    (query,) = found.queries
    assert query.bind({"n": "7"}) == ("2026-01-01", 7)
    assert query.bind({"n": "-7", "since": "2026-07-28"}) == ("2026-07-28", -7)
    for given in ({}, {"n": "x"}, {"n": "1.5"}, {"n": "1", "since": "28.7.2026"}, {"n": "1", "sinse": "2026-07-28"}):
        with pytest.raises(InvalidArgumentError):
            query.bind(given)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[sources.a]\nfile = "/a.db"\nimutable = true', "Did you mean immutable?"),
        ('[source.a]\nfile = "/a.db"', "Did you mean sources?"),
        ('[sources.a]\nfile = "a.db"', "relative"),
        ('[sources.a]\nfile = "/a.db"\nhost = "h"', "in 2 ways"),
        ("[sources.a]\n", "in 0 ways"),
        ('[sources.a]\nfile = "/a.db"\nsslmode = "require"', "for PostgreSQL"),
        ('[sources.a]\nhost = "h"\nimmutable = true', "for SQLite"),
        ('[sources.a]\nhost = "h"\nport = "5432"', "port"),
        ('[sources.a]\nhost = "h"\nsslmode = "requires"', "Did you mean require?"),
        ('[sources.a]\naddress_env = "NO_SUCH_VARIABLE_HERE"', "is not set"),
        ('[sources.a]\naddress = "${SHOP}"', "nothing is expanded"),
        ('[sources.a]\nhost = "h"\ntunnel = "ssh -x h"', "ssh HOST"),
        ('[sources.query]\nfile = "/a.db"', 'cannot be called "query"'),
        ('[sources.a]\nfile = "/a.db"\n[sources.A]\nfile = "/b.db"', "but for its case"),
        ("sources = 3", "table of tables"),
        ("[sources", "no TOML"),
        ('[queries.q]\nsql = "SELECT 1"', "does not say its source"),
        ('[sources.a]\nfile = "/a.db"\n[queries.q]\nsource = "b"\nsql = "SELECT 1"', "source 'b'"),
        ('[sources.a]\nfile = "/a.db"\n[queries.q]\nsource = "a"', "has no sql"),
        ('[sources.a]\nfile = "/a.db"\n[queries.q]\nsql = "x"\nparams = [{ name = "n", type = "int" }]', "no type"),
        (
            '[sources.a]\nfile = "/a"\n[queries.q]\nsql = "x"\nparams = [{ name = "n", type = "date", default = "" }]',
            "default of n",
        ),
    ],
)
def test_a_file_that_cannot_be_meant_stops_the_start(text: str, told: str, tmp_path: Path):
    with pytest.raises(SettingsError) as caught:
        from_file(tmp_path, text)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "environ", "told"),
    [
        (["--alow-write"], {}, "Did you mean --allow-write?"),
        (["--allow-writes"], {}, "--allow-write"),
        (["/a.db", "--max-row=5"], {}, "--max-rows"),
        ([], {"MCP_DATABASE_ALLOW_WRITES": "1"}, "MCP_DATABASE_ALLOW_WRITE"),
        ([], {"DATABASE_ULR": "postgresql://h/d"}, "DATABASE_URL"),
        (["--rows=50", "--max-rows=10"], {}, "--max-rows"),
        (["--sources=/no/such/file.toml"], {}, "cannot be read"),
    ],
)
def test_what_is_misspelt_stops_the_start(arguments: list[str], environ: dict[str, str], told: str):
    with pytest.raises(SettingsError) as caught:
        load(DatabaseSettings, arguments, environ)
    assert told in str(caught.value)


def test_nothing_is_written_unless_it_is_allowed():
    assert not loaded("/a.db").settings.allow_write


def test_doctor_looks_at_each_database(tmp_path: Path):
    shop = make(tmp_path / "shop.db")
    (tmp_path / "text.db").write_text("no database " * 100)
    found = list(checks(loaded(str(shop), str(tmp_path / "missing.db"), str(tmp_path / "text.db"))))
    levels = {(one.subject, one.level) for one in found}
    assert ("database shop", "ok") in levels
    assert ("database missing", "fail") in levels
    assert ("database text", "fail") in levels
    assert all(one.fix for one in found if one.level != "ok")
    assert not (tmp_path / "missing.db").exists()


def test_doctor_names_a_password_that_others_can_see(tmp_path: Path):
    path = tmp_path / "sources.toml"
    path.write_text(f'[sources.a]\nhost = "127.0.0.1"\nport = 9\ndatabase = "d"\npassword = "{PASSWORD}"\n')
    path.chmod(0o644)
    found = list(checks(loaded(f"--sources={path}", f"b=postgresql://u:{PASSWORD}@127.0.0.1:9/d")))
    warnings = [one for one in found if one.subject == "password"]
    assert len(warnings) == 2
    assert not any(PASSWORD in f"{one.text}{one.fix}" for one in found)


def test_doctor_says_that_no_database_is_configured():
    assert [one.level for one in checks(loaded()) if one.subject == "databases"] == ["fail"]
