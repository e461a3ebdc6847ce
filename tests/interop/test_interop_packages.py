"""What is installed to run the clients is fixed by hash, and no file says where it is to come from."""

import json
import re

from tests.interop.clients import PROJECT


def test_the_clients_are_named_with_exact_versions() -> None:
    project = json.loads((PROJECT / "package.json").read_text(encoding="utf-8"))
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in project["dependencies"].values())
    lock = json.loads((PROJECT / "package-lock.json").read_text(encoding="utf-8"))
    assert lock["packages"][""]["dependencies"] == project["dependencies"]


def test_the_clients_lock_holds_hashes_and_no_address() -> None:
    text = (PROJECT / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    del packages[""]
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
