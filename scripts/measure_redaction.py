"""Measure the redactor: recall by kind, false positives, speed; beside gitleaks and detect-secrets if they are at hand.

    python scripts/measure_redaction.py CORPUS.jsonl[.gz] [--benign FILE ...] [--peers VENV/bin]

The corpus has one JSON object a line: text, secret (or null for a look-alike), kind, source. A secret counts as missed
if 35 % of it, and at least six characters, survive in one run; a false positive is any change to a look-alike.
"""

import argparse
import gzip
import json
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_curated_shared.security.redaction import redact, scan

DETECT = """
import json, sys, pathlib
from detect_secrets.core.scan import scan_file
from detect_secrets.settings import default_settings
with default_settings():
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        print(json.dumps([path.name, [found.secret_value for found in scan_file(str(path)) if found.secret_value]]))
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One text of the corpus."""

    text: str
    secret: str | None
    group: str


def read(path: str) -> list[Row]:
    """The rows of a corpus."""
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        Row(one["text"], one["secret"], f"{one['source']} / {one['kind'].split(':')[0].split('@')[0]}")
        for one in records
    ]


def survives(secret: str, shown: str) -> bool:
    """Whether enough of a secret is left in a text to count as a leak."""
    length = min(len(secret), max(6, -(-len(secret) * 35 // 100)))
    return any(secret[start : start + length] in shown for start in range(len(secret) - length + 1))


def score(rows: Sequence[Row], shown: Sequence[str]) -> tuple[Counter[str], int]:
    """The misses by group, and the number of changed look-alikes."""
    misses: Counter[str] = Counter()
    changed = 0
    for row, text in zip(rows, shown, strict=True):
        if row.secret is None:
            changed += text != row.text
        elif survives(row.secret, text):
            misses[row.group] += 1
    return misses, changed


def in_files(rows: Sequence[Row], run: Callable[[str], dict[str, list[str]]]) -> list[str]:
    """The texts without what another program finds in files of them."""
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(rows):
            Path(folder, f"{number:06}.txt").write_text(row.text, encoding="utf-8")
        found = run(folder)
    shown: list[str] = []
    for number, row in enumerate(rows):
        text = row.text
        for value in found.get(f"{number:06}.txt", []):
            text = text.replace(value, "[gone]")
        shown.append(text)
    return shown


def gitleaks(programs: str, folder: str) -> dict[str, list[str]]:
    """What gitleaks finds, by file."""
    report = Path(folder).with_suffix(".json")
    command = [
        f"{programs}/gitleaks",
        "dir",
        folder,
        "--no-banner",
        "--exit-code",
        "0",
        "-f",
        "json",
        "-r",
        str(report),
    ]
    subprocess.run(command, check=True, capture_output=True)
    found: dict[str, list[str]] = {}
    for one in json.loads(report.read_text()):
        found.setdefault(Path(one["File"]).name, []).append(one["Secret"])
    report.unlink()
    return found


def detect_secrets(programs: str, folder: str) -> dict[str, list[str]]:
    """What detect-secrets finds with its default plugins, by file."""
    command = [f"{programs}/python", "-c", DETECT, folder]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return dict(json.loads(line) for line in lines)


def show(name: str, rows: Sequence[Row], shown: Sequence[str], seconds: float, *, groups: bool = False) -> None:
    """One line a redactor, and if wanted its misses by group."""
    misses, changed = score(rows, shown)
    positive = Counter(row.group for row in rows if row.secret is not None)
    negative = len(rows) - positive.total()
    recall = 1 - misses.total() / max(1, positive.total())
    wrong = f"false positives {changed} of {negative}"
    print(f"{name:<16} recall {recall:.4f} of {positive.total()}  {wrong}  {seconds:.1f} s")
    sources = sorted({group.split(" / ")[0] for group in positive})
    for source in sources:
        total = sum(count for group, count in positive.items() if group.split(" / ")[0] == source)
        missed = sum(count for group, count in misses.items() if group.split(" / ")[0] == source)
        print(f"    {source:<20} {1 - missed / total:.4f} of {total}")
    if groups:
        for group, count in misses.most_common():
            print(f"    missed {count} of {positive[group]}: {group}")


def speed(path: str) -> None:
    """Hits and megabytes a second on one benign file, and the time for 64 kB of it."""
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    start = time.process_time()
    hits = scan(text)
    seconds = time.process_time() - start
    start = time.process_time()
    scan(text[: 1 << 16])
    short = time.process_time() - start
    size = len(text) / 1e6
    print(f"{path}: {size:.2f} MB, {len(hits)} hits, {size / seconds:.1f} MB/s; 64 kB in {short * 1000:.0f} ms")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--benign", nargs="*", default=[])
    parser.add_argument("--peers", help="a folder with gitleaks and a python that can import detect_secrets")
    options = parser.parse_args()
    rows = read(options.corpus)
    start = time.process_time()
    shown = [redact(row.text) for row in rows]
    show("this redactor", rows, shown, time.process_time() - start, groups=True)
    for name, program in (("gitleaks", gitleaks), ("detect-secrets", detect_secrets)) if options.peers else ():
        start = time.perf_counter()
        shown = in_files(rows, lambda folder, program=program: program(options.peers, folder))
        show(name, rows, shown, time.perf_counter() - start)
    for path in options.benign:
        speed(path)


if __name__ == "__main__":
    main()
