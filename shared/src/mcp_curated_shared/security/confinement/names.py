r"""File names as text: shown to a reader, read back, and compared.

A name is any bytes without "/" and NUL. Inside the program it is the `surrogateescape` form that the `os`
functions use. What leaves is the *shown* form: control characters, bidirectional and invisible characters and
bytes that are not UTF-8 become `\x0a`, `\u202e`, `\xe9`, so that a name cannot forge a line, hide a part of
itself, or carry a lone surrogate (which ends a JSON encoder). The shown form reads back to the same name.
"""

import os
import re
import unicodedata

# Default-ignorable and other blank code points (Unicode DerivedCoreProperties, Default_Ignorable_Code_Point), the
# bidirectional controls, line separators, the Braille blank, controls and lone surrogates. The variation selectors
# FE00-FE0F are left alone: emoji names hold them, and after a visible character they hide nothing.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\u2800\ud800-\udfff{_IGNORABLE}]")
_IGNORED_WHEN_COMPARED = re.compile(f"[{_IGNORABLE}\ufe00-\ufe0f]")

_ESCAPE_BODY = r"x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}"
_BACKSLASHES = r"(?<!\\)(\\++)"  # a whole run or nothing, so that a long run costs linear time
_ESCAPED = re.compile(rf"{_BACKSLASHES}({_ESCAPE_BODY})")
_TO_ESCAPE = re.compile(rf"{_BACKSLASHES}(?=({_ESCAPE_BODY})|{_HIDDEN.pattern})|{_HIDDEN.pattern}")


def _escape_of(character: str) -> str:
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8 (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _character_of(body: str) -> str | None:
    """The character that an escape stands for; None when `escape_name` never writes that escape."""
    code = int(body[1:], 16)
    if body[0] == "x" and code >= 0x80:
        code += 0xDC00
    elif (body[0] == "x") != (code < 0x80) or (body[0] == "U") != (code >= 0x10000) or 0xDC80 <= code <= 0xDCFF:
        return None
    if not 0 < code <= 0x10FFFF:
        return None
    character = chr(code)
    return character if _HIDDEN.match(character) else None


def escape_name(name: str) -> str:
    r"""The shown form of one name, or of a path, since "/" is never part of an escape.

    Args:
        name: In `surrogateescape` form.

    Returns:
        Printable text. Backslashes are doubled only in front of an escape, or of text that would read as one.
    """
    if name.isascii() and name.isprintable() and "\\" not in name:
        return name

    def replaced(found: "re.Match[str]") -> str:
        slashes, body = found.group(1), found.group(2)
        if slashes is None:
            return _escape_of(found.group())
        reads_as_escape = body is None or _character_of(body) is not None
        return slashes * 2 if reads_as_escape else slashes

    return _TO_ESCAPE.sub(replaced, name)


def unescape_name(shown: str) -> str:
    r"""The name that `escape_name` showed; text without an escape comes back as it is.

    Only what `escape_name` writes is an escape: `\x2e` and `\u0041` stay text, so that no escape can stand for a
    dot, a slash or NUL.
    """
    if "\\" not in shown:
        return shown

    def replaced(found: "re.Match[str]") -> str:
        slashes, body = found.groups()
        character = _character_of(body)
        if character is None:
            return found.group()
        kept = "\\" * (len(slashes) // 2)
        return kept + (character if len(slashes) % 2 else body)

    return canonical(_ESCAPED.sub(replaced, shown))


def canonical(text: str) -> str:
    """The one `surrogateescape` spelling of these bytes; text that is no file name comes back as it is.

    Two surrogates that together are the UTF-8 of "é" name the same file as "é"; a rule that compares text must
    see only one of the two spellings.
    """
    if text.isascii():
        return text
    try:
        return os.fsdecode(os.fsencode(text))
    except UnicodeEncodeError:
        return text


def quoted(text: str) -> str:
    """`text` for a message: shown form, in double quotes, shortened in the middle beyond 300 characters."""
    shown = escape_name(text)
    if len(shown) > 300:
        shown = f"{shown[:200]}...{shown[-80:]}"
    return f'"{shown}"'


_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " "})
_TRAILING = re.compile(r"(?<![. ])[. ]++(?=/|$)")


def unicode_key(name: str) -> str:
    """Equal for names that a reader cannot tell apart: NFC and NFD, no-break and plain spaces."""
    if name.isascii():
        return name
    return unicodedata.normalize("NFC", name).translate(_SPACES)


def case_key(name: str) -> str:
    """`unicode_key` without regard to letter case."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicode_key(name).casefold())


def rule_key(path: str) -> str:
    """Equal for every spelling that some filesystem takes for the same path, so that a rule cannot be dodged.

    Letter case, composed forms, ignorable code points (HFS+ and ext4 with casefold drop them), and the dots and
    spaces that Windows servers cut from the end of a name.
    """
    if not path.isascii():
        path = _IGNORED_WHEN_COMPARED.sub("", unicodedata.normalize("NFC", path))
        path = unicodedata.normalize("NFC", path.translate(_SPACES).casefold())
    lowered = path.lower()
    if "." in lowered or " " in lowered:
        lowered = _TRAILING.sub(_keep_dots, lowered)
    return lowered


def _keep_dots(found: "re.Match[str]") -> str:
    start = found.start()
    return found.group() if start == 0 or found.string[start - 1] == "/" else ""


_DOT_GIT = re.compile(r"(?:\.git|git~[0-9]+)(?::.*)?\Z")


def is_git_name(name: str) -> bool:
    """Whether a filesystem could take this one component for `.git`.

    Letter case, ignorable code points, trailing dots and spaces, `git~1` (the 8.3 name) and `.git:stream`
    (CVE-2014-9390, CVE-2019-1352).
    """
    if "git" not in name.lower() and name.isascii():
        return False
    return _DOT_GIT.match(rule_key(name)) is not None
