"""Every setting of the filesystem server, declared once."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.confinement import RootSpec
from mcp_curated_shared.settings import (
    AuditSettings,
    Boolean,
    Choice,
    ConsentSettings,
    Duration,
    Integer,
    LedgerSettings,
    LogSettings,
    Parsed,
    Settings,
    Size,
    StateSettings,
    Text,
    TransportSettings,
    absolute_path,
    many,
    setting,
)

RootsPolicy = Literal["base", "narrow", "ignore"]


def read_root(text: str) -> RootSpec:
    """One allowed directory: `DIR`, `DIR:ro` or `DIR:rw`.

    Raises:
        SettingsError: It is relative, empty or no path.
    """
    path, rights = (text[:-3], text[-3:]) if text.endswith((":ro", ":rw")) else (text, "")
    return RootSpec.parse(absolute_path(path) + rights)


def show_root(root: RootSpec) -> str:
    """The directory as `read_root` takes it."""
    return root.path if root.writable else f"{root.path}:ro"


@dataclass(frozen=True, slots=True)
class FilesystemLimits(Settings):
    """What one call may take."""

    prompted: ClassVar[bool] = False

    reply_characters: int = setting(
        Integer(4_000, 200_000, "characters"),
        default=48_000,
        help="Longest reply; what is cut says how to go on. Some hosts refuse or hide longer ones than the default.",
        flag="--max-reply-characters",
    )
    media_bytes: int = setting(
        Size(10_000, 20_000_000),
        default=900_000,
        help="Largest image or other media in a reply, counted in base64 as it is sent.",
        flag="--max-media",
    )
    write_bytes: int = setting(
        Size(1_000, 1 << 30),
        default=32 * (1 << 20),
        help="Largest content that one call may write.",
        flag="--max-write",
    )
    call_seconds: float = setting(
        Duration(1, 3600),
        default=30.0,
        help="How long a call may work on one root; a hanging network drive is given up after it.",
        flag="--call-timeout",
    )
    search_seconds: float = setting(
        Duration(0.1, 600),
        default=20.0,
        help="How long a search, listing or tree may walk; then it answers with what it found, marked partial.",
        flag="--search-timeout",
    )
    pattern_seconds: float = setting(
        Duration(0.1, 60),
        default=2.0,
        help="How long one regular expression may work before the search is cut short.",
        flag="--pattern-timeout",
    )


@dataclass(frozen=True, slots=True)
class FilesystemSettings(Settings):
    """What the operator of a filesystem server decides."""

    environment_prefix: ClassVar[str] = "MCP_FILESYSTEM_"

    directories: tuple[RootSpec, ...] = many(
        Parsed(
            read_root, "the absolute path of a folder, with :ro behind it for read-only", show_root, "directory", "DIR"
        ),
        help="Folders that clients may use, DIR:ro for reading only. None: the folders that the client names as its "
        "roots. One that is missing is kept as unavailable and looked for again on use.",
        separator="path",
        positional=True,
        example="/home/me/notes",
    )
    read_only: bool = setting(
        Boolean(),
        default=False,
        help="Offer no tool that changes anything.",
    )
    deny: tuple[str, ...] = many(
        Text("a glob, such as .env or secrets/**", metavar="GLOB"),
        help="Paths in the folders that nothing may touch; as in .gitignore: a bare name counts at every depth.",
        separator="path",
        example=".env",
    )
    roots: RootsPolicy = setting(
        Choice[RootsPolicy](("base", "narrow", "ignore")),
        default="base",
        help="What a client's own roots do to the folders given here: base, they only say where relative paths start; "
        "narrow, they also limit the folders; ignore, nothing. They never widen them.",
    )
    allow_delete: bool = setting(
        Boolean(),
        default=False,
        help="Offer delete_file, which asks first and moves to a trash folder inside the root.",
    )
    landlock: bool = setting(
        Boolean(),
        default=True,
        help="On Linux also let the kernel confine the whole process (Landlock), where it can.",
    )
    limits: FilesystemLimits = field(default_factory=FilesystemLimits)
    consent: ConsentSettings = field(default_factory=ConsentSettings)
    ledger: LedgerSettings = field(default_factory=LedgerSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)

    def check(self) -> None:
        """Refuse what would open more than was meant.

        Raises:
            SettingsError: HTTP without a folder, since a remote client could name `/` as its root; or two settings
                that contradict each other.
        """
        if self.transport.transport == "http" and not self.directories:
            raise SettingsError(
                "Over HTTP the folders must be given: without any, a client could claim the whole disk as its root.",
                "Add them to the command: mcp-curated-filesystem --transport http DIR.",
            )
        if self.read_only and self.allow_delete:
            raise SettingsError("--read-only and --allow-delete contradict each other.", "Leave one of them out.")
