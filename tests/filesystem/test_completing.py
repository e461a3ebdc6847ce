from pathlib import Path

from mcp_curated_filesystem.finding.completing import complete_path
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work
from tests.filesystem.finding import plant


def completed(confinement: Confinement, typed: str, base: str | None = None) -> list[str]:
    return list(complete_path(confinement, typed, base=base, work=Work()).values)


def test_a_path_is_completed_to_names_that_go_on_from_it(confinement: Confinement, root: Path) -> None:
    plant(root, {"docs/a.txt": "", "doors.md": "", "x": ""})
    assert completed(confinement, f"{root}/do") == [f"{root}/docs/", f"{root}/doors.md"]
    assert completed(confinement, f"{root}/docs/") == [f"{root}/docs/a.txt"]


def test_the_first_slash_may_be_left_out_as_in_a_template(confinement: Confinement, root: Path) -> None:
    plant(root, {"docs/a.txt": ""})
    bare = str(root).lstrip("/")
    assert completed(confinement, f"{bare}/do") == [f"{bare}/docs/"]


def test_nothing_typed_completes_to_the_roots(confinement: Confinement, root: Path) -> None:
    assert completed(confinement, "") == [str(root).lstrip("/") + "/"]
    assert completed(confinement, str(root)[:-2]) == [f"{root}/"]


def test_a_relative_path_starts_from_its_base(confinement: Confinement, root: Path) -> None:
    plant(root, {"docs/a.txt": ""})
    assert completed(confinement, "do", str(root)) == ["docs/"]
    assert completed(confinement, "docs/a", str(root)) == ["docs/a.txt"]
    assert completed(confinement, "", str(root)) == ["docs/"]


def test_what_is_outside_completes_to_nothing(confinement: Confinement, root: Path) -> None:
    (root / "out").symlink_to("/")
    assert completed(confinement, "/et") == []
    assert completed(confinement, f"{root}/out/") == []
    assert completed(confinement, f"{root}/../") == []


def test_another_letter_case_is_offered_when_nothing_else_is(confinement: Confinement, root: Path) -> None:
    plant(root, {"README.md": "", "real": ""})
    assert completed(confinement, "rea", str(root)) == ["real"]
    assert completed(confinement, "readme", str(root)) == ["README.md"]


def test_hidden_names_are_offered_once_a_dot_is_typed(confinement: Confinement, root: Path) -> None:
    plant(root, {".github/x": "", "a": "", ".mcp-curated-trash/y": ""})
    assert completed(confinement, "", str(root)) == ["a"]
    assert completed(confinement, ".", str(root)) == [".github/"]


def test_what_the_operator_closed_is_not_offered(root: Path) -> None:
    plant(root, {"secret/x": "", "seen": ""})
    with Confinement([RootSpec(str(root))], deny=["secret"]) as confinement:
        assert completed(confinement, "se", str(root)) == ["seen"]


def test_at_most_a_hundred_are_given_and_the_rest_counted(confinement: Confinement, root: Path) -> None:
    plant(root, {f"f{number:03}": "" for number in range(150)})
    completion = complete_path(confinement, "f", base=str(root), work=Work())
    assert (len(completion.values), completion.total, completion.has_more) == (100, 150, True)


def test_odd_names_are_offered_in_the_form_that_is_read_back(confinement: Confinement, root: Path) -> None:
    plant(root, {"caf\udce9/x": "", "a\nb": ""})
    assert completed(confinement, "", str(root)) == [r"a\x0ab", "caf\\xe9/"]
    assert completed(confinement, r"caf\xe9/", str(root)) == [r"caf\xe9/x"]
