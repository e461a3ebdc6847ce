"""The tour of `make try`: each server is started as a host would start it and does real work.

Usage: python scripts/try.py [filesystem | database | github | web ...]
Exit status 0 when every step did what its line says, 1 otherwise.
"""

import sys
import time

import anyio
from tour import database, filesystem, github, web
from tour.stage import Stage

TOURS = {"filesystem": filesystem.tour, "database": database.tour, "github": github.tour, "web": web.tour}


async def main(names: list[str]) -> int:
    """Run the named tours, all of them without a name."""
    unknown = [name for name in names if name not in TOURS]
    if unknown:
        print(f"There is no tour {unknown[0]!r}. Tours: {', '.join(TOURS)}.", file=sys.stderr)
        return 2
    stage = Stage(sys.stdout)
    started = time.monotonic()
    for name in names or TOURS:
        await TOURS[name](stage)
    stage.close(time.monotonic() - started)
    return 1 if stage.failures else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main, sys.argv[1:]))
