"""The check of tools/tidy that reads the verbs in names of functions, types, members and variables.

Programs report, record, notify, receive and request; only people tell, say, hear, note and wish. Strings, comments and names of tests are not read."""
import re

VERBS = set("tell tells told telling hear hears heard hearing say says said saying note notes noted noting wish wishes wished wishing".split())
CODE = re.compile(r'R"([^(\s]*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'|\bTEST(?:_F|_P)?\([^)]*\)|#include[^\n]*|\b[A-Za-z_]\w*\b')
PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def names(text):
    """Each identifier of the code, with its place."""
    for found in CODE.finditer(text):
        name = found.group(0)
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            yield found.start(), name


def check_verbs(texts):
    for path, text in texts.items():
        for place, name in names(text):
            if any(part.lower() in VERBS for part in PART.findall(name)):
                yield "/".join(path.split("/")[:2]), f"{path}:{text.count(chr(10), 0, place) + 1}: {name}: report, record, notify, receive or request"
