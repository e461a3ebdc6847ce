"""The engines of the configured sources, and finding the one that a call means."""

import asyncio
from collections.abc import Sequence

from mcp_curated_database.engines.addresses import PostgresAddress
from mcp_curated_database.engines.border import Budget, Engine
from mcp_curated_database.settings import DatabaseSettings
from mcp_curated_database.sources import Source
from mcp_curated_shared.errors import InvalidArgumentError, NotFoundError, UnavailableError
from mcp_curated_shared.nearest import nearest


def make_engine(source: Source, settings: DatabaseSettings) -> Engine:
    """The engine for a source's address. Its driver is imported here, when a source first needs it."""
    limits = settings.limits
    if isinstance(source.address, PostgresAddress):
        from mcp_curated_database.engines.postgres import PostgresEngine

        return PostgresEngine(
            source.address,
            most_connections=limits.connections,
            lock_seconds=limits.lock_seconds,
            allow_functions=settings.allow_functions,
            least_privilege=settings.require_least_privilege,
        )
    from mcp_curated_database.engines.sqlite import SqliteEngine

    return SqliteEngine(source.address, busy_seconds=limits.lock_seconds, readers=limits.connections)


class Databases:
    """Every source and its engine, made when it is first used; a dead one hurts no other.

    Args:
        settings: The operator's.
    """

    def __init__(self, settings: DatabaseSettings) -> None:
        self.settings = settings
        self.sources: Sequence[Source] = settings.sources
        self._engines: dict[str, Engine] = {}
        self._opening = asyncio.Lock()

    def source(self, name: str | None) -> Source:
        """The source of a name, in any case; the only one without a name.

        Raises:
            NotFoundError: There is none of that name.
            InvalidArgumentError: There are several and none is named.
            UnavailableError: There is none at all.
        """
        if not self.sources:
            raise UnavailableError(
                "No database is configured.", "Start the server with one: mcp-curated-database /path/to/file.db."
            )
        names = [source.name for source in self.sources]
        if name is None:
            if len(names) > 1:
                raise InvalidArgumentError(f"source is required, one of {', '.join(names)}.")
            return self.sources[0]
        for source in self.sources:
            if source.name.casefold() == name.casefold():
                return source
        close = nearest(name, names)
        hint = f"Did you mean {close}?" if close else f"It is one of {', '.join(names)}."
        raise NotFoundError(f"There is no source {name[:60]!r}.", hint)

    async def engine(self, source: Source) -> Engine:
        """The engine of a source, opened."""
        engine = self._engines.get(source.name)
        if engine is None:
            async with self._opening:
                engine = self._engines.get(source.name)
                if engine is None:
                    engine = make_engine(source, self.settings)
                    await engine.open()
                    self._engines[source.name] = engine
        return engine

    async def close(self) -> None:
        """Close every engine."""
        engines, self._engines = list(self._engines.values()), {}
        await asyncio.gather(*(engine.close() for engine in engines), return_exceptions=True)

    def budget(self, rows: int | None = None) -> Budget:
        """What one call may take.

        Args:
            rows: As many as the call asked for; None for the default.
        """
        limits = self.settings.limits
        return Budget(
            rows=min(limits.rows if rows is None else rows, limits.most_rows),
            bytes=limits.reply_bytes,
            cell_characters=limits.cell_characters,
            seconds=limits.query_seconds,
        )
