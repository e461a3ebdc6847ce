"""uv.lock names no package index, and nothing is installed that it does not vouch for."""

import subprocess

from scripts import lock
from tests.packaging.support import REPOSITORY

ONE, TWO, OTHER = ("sha256:" + digit * 64 for digit in "123")
FULL = f"""version = 1
revision = 3
requires-python = ">=3.11"

[manifest]
members = [
    "root",
]

[[package]]
name = "kiwi"
version = "1.0"
source = {{ registry = "https://index.example/simple" }}
sdist = {{ url = "https://files.example/aa/kiwi-1.0.tar.gz", hash = "{ONE}", upload-time = "2026-01-01T00:00:00Z" }}
wheels = [
    {{ url = "https://files.example/bb/kiwi-1.0%2Bcpu-py3-none-any.whl", hash = "{TWO}", size = 20 }},
]

[[package]]
name = "root"
version = "0.1.0"
source = {{ virtual = "." }}
"""
COMMITTED = lock.strip(FULL)


def test_the_committed_lock_holds_names_versions_and_hashes_but_no_address():
    assert "://" not in COMMITTED
    assert f'sdist = {{ path = "kiwi-1.0.tar.gz", hash = "{ONE}" }}\n' in COMMITTED
    assert f'    {{ path = "kiwi-1.0+cpu-py3-none-any.whl", hash = "{TWO}" }},\n' in COMMITTED
    assert 'source = { virtual = "." }' in COMMITTED


def test_stripping_a_stripped_lock_changes_nothing():
    assert lock.strip(COMMITTED) == COMMITTED


def test_a_lock_that_matches_the_committed_one_passes_as_it_is():
    assert lock.compare(COMMITTED, FULL) == lock.Comparison(drift=(), full=FULL, unknown=())


def test_a_tampered_hash_is_caught_and_its_file_named():
    comparison = lock.compare(COMMITTED, FULL.replace(TWO, OTHER))
    assert comparison.drift == (f"kiwi-1.0+cpu-py3-none-any.whl: locked as {TWO}, the index says {OTHER}",)


def test_a_drifted_version_is_caught_and_both_versions_are_named():
    assert lock.compare(COMMITTED, FULL.replace('version = "1.0"', 'version = "1.1"')).drift == (
        "kiwi: locked 1.0, resolved 1.1",
    )


def test_a_package_that_nobody_locked_is_caught():
    extra = '\n[[package]]\nname = "stranger"\nversion = "9"\nsource = { registry = "https://index.example/simple" }\n'
    assert lock.compare(COMMITTED, FULL + extra).drift == ("stranger: locked nothing, resolved 9",)


def test_a_changed_dependency_is_caught():
    changed = FULL.replace('requires-python = ">=3.11"', 'requires-python = ">=3.12"')
    assert lock.compare(COMMITTED, changed).drift == (
        'only in uv.lock: requires-python = ">=3.11"',
        'only in what uv resolves: requires-python = ">=3.12"',
    )


def test_a_file_that_was_added_to_a_locked_version_later_is_left_out():
    late = f'    {{ url = "https://files.example/cc/kiwi-1.0-cp315-abi3.whl", hash = "{OTHER}" }},\n'
    comparison = lock.compare(
        COMMITTED, FULL.replace(']\n\n[[package]]\nname = "root"', late + ']\n\n[[package]]\nname = "root"')
    )
    assert comparison == lock.Comparison(drift=(), full=FULL, unknown=("kiwi-1.0-cp315-abi3.whl",))


def test_an_index_that_tells_no_hashes_gets_the_committed_ones():
    bare = FULL.replace(f', hash = "{TWO}"', "")
    comparison = lock.compare(COMMITTED, bare)
    assert comparison.drift == ()
    assert f'hash = "{TWO}"' in comparison.full


def test_a_lock_with_an_address_or_without_a_hash_is_refused_by_check():
    assert lock.faults(COMMITTED) == []
    assert "names an address" in lock.faults(FULL)[0]
    assert lock.faults(COMMITTED.replace(f', hash = "{ONE}"', "")) == ["kiwi-1.0.tar.gz has no SHA-256"]
    assert lock.faults(COMMITTED.replace(lock.STALE_MEMBER, "x")) == ["it is not in the committed form"]


def test_the_lock_of_this_repository_is_in_the_committed_form():
    assert lock.faults((REPOSITORY / "uv.lock").read_text(encoding="utf-8")) == []


def test_no_tracked_file_names_a_package_registry():
    hosts = [
        ".".join(parts)
        for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("yarnpkg", "com"))
    ]
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout
    paths = [REPOSITORY / name for name in listing.decode().split("\0") if name]
    texts = {path: path.read_bytes().lower() for path in paths if path.is_file()}
    found = [
        f"{path.relative_to(REPOSITORY)} names {host}"
        for path, text in texts.items()
        for host in hosts
        if host.encode() in text
    ]
    assert not found, "\n".join(found)
