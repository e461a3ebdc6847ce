"""Settings: declared once, read from flags and environment, and described from the same declaration.

A settings error is one line that names the flag or variable and says the fix; nothing is guessed.
"""

from mcp_curated_shared.settings.auditing import AuditChoice, AuditSettings
from mcp_curated_shared.settings.common import (
    LogFormat,
    LogLevel,
    LogSettings,
    StateSettings,
    Transport,
    TransportSettings,
)
from mcp_curated_shared.settings.consent import ConfirmPolicy, ConsentSettings, LedgerSettings
from mcp_curated_shared.settings.declaration import SettingInfo, Settings, describe, many, optional, setting
from mcp_curated_shared.settings.kinds import (
    Boolean,
    Choice,
    Duration,
    FilePath,
    FolderPath,
    HoldsSecrets,
    Integer,
    Kind,
    Parsed,
    Secret,
    SecretText,
    Size,
    Text,
    absolute_path,
)
from mcp_curated_shared.settings.loading import Effective, Loaded, defaults, load, render
from mcp_curated_shared.settings.sources import Source

__all__ = [
    "AuditChoice",
    "AuditSettings",
    "Boolean",
    "Choice",
    "ConfirmPolicy",
    "ConsentSettings",
    "Duration",
    "Effective",
    "FilePath",
    "FolderPath",
    "HoldsSecrets",
    "Integer",
    "Kind",
    "LedgerSettings",
    "Loaded",
    "LogFormat",
    "LogLevel",
    "LogSettings",
    "Parsed",
    "Secret",
    "SecretText",
    "SettingInfo",
    "Settings",
    "Size",
    "Source",
    "StateSettings",
    "Text",
    "Transport",
    "TransportSettings",
    "absolute_path",
    "defaults",
    "describe",
    "load",
    "many",
    "optional",
    "render",
    "setting",
]
