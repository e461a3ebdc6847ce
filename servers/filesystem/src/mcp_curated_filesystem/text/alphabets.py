"""Which encoding of the time before Unicode a text is in, judged by the letters that it would consist of.

A general detector needs hundreds of letters before it is right; configuration files and comments have five. These
rules need few, because they ask only for the encodings that are in use, and whether what they give is what people
write in them.
"""

# ruff: noqa: RUF001 - these letters are the subject, however much they look like others

import re
from dataclasses import dataclass

_ANYWHERE = "’°\u00a0"
_OPENING = "“‘„‚¡¿€£"
_QUOTES = "«»"
_OTHER_SIGNS = "…†‡‰‹›”•–—™§©®±·№¥¢¤×÷¬´µ¶¹²³¼½¾"
_SIGNS = frozenset(_ANYWHERE + _OPENING + _QUOTES + _OTHER_SIGNS)
_WESTERN = "àáâãäåæçèéêëìíîïñòóôõöøùúûüÿßœªº"
_CENTRAL = "áäâčćçďđéęëěíîĺľłńňóôőöŕřśšşťţúůűüýźžżąăß"
_TURKISH = "çğıİöşüâîû"
_BALTIC = "āčēģīķļņšūžąęėįųōõäöüß"
_RUSSIAN = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўђјљњћџ"
_RARE_RUSSIAN = "бгжзйфхцчшщъ"
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ"
_HEBREW = "אבגדהוזחטיךכלםמןנסעףפץצקרשת"
_ARABIC = "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگ"
_THAI = "".join(map(chr, [*range(0x0E01, 0x0E3B), *range(0x0E40, 0x0E5A)]))

ENOUGH = 0.75
"""The share of typical letters from which on an encoding is believed."""

