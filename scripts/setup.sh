#!/bin/sh
# Makes .venv hold exactly what the committed uv.lock says, and leaves uv.lock as it was (docs/decisions/0002-host-free-lock.md).
set -eu
cd -- "$(dirname -- "$0")/.."

uv=scripts/uv.sh
kept=.tools/uv.lock.committed

put_back() {
    if [ -f "$kept" ]; then
        mv -f "$kept" uv.lock
    fi
}

"$uv" --version >/dev/null # installs it when there is none; its messages are plain already
python=$("$uv" python find --no-python-downloads '>=3.11' 2>/dev/null) || {
    echo 'No Python 3.11 or later was found. Install one (or run: uv python install 3.13), then try again.' >&2
    exit 1
}

mkdir -p .tools
# An earlier run that was killed, or a plain `uv sync` by hand, leaves the full form behind.
"$python" scripts/lock.py strip uv.lock
cp -p uv.lock "$kept"
trap put_back EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

"$uv" lock --quiet
"$python" scripts/lock.py restore "$kept" uv.lock
"$uv" sync --quiet --locked --all-packages --extra images
