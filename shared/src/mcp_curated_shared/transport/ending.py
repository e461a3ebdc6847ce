"""Ending the process in order: signals, a bound on the clean-up, and an exit that nothing can hold up.

The first SIGTERM, SIGINT or SIGHUP asks the server to stop as a closed standard input does: requests end, the
lifespan cleans up, the exit status is 0. A second one, or a clean-up that takes longer than its bound, ends the
process at once with 128 + the signal's number (1 after a closed standard input): the status tells whether the
clean-up was complete.
"""

import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

STOPPING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))

_CUT_SHORT = "The clean-up took longer than %g s and was cut short."

_log = logging.getLogger(__name__)

StopFn = Callable[[], object]


class Ending:
    """Watches over the end of this process; a context manager around everything that serves. Main thread only.

    Args:
        seconds: The bound from the first wish to stop until the process is gone.

    The signals are read on a thread of its own (`signal.set_wakeup_fd`), so that the bound and the second signal work
    even while the main thread is stuck in a system call.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._stop: StopFn | None = None
        self._lock = threading.Lock()
        self._received = 0
        self._begun = False
        self._over = threading.Event()
        self._threads: frozenset[threading.Thread] = frozenset()
        self._handlers: dict[int, object] = {}
        self._wakeup: tuple[socket.socket, socket.socket] | None = None
        self._old_wakeup = -1

    def __enter__(self) -> "Ending":
        self._threads = frozenset(threading.enumerate())
        if sys.platform != "win32":
            reading, writing = socket.socketpair()
            writing.setblocking(False)
            self._wakeup = (reading, writing)
            self._old_wakeup = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
            threading.Thread(target=self._listen, args=(reading,), name="signals", daemon=True).start()
        for number in STOPPING:
            self._handlers[number] = signal.signal(number, self._in_main_thread)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]  # what signal.signal() gave
        if self._wakeup is not None:
            signal.set_wakeup_fd(self._old_wakeup)
            self._wakeup[1].close()  # ends the listener

    def on_stop(self, stop: StopFn) -> None:
        """Call `stop`, from any thread, when a signal asks to stop; at once if one has already."""
        with self._lock:
            self._stop = stop
            due = self._received > 0
        if due:
            stop()

    def begin(self, status: int = 1) -> None:
        """From now on the process has its bound to end; if it does not, it exits with `status`. Thread-safe."""
        with self._lock:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._enforce, args=(status,), name="ending", daemon=True).start()

    def held_up(self) -> list[str]:
        """Names of the threads, begun under this watch, for which the interpreter would wait at exit."""
        return [
            thread.name
            for thread in threading.enumerate()
            if thread not in self._threads and not thread.daemon and thread.is_alive()
        ]

    def _listen(self, reading: socket.socket) -> None:
        with reading:
            while data := reading.recv(16):
                for number in data:
                    self._signalled(number)

    def _in_main_thread(self, number: int, _frame: FrameType | None) -> None:
        if self._wakeup is None:
            self._signalled(number)

    def _signalled(self, number: int) -> None:
        if number not in STOPPING:
            return
        with self._lock:
            self._received += 1
            again = self._received > 1
            stop = self._stop
        if again:
            os._exit(128 + number)
        self.begin(128 + number)
        if stop is not None:
            with contextlib.suppress(RuntimeError):  # the event loop is closed: it ended by itself
                stop()

    def _enforce(self, status: int) -> None:
        if self._over.wait(self._seconds):
            return
        # On a thread of its own, since whoever hangs may hold a lock of the log.
        words = threading.Thread(target=_log.warning, args=(_CUT_SHORT, self._seconds), daemon=True)
        words.start()
        words.join(0.5)
        os._exit(status)
