"""The audit: what was asked of a server and what became of it, in a log that shows when it was tampered with.

Arguments appear as keyed digests only. A key beside the log finds accidents and other users, not this user: whoever can
read it can write a new chain. An operator who wants more gives the key from elsewhere and keeps the heads.
"""

from mcp_curated_shared.security.audit.chain import Head, Record
from mcp_curated_shared.security.audit.keys import AuditKey, given_key, kept_key
from mcp_curated_shared.security.audit.log import AuditError, AuditLog
from mcp_curated_shared.security.audit.trail import AuditLevel, Trail, WriteWitness
from mcp_curated_shared.security.audit.verifying import Fault, Verdict, verify

__all__ = [
    "AuditError",
    "AuditKey",
    "AuditLevel",
    "AuditLog",
    "Fault",
    "Head",
    "Record",
    "Trail",
    "Verdict",
    "WriteWitness",
    "given_key",
    "kept_key",
    "verify",
]
