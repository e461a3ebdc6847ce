"""What the `doctor` command looks at for this server: each database, how it is reached, and with which rights."""

import asyncio
import os
import stat
from collections.abc import Iterator

from mcp_curated_database.databases import make_engine
from mcp_curated_database.engines.addresses import PostgresAddress, SqliteFile
from mcp_curated_database.engines.border import Checked
from mcp_curated_database.settings import DatabaseSettings
from mcp_curated_database.source_file import SourceFile
from mcp_curated_database.sources import Source
from mcp_curated_shared.doctor import Finding
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.settings import Loaded

SOURCE_SECONDS = 15.0


def checks(loaded: Loaded[DatabaseSettings]) -> Iterator[Finding]:
    """Every finding about this server's databases."""
    settings = loaded.settings
    if not settings.sources:
        fix = "Name one: mcp-curated-database /path/to/file.db, or set DATABASE_URL."
        yield Finding("fail", "databases", "None is configured.", fix)
    yield from _seen_by_others(settings)
    if settings.source_file is not None:
        yield from _rights_of_file(settings.source_file)
    for source in settings.sources:
        yield from examine(source, settings)
    if settings.allow_write:
        yield Finding("ok", "writes", f"execute is offered and asks first (confirm = {settings.consent.confirm})")
    else:
        yield Finding("ok", "writes", "none: query reads only, and execute is not offered")


def _seen_by_others(settings: DatabaseSettings) -> Iterator[Finding]:
    for source in settings.databases:
        if source.secret_texts():
            text = f"The password of {source.name} is on the command line, where other users see it."
            fix = "Put the address into DATABASE_URL, or the password into PGPASSFILE or the file of --sources."
            yield Finding("warn", "password", text, fix)


def _rights_of_file(file: SourceFile) -> Iterator[Finding]:
    if os.name != "posix" or not file.secret_texts():
        return
    try:
        mode = os.stat(file.path).st_mode
    except OSError:
        return
    if stat.S_IMODE(mode) & 0o077:
        text = f"{file.path} holds a password, and other users can read it."
        yield Finding("warn", "password", text, f"Run: chmod 600 {file.path}")


def examine(source: Source, settings: DatabaseSettings) -> Iterator[Finding]:
    """What is to say about one database."""
    subject = f"database {source.name}"
    yield Finding("ok", subject, _way(source))
    for found in asyncio.run(_checked(source, settings)):
        yield Finding(found.level, subject, found.text, found.fix)


def _way(source: Source) -> str:
    """How the database is reached, in words."""
    address = source.address
    if isinstance(address, SqliteFile):
        kept = ", immutable: read without locks, so nobody may write to it meanwhile" if address.immutable else ""
        return f"the SQLite file {address.path}, opened with mode=ro{kept}"
    mode = f"sslmode {address.sslmode}" if address.sslmode else "sslmode of PGSSLMODE, else prefer"
    return f"{address.shown}, {mode}{_trust(address)}{_password(address)}{_tunnel(address)}"


def _trust(address: PostgresAddress) -> str:
    return f", certificates of {address.sslrootcert}" if address.sslrootcert else ""


def _password(address: PostgresAddress) -> str:
    if address.password is not None:
        return ", its password given"
    return f", password from {address.passfile or 'PGPASSWORD or PGPASSFILE, if one is needed'}"


def _tunnel(address: PostgresAddress) -> str:
    return f", through {address.tunnel}" if address.tunnel else ""


async def _checked(source: Source, settings: DatabaseSettings) -> tuple[Checked, ...]:
    try:
        engine = make_engine(source, settings)
        await engine.open()
    except CuratedError as error:
        return (Checked("fail", error.text, error.next_step or "Mend that."),)
    try:
        async with asyncio.timeout(SOURCE_SECONDS):
            return await engine.check()
    except TimeoutError:
        text = f"It did not answer within {SOURCE_SECONDS:g} s."
        return (Checked("fail", text, "Look whether it runs, and whether a firewall is between."),)
    except CuratedError as error:
        return (Checked("fail", error.text, error.next_step or "Mend that."),)
    finally:
        await engine.close()
