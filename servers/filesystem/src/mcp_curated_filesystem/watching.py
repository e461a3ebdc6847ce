"""Telling when a watched file or folder changed, without ever watching by name.

A watch by name reports what lies behind its links at that moment, which may be outside the roots (a link can be
swapped). So each watch holds a descriptor of the directory that confinement opened, and inotify is pointed at that
descriptor through `/proc/self/fd/N`, not recursively. Each event is resolved by confinement again before anybody hears
of it. Where there is no `/proc` (macOS) the directory is watched by its name; the second check is the same.

Where a directory hangs, its own watches wait: each lane (see `WorkPool`) is looked at beside the others, by one thread,
and while it does not answer nothing of it is given to inotify, which would wait for it on the event loop.

Events can be lost while the set of watched directories changes, and a directory can be replaced by another one of the
same name. Both are covered by comparing identities and time stamps on every round and at least every two seconds.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from mcp_curated_shared.errors import CuratedError, TooLargeError, UnavailableError
from mcp_curated_shared.security.confinement import Confinement
from mcp_curated_shared.work import Work, WorkPool

logger = logging.getLogger(__name__)

WATCH_LIMIT = 256
"""Watched URIs a process: each costs a descriptor and an inotify watch."""

LOOK_SECONDS = 5.0
"""How long a look at a watched entry may take before its directory is taken to hang."""

ROUND_MILLISECONDS = 2_000
"""How long a round waits for events before it compares identities anyway."""

Changed = Callable[[str], Awaitable[None]]
Roots = Callable[[], Confinement]
Signature = tuple[int, int, int, int] | None


@dataclass(slots=True)
class Watch:
    """One watched URI: the directory that is held, and what the entry looked like last.

    Args:
        uri: What the client subscribed to, as it was written.
        path: The path that confinement resolves, at the start and on every event.
        roots: Gives the roots that hold now for the client that subscribed; raises when there are none any more.
        lane: What looking at it may hang on.
        name: The entry's name in the held directory; None when the directory itself is watched.
        answers: Whether it did when it was last looked at.
    """

    uri: str
    path: str
    roots: Roots
    lane: str
    directory: int
    identity: tuple[int, int]
    name: str | None
    signature: Signature
    users: int = 1
    answers: bool = True

    def close(self) -> None:
        """Let go of the directory."""
        if self.directory >= 0:
            os.close(self.directory)
            self.directory = -1


@dataclass(slots=True)
class Held:
    """What one resolution by confinement gave: a directory to hold and the state of the watched entry."""

    directory: int
    identity: tuple[int, int]
    name: str | None
    signature: Signature


def resolve(roots: Roots, path: str) -> Held:
    """Open what a watch has to hold, in the roots that hold now.

    Returns:
        A duplicate descriptor of the directory (the caller closes it), its identity, the entry's name in it (None for a
        directory), and the entry's signature.

    Raises:
        CuratedError: The path is outside, denied or missing.
    """
    confinement = roots()
    with confinement.open_entry(path) as entry:
        signature = (entry.stat.st_dev, entry.stat.st_ino, entry.stat.st_size, entry.stat.st_mtime_ns)
        location = entry.location
    try:
        with confinement.open_directory(location.path) as directory:
            return Held(os.dup(directory.descriptor), (directory.stat.st_dev, directory.stat.st_ino), None, signature)
    except CuratedError as error:
        if error.kind != "wrong_type":
            raise
    parent, _, name = location.path.rpartition("/")
    with confinement.open_directory(parent) as directory:
        return Held(os.dup(directory.descriptor), (directory.stat.st_dev, directory.stat.st_ino), name, signature)


class _Look:
    """One look at a watch as a piece of work; a result that nobody waits for any more is let go.

    Attributes:
        began: Whether a thread took it up.
    """

    __slots__ = ("_ended", "_path", "_roots", "began")

    def __init__(self, roots: Roots, path: str, ended: Callable[[], None] | None = None) -> None:
        self._roots = roots
        self._path = path
        self._ended = ended
        self.began = False

    def __call__(self, work: Work) -> Held:
        self.began = True
        try:
            held = resolve(self._roots, self._path)
        finally:
            if self._ended is not None:
                self._ended()
        if work.cancelled:
            os.close(held.directory)
            work.check()
        return held


@dataclass(slots=True)
class Watcher:
    """All watches of a process, served by one loop.

    Args:
        changed: Called with the URI, on the event loop, after confinement has resolved its path again.
        pool: Runs what may block.
        limit: Most URIs watched at a time.
    """

    changed: Changed
    pool: WorkPool
    limit: int = WATCH_LIMIT
    _looking: set[str] = field(default_factory=set[str])
    _watches: dict[str, Watch] = field(default_factory=dict[str, Watch])
    _wake: anyio.Event = field(default_factory=anyio.Event)
    _armed: anyio.Event = field(default_factory=anyio.Event)

    def __len__(self) -> int:
        return len(self._watches)

    async def add(self, uri: str, roots: Roots, path: str, *, lane: str = "") -> None:
        """Watch what `path` names; a second call for the same URI counts one more user.

        Args:
            uri: What to report.
            roots: Gives the roots that hold.
            path: What to watch.
            lane: What looking at it may hang on.

        Raises:
            UnavailableError: It does not answer.
            CuratedError: The path is outside, denied or missing.
            TooLargeError: The limit is reached.
        """
        if uri not in self._watches:
            if len(self._watches) >= self.limit:
                raise TooLargeError(
                    f"{self.limit} resources are watched already, which is the limit.", "Unsubscribe from one first."
                )
            held = await self.pool.run(_Look(roots, path), seconds=LOOK_SECONDS, lane=lane)
            if uri not in self._watches:
                self._watches[uri] = Watch(
                    uri, path, roots, lane, held.directory, held.identity, held.name, held.signature
                )
                await self._arm()
                return
            os.close(held.directory)
        self._watches[uri].users += 1

    def remove(self, uri: str) -> None:
        """Take one user away; the last one ends the watch. An unknown URI is no error."""
        watch = self._watches.get(uri)
        if watch is None:
            return
        watch.users -= 1
        if watch.users <= 0:
            del self._watches[uri]
            watch.close()
            self._restart()

    async def run(self) -> None:
        """Serve the watches until cancelled; closes them at the end."""
        try:
            while True:
                self._wake = anyio.Event()
                if self._watches:
                    await self._round(self._armed)
                else:
                    await self._wake.wait()
        finally:
            for watch in self._watches.values():
                watch.close()
            self._watches.clear()

    def _restart(self) -> None:
        """Let the loop begin a round with the present set of directories."""
        self._armed = anyio.Event()
        self._wake.set()

    async def _arm(self) -> None:
        """Begin a new round and wait until its directories are watched: a change right after it must be seen."""
        self._restart()
        with anyio.move_on_after(ROUND_MILLISECONDS / 1_000):
            await self._armed.wait()

    async def _round(self, armed: anyio.Event) -> None:
        """Listen with the present set of directories until it has to change; `armed` is set when it listens."""
        await self._compare()
        paths = {_watch_path(watch) for watch in self._watches.values() if watch.answers}
        # watchfiles sets its watches before it first waits, so this callback runs when they are there.
        asyncio.get_running_loop().call_soon(armed.set)
        if not paths:
            with anyio.move_on_after(ROUND_MILLISECONDS / 1_000):
                await self._wake.wait()
            return
        async for touched in _events(sorted(paths), self._wake):
            await self._announce(touched)
            if await self._compare() or self._wake.is_set():
                return

    async def _announce(self, touched: set[str]) -> None:
        told: list[Watch] = []
        for watch in self._watches.values():
            directory = _watch_path(watch)
            own = directory if watch.name is None else f"{directory}/{watch.name}"
            inside = watch.name is None and any(path.startswith(f"{directory}/") for path in touched)
            if own in touched or inside:
                told.append(watch)
        await self._look_at(told, always=True)

    async def _compare(self) -> bool:
        """Compare every watch with the present state; True when the round must begin anew."""
        return await self._look_at(list(self._watches.values()), always=False)

    async def _look_at(self, watches: list[Watch], *, always: bool) -> bool:
        """Look at these watches, each lane beside the others; True when the round must begin anew."""
        lanes: dict[str, list[Watch]] = {}
        for watch in watches:
            lanes.setdefault(watch.lane, []).append(watch)
        anew: list[bool] = []

        async def look(together: list[Watch]) -> None:
            for watch in together:
                anew.append(await self._tell(watch, always=always))

        async with anyio.create_task_group() as tasks:
            for together in lanes.values():
                tasks.start_soon(look, together)
        return any(anew)

    async def _look(self, watch: Watch) -> Held:
        """Resolve the watch again, by one thread a lane: while that one hangs nobody else is sent after it."""
        if watch.lane in self._looking:
            raise UnavailableError("An earlier look still waits.")
        self._looking.add(watch.lane)
        look = _Look(watch.roots, watch.path, lambda: self._looking.discard(watch.lane))
        try:
            return await self.pool.run(look, seconds=LOOK_SECONDS, lane=watch.lane)
        except UnavailableError:
            if not look.began:
                self._looking.discard(watch.lane)
            raise

    async def _tell(self, watch: Watch, *, always: bool) -> bool:
        """Resolve the watch again, tell of a change, hold the directory that is there now.

        Returns:
            Whether what inotify is to watch is not what it was.
        """
        answered = watch.answers
        try:
            held = await self._look(watch)
        except (CuratedError, OSError) as error:  # the latter when descriptors run out
            watch.answers = not isinstance(error, UnavailableError)
            gone, watch.signature = watch.signature is not None, None
            if gone and isinstance(error, CuratedError) and error.kind == "not_found":
                await self.changed(watch.uri)
            return watch.answers != answered
        if watch.uri not in self._watches:
            os.close(held.directory)
            return False
        watch.answers = True
        changed = always or held.signature != watch.signature
        moved = held.identity != watch.identity or held.name != watch.name
        watch.signature = held.signature
        if moved:
            os.close(watch.directory)
            watch.directory, watch.identity, watch.name = held.directory, held.identity, held.name
        else:
            os.close(held.directory)
        if changed:
            await self.changed(watch.uri)
        return moved or not answered


def _watch_path(watch: Watch) -> str:
    if sys.platform == "linux":
        return f"/proc/self/fd/{watch.directory}"
    return watch.path if watch.name is None else watch.path.rpartition("/")[0]


async def _events(paths: list[str], stop: anyio.Event) -> AsyncGenerator[set[str]]:
    """Sets of touched paths; an empty set when a round ended without an event."""
    from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]  # names trio's Event, absent here

    with _quiet():
        async for changes in awatch(
            *paths,
            recursive=False,
            watch_filter=None,
            stop_event=stop,
            debounce=200,
            step=20,
            rust_timeout=ROUND_MILLISECONDS,
            yield_on_timeout=True,
        ):
            yield {path for _, path in changes}


@contextmanager
def _quiet() -> Generator[None]:
    """Keep `watchfiles` quiet: it logs every event with its path at DEBUG: paths stay out of logs."""
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    yield
