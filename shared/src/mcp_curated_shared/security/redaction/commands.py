"""Passwords on command lines, where the option alone does not say what it is: `curl -u`, `mysql -p`, `sshpass -p`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.security.redaction.addresses import is_password
from mcp_curated_shared.security.redaction.spans import Span
from mcp_curated_shared.security.redaction.values import is_reference

_GAP: Final = r"(?:[^\n|;&]|\\\n){0,300}?[ \t]"
_WORD: Final = r"(?:(?P<quote>\\?[\"'])(?P<quoted>[^\"'\n\\]{3,128})(?P=quote)|(?P<bare>[^\s\"'`|;&<>]{3,128}))"
_PAIR: Final = r"(?P<quote>\\?[\"'])?(?P<user>[^\s:\"'`]{0,64}):(?P<pair>[^\s\"'`|<>]{1,128})"


@dataclass(frozen=True, slots=True)
class _Command:
    """How one family of commands takes a password.

    Attributes:
        names: How a command begins, in lower case.
        must: Without one of these in the text no command gives a password.
        rest: What follows the name.
    """

    names: tuple[str, ...]
    must: tuple[str, ...]
    rest: re.Pattern[str]


def _command(names: str, must: str, rest: str) -> _Command:
    return _Command(tuple(names.split(",")), tuple(must.split(",")), re.compile(rest))


_COMMANDS: Final = (
    _command(
        "curl ,wget ,http ,https ,xh ,curlie ",
        "-u,u ,u=,--user,--proxy-user,-a ,--auth",
        rf"(?:{_GAP})?(?:-[a-zA-Z]{{0,5}}[uUa]|--user|--proxy-user|--auth)(?:=|[ \t]{{0,3}}){_PAIR}",
    ),
    _command("mysql,mariadb", "-p", rf"[a-z_-]{{0,12}}{_GAP}-p(?![ \t]){_WORD}"),
    _command("sshpass ", "-p", rf"[ \t]{{0,3}}-p[ \t]{{0,2}}{_WORD}"),
    _command("redis-cli ", "-a,--pass", rf"(?:{_GAP})?(?:-a|--pass)[ \t=]{{1,2}}{_WORD}"),
    _command(
        "docker ,podman ,nerdctl ,helm ,skopeo ,oras ",
        "login",
        rf"[ \t]{{0,3}}(?:registry[ \t]{{1,4}})?login{_GAP}-p[ \t]{{1,2}}{_WORD}",
    ),
    _command("mongo", "-p", rf"[a-z]{{0,8}}{_GAP}-p[ \t]{{0,2}}(?![ \t-]){_WORD}"),
    _command("zip ", "-P", rf"(?:{_GAP})?-P[ \t]{{0,2}}(?![ \t-]){_WORD}"),
    _command("7z ,7za ,7zz ,rar ,unrar ", "-p", rf"(?:{_GAP})?-p(?![ \t]){_WORD}"),
    _command("az login ,twine upload ", "-p", rf"(?:{_GAP})?-p[ \t]{{1,2}}(?![ \t-]){_WORD}"),
    _command("openssl enc ", "-k", rf"(?:{_GAP})?-k[ \t]{{1,2}}(?![ \t-]){_WORD}"),
    _command("gh secret set ", "-b", rf"{_GAP}(?:--body|-b)[ \t=](?![ \t-]){_WORD}"),
    _command("net use ", "ser:", rf"{_GAP}/[Uu][Ss][Ee][Rr]:[^\s]{{1,80}}[ \t]{{1,4}}{_WORD}"),
    _command("wpa_passphrase ", "wpa", rf"[ \t]{{0,3}}[^\s]{{1,64}}[ \t]{{1,4}}{_WORD}"),
    _command("ldap", "-w", rf"[a-z]{{2,8}}{_GAP}-w[ \t]{{0,2}}(?![ \t-]){_WORD}"),
    _command("sqlcmd ,bcp ", "-P", rf"(?:{_GAP})?-P[ \t]{{0,2}}{_WORD}"),
    _command("smbclient ,rpcclient ", "%", rf"(?:{_GAP})?-U[ \t]{{0,2}}[\"']?[^\s%\"']{{1,64}}%{_WORD}"),
    _command(
        "htpasswd ",
        "b",
        rf"[ \t]{{0,3}}-[a-zA-Z]{{0,4}}b[a-zA-Z]{{0,4}}[ \t]{{1,4}}"
        rf"[^\s]{{1,200}}[ \t]{{1,4}}[^\s]{{1,64}}[ \t]{{1,4}}{_WORD}",
    ),
    _command("-passin ,-passout ,-pass ", "pass:", rf"[ \t]{{0,3}}[\"']?pass:{_WORD}"),
    _command(
        "rabbitmqctl ", "add_user,change_password", rf"[a-z_]{{8,16}}[ \t]{{1,4}}[^\s]{{1,64}}[ \t]{{1,4}}{_WORD}"
    ),
    _command("convertto-securestring ", "onvert", rf"[ \t]{{0,3}}(?:-[Ss]tring[ \t]{{1,4}})?{_WORD}"),
    _command(
        "identified by ,identified with ",
        "'",
        r"(?:[\w\"'`]{1,40}[ \t]{1,4}(?:[Bb][Yy]|[Aa][Ss])[ \t]{1,4})?"
        r"(?P<quote>\\?[\"'])(?P<quoted>[^\"'\n\\]{3,128})(?P=quote)",
    ),
    _command(
        "echo ,printf ",
        "chpasswd",
        rf"[ \t]{{0,3}}{_PAIR}(?=[\"']?[ \t]{{0,4}}\|[ \t]{{0,4}}(?:sudo[ \t]{{1,4}})?chpasswd)",
    ),
    _command(
        "echo ,printf ",
        "--password-stdin,sudo -S",
        rf"[ \t]{{0,3}}(?:-n[ \t]{{1,4}})?{_WORD}[ \t]{{0,4}}\|[^\n|]{{0,80}}(?:--password-stdin|sudo[ \t]{{1,4}}-S)",
    ),
)
_IDS: Final = re.compile(r"[0-9]{1,6}")


def find_command_passwords(text: str, small: str) -> list[Span]:
    """Every password that a command line of the text gives by position or by a short option."""
    found: list[Span] = []
    for command in _COMMANDS:
        names = [name for name in command.names if name in small]
        if names and any(part in text for part in command.must):
            for name in names:
                found += _passwords(command.rest, name, text, small)
    return found


def _passwords(rest: re.Pattern[str], name: str, text: str, small: str) -> Iterator[Span]:
    start = small.find(name)
    while start >= 0:
        end = start + len(name)
        match = None if small[start - 1 : start].isalnum() else rest.match(text, end)
        if match and (span := _password(match)):
            yield span
            end = span.end
        start = small.find(name, end)


def _password(match: re.Match[str]) -> Span | None:
    groups = match.groupdict()
    name = next(name for name in ("quoted", "bare", "pair") if groups.get(name) is not None)
    value = groups[name] or ""
    if name == "pair" and _IDS.fullmatch(groups["user"] or "") and _IDS.fullmatch(value):
        return None  # uid:gid
    if not is_password(value) or is_reference(value) or value.startswith(("-", "/")):
        return None
    return Span(*match.span(name), "password")
