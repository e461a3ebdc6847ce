"""The operator's deny patterns, decided on the true path."""

import fnmatch
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import CuratedError, SettingsError
from mcp_curated_shared.security.confinement import PathDeniedError
from mcp_curated_shared.security.confinement.denying import DenyRules
from tests.shared.confinement.conftest import Place, read


@pytest.mark.parametrize(
    ("pattern", "closed", "open_"),
    [
        ("*.pem", ["a.pem", "x/y/A.PEM", "k.pem/inside"], ["a.pem.txt", "pem"]),
        ("secrets", ["secrets", "a/secrets/b", "SECRETS"], ["secrets2", "my-secrets"]),
        ("secrets/", ["secrets/a", "x/secrets"], ["secret"]),
        ("/top.txt", ["top.txt"], ["a/top.txt"]),
        ("docs/*.txt", ["docs/a.txt", "DOCS/A.TXT"], ["docs/x/a.txt", "a/docs/a.txt"]),
        ("docs/**", ["docs/a", "docs/a/b"], ["docs", "adocs/a"]),
        ("docs/**/x", ["docs/x", "docs/a/b/x"], ["docs/ax"]),
        ("**/cache", ["cache", "a/b/cache/c"], ["cached"]),
        (".env*", [".env", "a/.env.local"], ["env"]),
        ("a?c", ["abc"], ["ac", "abbc", "a/c"]),
        ("[ab]x", ["ax", "q/bx"], ["cx", "x"]),
        ("[!ab]x", ["cx"], ["ax"]),
        ("a\\[", ["a["], ["a"]),
        ("[^a]ozo", ["bozo", "BOZO"], ["aozo", "/ozo", "x/ozo"]),
        ("x[[:digit:]]", ["x1", "a/X9"], ["xd", "x:", "x"]),
        ("x[![:digit:]_]", ["xd", "x["], ["x1", "x_", "x"]),
        ("[[:alpha:]-]z", ["az", "-z", "Qz"], ["1z", ":z"]),
        ("q[[:space:]]q", ["q q"], ["qq", "qsq"]),
        ("q[[:print:]]q", ["q-q"], ["q/q"]),
        ("q[!a]q", ["qbq"], ["q/q", "qaq"]),
        ("q[\\]\\-z]", ["q]", "q-", "qz"], ["qa", "q\\"]),
        ("q[a-cx-]", ["qb", "qx", "q-"], ["qd"]),
        ("q[&&||~~[-]", ["q&", "q|", "q~"], ["qa"]),
        ("*a*b?*c", ["xaybzqc", "abxc", "aabbcc"], ["abc", "xay/bzqc", "abxcd"]),
        ("[]x]", ["]", "x"], ["a"]),
        ("[a-c]^", ["b^"], ["d^", "^"]),
        ("caf\u00e9", ["cafe\u0301", "CAFE\u0301"], ["cafe"]),
        ("key", ["k\u200bey", "key.", "key "], ["keys"]),
        ("\\*", ["*"], ["a"]),
    ],
)
def test_a_pattern_closes_what_it_names_and_nothing_else(pattern: str, closed: list[str], open_: list[str]) -> None:
    rules = DenyRules([pattern])
    assert [path for path in closed if not rules.match(path)] == []
    assert [path for path in open_ if rules.match(path)] == []


@given(
    st.text(alphabet="ab*?", min_size=1, max_size=8).filter(lambda glob: glob.strip("*") and "**" not in glob),
    st.text(alphabet="ab", min_size=1, max_size=8),
)
def test_a_pattern_matches_a_name_as_a_shell_glob_does(glob: str, name: str) -> None:
    assert DenyRules([glob]).match(name) == fnmatch.fnmatchcase(name, glob)


