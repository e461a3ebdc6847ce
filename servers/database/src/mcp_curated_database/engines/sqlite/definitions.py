"""What only the text of a CREATE TABLE tells: its checks, and what its generated columns are made from."""

from collections.abc import Sequence

from mcp_curated_database.engines.sqlite.tokens import Token, tokens


def checks(sql: str) -> tuple[str, ...]:
    """The expression of every CHECK, in order."""
    words = list(tokens(sql))
    found: list[str] = []
    for index, token in enumerate(words[:-1]):
        if _is_word(token, sql, "check") and words[index + 1].text == "(":
            found.append(_inside(words, index + 1, sql))
    return tuple(found)


def generated(sql: str, column: str) -> str:
    """The expression behind AS of a column; empty if it is none."""
    words = list(tokens(sql))
    depth = 0
    starts = False
    inside_column = False
    for index, token in enumerate(words[:-1]):
        if token.kind == "other" and token.text in "()":
            depth += 1 if token.text == "(" else -1
            starts = token.text == "(" and depth == 1
            continue
        if depth == 1 and token.text == "," and token.kind == "other":
            starts, inside_column = True, False
            continue
        if starts:
            inside_column = token.kind == "name" and token.text.casefold() == column.casefold()
            starts = False
        elif inside_column and depth == 1 and _is_word(token, sql, "as") and words[index + 1].text == "(":
            return _inside(words, index + 1, sql)
    return ""


def after_on(sql: str) -> str:
    """What follows `ON table` in a CREATE INDEX: its columns or expressions, and its WHERE."""
    words = list(tokens(sql))
    for index, token in enumerate(words[:-2]):
        if _is_word(token, sql, "on"):
            return " ".join(sql[words[index + 2].position :].split())
    return ""


def _is_word(token: Token, sql: str, word: str) -> bool:
    """Whether a token is this bare word, not a name in quotes."""
    return (
        token.kind == "name"
        and sql[token.position : token.position + len(word)].casefold() == word == token.text.casefold()
    )


def _inside(words: Sequence[Token], opening: int, sql: str) -> str:
    depth = 0
    for token in words[opening:]:
        if token.kind == "other" and token.text in "()":
            depth += 1 if token.text == "(" else -1
            if depth == 0:
                return sql[words[opening].position + 1 : token.position].strip()
    return sql[words[opening].position + 1 :].strip()