_RUN = re.compile(r"[^\x00-\x7f]+")
_PAIR = re.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]|[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class _Alphabet:
    """Letters that are typical of an encoding.

    Attributes:
        encoding: The codec's name.
        letters: The small letters beyond ASCII that its languages use.
        latin: Whether they stand single among ASCII letters; others make up whole words.
        rare: Those of them that are seldom seen.
        weight: Less than 1 for what is hardly in use any more, or covers nearly every byte.
    """

    encoding: str
    letters: str
    latin: bool = False
    rare: str = ""
    weight: float = 1.0


_ALPHABETS = (
    _Alphabet("cp1252", _WESTERN, latin=True),
    _Alphabet("cp1254", _TURKISH, latin=True),
    _Alphabet("cp1250", _CENTRAL, latin=True),
    _Alphabet("cp1257", _BALTIC, latin=True),
    _Alphabet("iso8859-2", _CENTRAL, latin=True, weight=0.97),
    _Alphabet("mac-roman", _WESTERN, latin=True, weight=0.9),
    _Alphabet("cp850", _WESTERN, latin=True, weight=0.9),
    _Alphabet("cp1251", _RUSSIAN, rare=_RARE_RUSSIAN),
    _Alphabet("koi8-r", _RUSSIAN, rare=_RARE_RUSSIAN),
    _Alphabet("cp866", _RUSSIAN, rare=_RARE_RUSSIAN, weight=0.95),
    _Alphabet("cp1253", _GREEK, weight=0.94),
    _Alphabet("cp1255", _HEBREW, weight=0.955),
    _Alphabet("cp1256", _ARABIC, weight=0.97),
    _Alphabet("cp874", _THAI, weight=0.9),
)
"""In the order of how common they are: the first of equals wins."""


def east_asian(sample: bytes) -> str | None:
    """Name the multi-byte encoding in which a sample reads like Japanese, Korean or Chinese.

    Args:
        sample: Text that does not end inside a character.
    """
    for japanese in ("cp932", "euc_jp"):
        if _kana_share(sample, japanese) >= 0.2:
            return japanese
    pairs = [code for code in _PAIR.findall(sample) if not 0xA1 <= code[0] <= 0xA3]
    if not pairs or any(len(code) == 1 for code in pairs):
        return None
    leads = [code[0] for code in pairs]
    high = sum(code[1] >= 0xA1 for code in pairs) / len(pairs)  # all in GB 2312 and KS X 1001, six of ten in Big5
    believed = {
        "cp949": len(pairs) >= 4 and min(_share(leads, 0xB0, 0xC8), high) >= 0.95,
        "gb18030": _share(leads, 0xB0, 0xD7) * high >= 0.7,
        "cp950": _share(leads, 0xA4, 0xC6) >= 0.7 and high <= 0.9,
    }
    found = next((name for name, yes in believed.items() if yes and _reads(sample, name)), None)
    return None if found in ("gb18030", "cp950") and _is_thai(sample) else found


def single_byte(sample: bytes) -> tuple[str, float]:
    """Name the single-byte encoding in which the characters beyond ASCII are most typical, and their share, 0 to 1."""
    best, share = "cp1252", 0.0
    for alphabet in _ALPHABETS:
        found = _typical_share(sample, alphabet)
        if found > share + 0.001:
            best, share = alphabet.encoding, found
    return best, share


def _typical_share(sample: bytes, alphabet: _Alphabet) -> float:
    try:
        text = sample.decode(alphabet.encoding)
    except UnicodeDecodeError:
        return 0.0
    weights = [_weight(text, run, at, alphabet) for run in _RUN.finditer(text) for at in range(*run.span())]
    return alphabet.weight * sum(weights) / max(1, len(weights))


def _weight(text: str, run: re.Match[str], at: int, alphabet: _Alphabet) -> float:
    """How well one character stands where it does, 0 to 1."""
    character, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if character in _SIGNS:
        return _sign_weight(character, before, after)
    small = character if character in alphabet.letters else character.lower()
    if small not in alphabet.letters:
        return 0.0
    case = 1.0 if small == character else 0.3 if before.islower() else 0.95
    return case * (0.85 if small in alphabet.rare else 1.0) * _run_weight(text, run, alphabet)


def _sign_weight(character: str, before: str, after: str) -> float:
    """Signs stand at the edges of words: `mia³em` is Polish in the wrong encoding."""
    if character in _ANYWHERE:
        return 1.0
    if character in _QUOTES:
        return 0.1 if before.isalpha() and after.isalpha() else 1.0
    return 0.1 if (before if character in _OPENING else after).isalpha() else 1.0


def _run_weight(text: str, run: re.Match[str], alphabet: _Alphabet) -> float:
    """How well the letters beyond ASCII around one suit the script: in Latin ones few, in others the whole word."""
    if alphabet.latin:
        return (1.0, 0.9, 0.7)[min(run.end() - run.start(), 3) - 1]
    beside = text[run.start() - 1 : run.start()] + text[run.end() : run.end() + 1]
    return 0.2 if any(_is_ascii_letter(character) for character in beside) else 1.0


def _is_ascii_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _kana_share(sample: bytes, encoding: str) -> float:
    """The share of full-width kana: no text in Japanese goes without, none in another language has them."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    beyond = [character for character in text if character > "\x7f"]
    if any(0x80 <= ord(character) <= 0x9F for character in beyond):
        return 0.0
    return sum("\u3041" <= character <= "\u30fe" for character in beyond) / max(1, len(beyond))


def _reads(sample: bytes, encoding: str) -> bool:
    try:
        sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _share(leads: list[int], low: int, high: int) -> float:
    return sum(low <= lead <= high for lead in leads) / len(leads)


def _is_thai(sample: bytes) -> bool:
    """A long stretch in which each byte is a Thai letter: every twelfth byte of Chinese is none."""
    beyond = sum(byte > 0x7F for byte in sample)
    thai = next(alphabet for alphabet in _ALPHABETS if alphabet.encoding == "cp874")
    return beyond >= 40 and _typical_share(sample, thai) >= 0.98 * thai.weight
