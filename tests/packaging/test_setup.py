"""Setup installs what uv.lock says or nothing, and uv keeps to what that relies on (its manual promises none of it)."""

import hashlib
import shutil
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.packaging.support import REPOSITORY, run


@dataclass(frozen=True, slots=True)
class Index:
    """A package index on loopback whose only project is `kiwi`."""

    folder: Path
    url: str

    def publish(self, version: str, says: str) -> None:
        """Put a wheel of `version` there, whose module says `says`."""
        name = f"kiwi-{version}-py3-none-any.whl"
        facts = f"kiwi-{version}.dist-info"
        with zipfile.ZipFile(self.folder / name, "w") as wheel:
            wheel.writestr("kiwi.py", f"SAYS = {says!r}\n")
            wheel.writestr(f"{facts}/METADATA", f"Metadata-Version: 2.1\nName: kiwi\nVersion: {version}\n")
            wheel.writestr(
                f"{facts}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{facts}/RECORD", "")
        self._write_page()

    def withdraw(self, version: str) -> None:
        """Take `version` away."""
        (self.folder / f"kiwi-{version}-py3-none-any.whl").unlink()
        self._write_page()

    def _write_page(self) -> None:
        wheels = sorted(self.folder.glob("*.whl"))
        links = [
            f'<a href="/{wheel.name}#sha256={hashlib.sha256(wheel.read_bytes()).hexdigest()}">{wheel.name}</a>'
            for wheel in wheels
        ]
        page = self.folder / "simple" / "kiwi" / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("<!DOCTYPE html><body>" + "\n".join(links), encoding="utf-8")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    folder = tmp_path / "index"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield Index(folder, f"http://127.0.0.1:{server.server_address[1]}/simple")
        server.shutdown()
        thread.join()


@dataclass(frozen=True, slots=True)
class Project:
    """A small project with our scripts, set up from `index`."""

    folder: Path
    environment: dict[str, str]

    def setup(self, *, succeeds: bool = True) -> str:
        """Run scripts/setup.sh and give what it says."""
        done = run(["scripts/setup.sh"], cwd=self.folder, succeeds=succeeds, extra=self.environment)
        assert succeeds or done.returncode != 0
        return done.stdout + done.stderr

    def lock(self) -> str:
        """The lock as it stands in the folder."""
        return (self.folder / "uv.lock").read_text(encoding="utf-8")

    def installed(self) -> str:
        """The installed kiwi's version and what its module says."""
        code = "import kiwi, importlib.metadata; print(importlib.metadata.version('kiwi'), kiwi.SAYS)"
        return run([".venv/bin/python", "-c", code], cwd=self.folder).stdout.strip()


@pytest.fixture
def project(tmp_path: Path, index: Index, uv: Path) -> Project:
    """A project that was locked when the index had kiwi 1.0 only."""
    folder = tmp_path / "project"
    shutil.copytree(REPOSITORY / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "root"\nversion = "0.1.0"\nrequires-python = ">=3.11"\ndependencies = ["kiwi"]\n'
        "[project.optional-dependencies]\nimages = []\n[tool.uv]\npackage = false\n[tool.uv.workspace]\nmembers = []\n",
        encoding="utf-8",
    )
    environment = {
        "PATH": f"{uv.parent}:/usr/local/bin:/usr/bin:/bin",
        "UV_DEFAULT_INDEX": index.url,
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_PYTHON": shutil.which("python3") or "python3",
    }
    index.publish("1.0", "original")
    run([uv, "lock"], cwd=folder, extra=environment)
    run([uv, "run", "--no-project", "python", "scripts/lock.py", "strip", "uv.lock"], cwd=folder, extra=environment)
    shutil.rmtree(tmp_path / "cache")
    return Project(folder, environment)


def test_setup_installs_the_locked_version_though_a_newer_one_is_there(project: Project, index: Index):
    index.publish("1.1", "newer")
    committed = project.lock()
    project.setup()
    assert project.installed() == "1.0 original"
    assert project.lock() == committed


def test_setup_stops_at_a_tampered_file_and_installs_nothing(project: Project, index: Index):
    index.publish("1.0", "tampered")
    committed = project.lock()
    assert "kiwi-1.0-py3-none-any.whl: locked as sha256:" in project.setup(succeeds=False)
    assert not (project.folder / ".venv").exists()
    assert project.lock() == committed


def test_setup_stops_at_a_drifted_version_and_names_it(project: Project, index: Index):
    index.publish("1.1", "newer")
    index.withdraw("1.0")
    committed = project.lock()
    assert "kiwi: locked 1.0, resolved 1.1" in project.setup(succeeds=False)
    assert project.lock() == committed


def test_setup_puts_the_lock_back_when_uv_fails(project: Project, index: Index):
    index.withdraw("1.0")
    committed = project.lock()
    project.setup(succeeds=False)
    assert project.lock() == committed


def test_setup_mends_a_lock_that_a_plain_sync_left_in_its_full_form(project: Project, uv: Path):
    committed = project.lock()
    run([uv, "sync"], cwd=project.folder, extra=project.environment)
    assert "://" in project.lock()
    project.setup()
    assert project.lock() == committed
