"""When an environment variable is so near to one of ours that it can only be a slip."""


def distance(left: str, right: str) -> int:
    """How many single-character insertions, deletions, replacements or swaps of neighbours lie between two words.

    The optimal string alignment distance.
    """
    rows = [list(range(len(right) + 1))]
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def misspelt(name: str, right: str) -> bool:
    """Whether an environment variable is so near to one of ours that it can only be a slip.

    The environment is shared with every other program, so this is stricter than `mcp_curated_shared.nearest`:
    the same letters spelt otherwise (case, underscores), or one slip in all (two from twelve letters on) where the
    first word is the same or one slip off. `GITLAB_TOKEN` is not `GITHUB_TOKEN`.
    """
    a, b = _letters(name), _letters(right)
    if a == b:
        return True
    if abs(len(a) - len(b)) > 2 or len(a) < 8:
        return False
    first, own = name.lower().split("_", 1)[0], right.lower().split("_", 1)[0]
    if first != own and (len(own) < 5 or distance(first, own) > 1):
        return False
    return distance(a, b) <= (2 if len(b) >= 12 else 1)


def _letters(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
