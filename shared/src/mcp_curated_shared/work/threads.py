"""Daemon threads that wait for one job after another.

`ThreadPoolExecutor` and anyio's worker threads are not daemons: the interpreter joins them at exit, so one thread
that hangs in a dead network file system keeps the whole process alive. These do not.
"""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue

Task = Callable[[], None]


class WorkerThread:
    """One daemon thread with an inbox; it tells the event loop when it is free again.

    Args:
        loop: The event loop that gets `freed`.
        freed: Called on the event loop after each task with this thread; never on the thread itself.
        number: Names the thread in a stack dump.
    """

    __slots__ = ("_freed", "_inbox", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, freed: "Callable[[WorkerThread], None]", number: int) -> None:
        self._loop = loop
        self._freed = freed
        self._inbox: SimpleQueue[Task | None] = SimpleQueue()
        threading.Thread(target=self._live, name=f"work-{number}", daemon=True).start()

    def give(self, task: Task) -> None:
        """Run `task` next. It must not raise."""
        self._inbox.put(task)

    def dismiss(self) -> None:
        """End the thread once it is free."""
        self._inbox.put(None)

    def _live(self) -> None:
        while (task := self._inbox.get()) is not None:
            task()
            del task  # its result must not live until the next task comes
            try:
                self._loop.call_soon_threadsafe(self._freed, self)
            except RuntimeError:  # the loop was closed while the task was stuck: nobody is left to tell
                return
