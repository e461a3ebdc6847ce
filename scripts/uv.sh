#!/bin/sh
# Runs uv: the one on PATH if its version suits, else one in a private virtual environment (.tools/uv), made when it is missing.
# System Pythons are externally managed (PEP 668), so nothing is ever installed into them.
set -eu

# The same bounds stand in pyproject.toml, [tool.uv] required-version; tests/packaging compares the two.
requirement='uv>=0.13.9,<0.14'

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
private="$root/.tools/uv"

suits() {
    case "$("$1" --version 2>/dev/null)" in
    'uv 0.13.9' | 'uv 0.13.9 '* | 'uv 0.13.'[1-9][0-9]*) return 0 ;;
    *) return 1 ;;
    esac
}

stop() {
    printf '%s\n' "$@" >&2
    exit 1
}

find_python() {
    for candidate in "${PYTHON:-python3}" python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

install_privately() {
    python=$(find_python) || stop \
        'No Python 3.11 or later was found (tried $PYTHON, python3, python3.14 to python3.11, python).' \
        'Install one, or name it: make PYTHON=/path/to/python3.12 ...'
    printf 'Installing uv into .tools/uv (once), with %s\n' "$("$python" --version)" >&2
    rm -rf "$private"
    "$python" -m venv "$private" >&2 || stop \
        "$python cannot make a virtual environment." \
        'On Debian and Ubuntu: apt install python3-venv. Then run the command again.'
    "$private/bin/python" -m pip install --quiet --disable-pip-version-check "$requirement" >&2 || stop \
        "pip could not install '$requirement' into .tools/uv: see its message above." \
        'Behind a mirror or proxy set PIP_INDEX_URL or HTTPS_PROXY, or install uv yourself and put it on PATH.'
}

if suits uv; then
    exec uv "$@"
fi
suits "$private/bin/uv" || install_privately
exec "$private/bin/uv" "$@"
