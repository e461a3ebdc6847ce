"""What the server is asked while a directory of the path is swapped: a request for each try, and when it worked."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.security.race_ground import INSIDE_PICTURE, Field
from tests.security.race_swapper import PUBLIC

Request = tuple[str, Mapping[str, Any]]


def _tool(name: str, **arguments: Any) -> Request:
    return "tools/call", {"name": name, "arguments": arguments}


class Operation:
    """One operation. An instance lives for one race and may remember what a slot did last."""

    proof = PUBLIC
    """What a reply holds that came from inside; empty when any reply that is no refusal will do."""

    def request(self, field: Field, slot: int, number: int) -> Request:
        """The request of try `number`, in this slot."""
        raise NotImplementedError

    def worked(self, slot: int, reply: str) -> bool:
        """Whether a reply that is no refusal shows that the inside was reached."""
        return self.proof in reply

    def did(self, slot: int, reply: str) -> None:
        """The call of this slot worked."""

    def settled(self, slot: int) -> bool:
        """Whether the ball of this slot must be there by now."""
        return True

    def makes(self, field: Field, number: int) -> str | None:
        """What try `number` makes; it must not be there if that try was refused."""
        return None


class Read(Operation):
    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("read_file", path=f"{field.swapped}/{('file.txt', 'sub/../file.txt', 'sub/file.txt')[number % 3]}")


class ReadSeveral(Operation):
    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("read_multiple_files", paths=[f"{field.swapped}/{name}" for name in ("file.txt", "sub/file.txt")])

    def worked(self, slot: int, reply: str) -> bool:
        return reply.count(PUBLIC) == 2


class ReadMedia(Operation):
    proof = base64.b64encode(INSIDE_PICTURE).decode()

    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("read_media_file", path=f"{field.swapped}/picture.png")


class ReadResource(Operation):
    def request(self, field: Field, slot: int, number: int) -> Request:
        return "resources/read", {"uri": Path(field.swapped, "file.txt").as_uri()}


class ReadFolderResource(Operation):
    proof = "picture.png"

    def request(self, field: Field, slot: int, number: int) -> Request:
        return "resources/read", {"uri": Path(field.swapped).as_uri()}


class Complete(Operation):
    proof = "picture.png"

    def request(self, field: Field, slot: int, number: int) -> Request:
        reference = {"type": "ref/resource", "uri": "file:///{+path}"}
        typed = f"{field.swapped}/"[1:]
        return "completion/complete", {"ref": reference, "argument": {"name": "path", "value": typed}}


class Inform(Operation):
    proof = '"type": "file"'

    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("get_file_info", path=f"{field.swapped}/{('file.txt', 'sub/file.txt')[number % 2]}")


class List(Operation):
    proof = "file.txt"

    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("list_directory", path=f"{field.swapped}/{('', 'sub')[number % 2]}")


class Tree(Operation):
    proof = "deeper"

    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("directory_tree", path=(field.swapped, field.still)[number % 2], depth=4)


class SearchNames(Operation):
    proof = "sub/deeper/file.txt"

    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("search_files", path=(field.swapped, field.still)[number % 2], pattern="*.txt")


class SearchContent(Operation):
    proof = "sub/deeper/file.txt"

    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("search_content", path=(field.swapped, field.still)[number % 2], pattern="from")


class WriteNew(Operation):
    proof = ""

    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("write_file", path=self.makes(field, number), content=PUBLIC, mode="create")

    def makes(self, field: Field, number: int) -> str:
        deep = f"made-{number % 40}/deep/" if number % 2 else ""
        return f"{field.swapped}/{deep}new-{number}.txt"


class Overwrite(Operation):
    proof = ""

    def request(self, field: Field, slot: int, number: int) -> Request:
        mode = ("overwrite", "append")[number % 2]
        return _tool("write_file", path=f"{field.swapped}/slot-{slot}.txt", content=f"{PUBLIC}\n", mode=mode)


class Edit(Operation):
    proof = ""

    def __init__(self) -> None:
        self._heads: dict[int, bool] = {}

    def request(self, field: Field, slot: int, number: int) -> Request:
        sides = ("heads", "tails") if self._heads.get(slot, True) else ("tails", "heads")
        edit = {"oldText": sides[0], "newText": sides[1]}
        return _tool("edit_file", path=f"{field.swapped}/slot-{slot}.txt", edits=[edit])

    def did(self, slot: int, reply: str) -> None:
        self._heads[slot] = not self._heads.get(slot, True)


class MakeDirectory(Operation):
    proof = ""

    def request(self, field: Field, slot: int, number: int) -> Request:
        return _tool("create_directory", path=self.makes(field, number))

    def makes(self, field: Field, number: int) -> str:
        return f"{field.swapped}/made-{number}" + ("/deep" if number % 2 else "")


class Move(Operation):
    """A ball that is thrown out of the swapped directory and back into it."""

    proof = ""

    def __init__(self) -> None:
        self._in: dict[int, bool] = {}

    def request(self, field: Field, slot: int, number: int) -> Request:
        ends = [f"{field.swapped}/ball-{slot}.txt", f"{field.still}/ball-{slot}.txt"]
        if not self._in.get(slot, True):
            ends.reverse()
        return _tool("move_file", source=ends[0], destination=ends[1])

    def did(self, slot: int, reply: str) -> None:
        self._in[slot] = not self._in.get(slot, True)


class Delete(Operation):
    """A file that is asked about, moved to the trash, and made anew."""

    proof = ""

    def __init__(self) -> None:
        self._approved: dict[int, str] = {}
        self._gone: dict[int, bool] = {}

    def request(self, field: Field, slot: int, number: int) -> Request:
        path = f"{field.swapped}/ball-{slot}.txt"
        if self._gone.get(slot):
            return _tool("write_file", path=path, content=f"{PUBLIC}\n", mode="create")
        approved = self._approved.pop(slot, None)
        return _tool("delete_file", path=path, **({"confirmed_operation_id": approved} if approved else {}))

    def did(self, slot: int, reply: str) -> None:
        if asked := re.search(r"op_\w+", reply):
            self._approved[slot] = asked[0]
        else:
            self._gone[slot] = not self._gone.get(slot)

    def settled(self, slot: int) -> bool:
        return not self._gone.get(slot)


class Copy(Operation):
    """A file out of the swapped directory, a file into it, a folder out of it."""

    proof = ""

    def request(self, field: Field, slot: int, number: int) -> Request:
        source = (f"{field.swapped}/file.txt", f"{field.still}/file.txt", f"{field.swapped}/sub")[number % 3]
        return _tool("copy_file", source=source, destination=self.makes(field, number))

    def makes(self, field: Field, number: int) -> str:
        return f"{field.swapped if number % 3 == 1 else field.still}/copy-{number}"


class Watch(Operation):
    """Subscribe on even tries, let go on odd ones; what is watched is looked at from outside (see `race_server`)."""

    proof = ""

    def request(self, field: Field, slot: int, number: int) -> Request:
        turn = number // (2 * 8)
        name = (f"slot-{slot}.txt", "", "sub")[turn % 3]
        uri = Path(field.swapped, name).as_uri()
        return ("resources/subscribe", "resources/unsubscribe")[number // 8 % 2], {"uri": uri}


OPERATIONS: Mapping[str, type[Operation]] = {
    "read": Read,
    "read_multiple": ReadSeveral,
    "media": ReadMedia,
    "info": Inform,
    "list": List,
    "tree": Tree,
    "search_names": SearchNames,
    "search_content": SearchContent,
    "write_new": WriteNew,
    "overwrite": Overwrite,
    "edit": Edit,
    "mkdir": MakeDirectory,
    "move": Move,
    "copy": Copy,
    "delete": Delete,
    "resource": ReadResource,
    "resource_folder": ReadFolderResource,
    "completion": Complete,
    "watch": Watch,
}
