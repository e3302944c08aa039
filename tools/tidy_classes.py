"""The check of tools/tidy that counts the methods of classes.

A class over METHODS_MAX methods holds several things. Constructors, operators, `= default`, `= delete` and overrides of an interface are
not counted; tables of columns and values of a language are read through many small accessors, and TABLES names them with that reason."""
import re

METHODS_MAX = 25
# Values and columns: each method reads or writes one member.
TABLES = {
    "src/api/json/json.h Json": "a value of JSON",
    "src/scheduler/model/model.h Model": "the tables of the scheduler",
    "src/scheduler/model/nodes/node_table.h NodeTable": "columns of nodes",
}
CLASS = re.compile(r"\b(?:class|struct)\s+([A-Za-z_][\w:]*)(?:\s+final)?(?:\s*:(?!:)[^;{()]*)?\s*\{")
NOT_METHOD = re.compile(r"^(?:using|friend|typedef|static_assert|enum|class|struct|union|template\s*$)\b")


def code_of(text):
    """The text without comments, and with empty strings and letters, at the same length in lines."""
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"(?<![0-9A-Fa-f])'(\\.|[^'\\\n])'", "' '", text)
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def end_of(text, start):
    """The place after the brace that closes the one before `start`."""
    depth = 1
    while start < len(text) and depth:
        depth += (text[start] == "{") - (text[start] == "}")
        start += 1
    return start


def declarations(body):
    """What a class declares, each without the blocks inside it."""
    part, depth, round_depth = "", 0, 0
    for index, char in enumerate(body):
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0 and round_depth == 0 and "(" in part and "=" not in part.split("(")[0]:
                yield part
                part = ""
        elif depth == 0:
            round_depth += (char == "(") - (char == ")")
            if char == ";" and round_depth == 0:
                yield part
                part = ""
            else:
                part += char


def is_method(declaration):
    text = re.sub(r"\b(public|private|protected)\s*:(?!:)", "", declaration).strip()
    text = re.sub(r"\[\[\w+\]\]\s*", "", text)
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    text = re.sub(r"^template\s*", "", text)
    if NOT_METHOD.match(text) or re.search(r"\boverride\b|=\s*(default|delete)\s*$|\boperator\b", text):
        return False
    head, parenthesis, _ = text.partition("(")
    return bool(parenthesis) and "=" not in head and re.search(r"[\w>&*\]]\s+[&*]*\w+\s*$", head) is not None


def classes(text):
    """Each class with how many methods it declares."""
    code = code_of(text)
    for found in CLASS.finditer(code):
        yield found.group(1), sum(map(is_method, declarations(code[found.end():end_of(code, found.end()) - 1])))


def check_classes(texts):
    for path, text in texts.items():
        if not path.startswith("src/") or path.endswith("_test.cc") or "for_tests" in path:
            continue
        for name, methods in classes(text):
            place = f"{path} {name}"
            for _ in range(0 if place in TABLES else methods - METHODS_MAX):
                yield place, f"{path}: {name} has {methods} methods, over {METHODS_MAX}"