@pytest.mark.parametrize("character", ["a", ".", " ", "\\", "\n"])
def test_no_name_makes_the_rules_or_the_refusal_slow(place: Place, character: str) -> None:
    confinement = place.confine(deny=("*a*a*a*a*b", "*.*.*.*.x", "**/x/**/y"))
    started = time.monotonic()
    for asked in (character * 2_000 + "z", "/".join([character * 200 + "z"] * 150), f"{character}/" * 900 + "z"):
        with pytest.raises(CuratedError):
            confinement.open_file(asked)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "pattern", ["", "/", "!x", "[z-a]", "  ", "a[", "[]", "[!]", "[^]", "x[[:digit:]", "[[:digits:]]", "[a/b]", "[a\\]"]
)
def test_a_pattern_that_names_nothing_or_holds_a_broken_set_stops_the_start(pattern: str) -> None:
    with pytest.raises(SettingsError, match="deny pattern"):
        DenyRules([pattern])


@pytest.mark.parametrize("asked", ["keys/id", "KEYS/ID", "short/id", "link", "docs/../keys/id", "keys", "keys/absent"])
def test_a_closed_path_is_refused_by_every_way_to_it(place: Place, asked: str) -> None:
    (place.root / "keys").mkdir()
    (place.root / "keys" / "id").write_text("key")
    (place.root / "short").symlink_to("keys")
    (place.root / "link").symlink_to("keys/id")
    confinement = place.confine(deny=("keys",))
    for operation in (
        confinement.open_file,
        confinement.open_directory,
        confinement.open_entry,
        confinement.open_target,
    ):
        with pytest.raises(PathDeniedError):
            operation(asked)


def test_a_link_whose_own_name_is_closed_is_not_followed(place: Place) -> None:
    (place.root / "a.pem").symlink_to("README.md")
    with pytest.raises(PathDeniedError):
        place.confine(deny=("*.pem",)).open_file("a.pem")


def test_a_byte_spelling_of_a_closed_name_is_closed(place: Place) -> None:
    (place.root / "cl\u00e9").write_text("key")
    confinement = place.confine(deny=("cl\u00e9",))
    for asked in ("cl\\xc3\\xa9", os.fsdecode(b"cl") + "\udcc3\udca9", "file://" + str(place.root) + "/cl%C3%A9"):
        with pytest.raises(PathDeniedError):
            confinement.open_file(asked)


def test_a_closed_name_of_a_nested_root_is_closed_from_both_roots(place: Place) -> None:
    confinement = place.confine(place.root, place.root / "docs", deny=("docs/deep",))
    for asked in ("docs/deep/file.txt", "../root/docs/deep/file.txt"):
        with pytest.raises(PathDeniedError):
            confinement.open_file(f"{place.root}/{asked}")
    assert read(confinement, f"{place.root}/docs/report.txt") == "report"


def test_narrowing_to_a_directory_keeps_the_rules_of_the_root_above(place: Place) -> None:
    confinement = place.confine(deny=("docs/deep",))
    with confinement.narrowed([f"file://{place.root}/docs"]) as narrow:
        with pytest.raises(PathDeniedError):
            narrow.open_file("deep/file.txt")
        assert narrow.denied("deep/file.txt", narrow.roots[0])
        assert not narrow.denied("report.txt", narrow.roots[0])


def test_a_walker_can_ask_for_each_entry(place: Place) -> None:
    confinement = place.confine(deny=("*.key", "docs/deep"))
    assert confinement.denied("a/b.key")
    assert confinement.denied("docs/deep/file.txt")
    assert not confinement.denied("docs/report.txt")


def test_a_short_name_is_compared_by_the_name_that_is_listed(place: Place) -> None:
    """Without a filesystem that has 8.3 names: a listed name with a tilde opens, an unlisted one is simply missing."""
    (place.root / "file~1.txt").write_text("listed")
    (place.root / "backup.txt~2~").write_text("listed")
    confinement = place.confine(deny=("x",))
    assert read(confinement, "file~1.txt") == "listed"
    assert read(confinement, "backup.txt~2~") == "listed"
