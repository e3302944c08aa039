"""Checks of tools/tidy that read words: sentences of comments, names of files and types, sizes of folders and classes, quoted keys, CHANGELOG.

Each check yields (place, count, message). tools/tidy_debts.json says how many of each a place may still have; a debt only shrinks:
`tools/tidy --shrink` writes smaller counts down, and never larger ones."""
import collections
import json
import os
import re

import tidy_classes
import tidy_sleeps
import tidy_verbs

DEBTS = "tools/tidy_debts.json"
HEADLESS = re.compile(r"^(What|Who|Whoever|Whose|Whatever|Of|Nobody|Nothing|None|Those|Else|Neither|Where|That)\b(?!')")
# Words that say nothing of what a file or type holds, and older inventions that the field has nouns for.
BANNED_NAMES = ("aside past latest enough path_wish other_form converted new_problems small_rules first_objects strangers look said_once remains notice "
                "numbers troubles impossible outside box named scene laws seat").split()
FOLDER_MAX = 40
CHANGELOG_LINE_MAX = 200
KEYS = "tools/known_keys.txt"
QUOTED_KEY = re.compile(r'(?:\[|\b(?:find|get|at|set|erase|contains|member)\()"([A-Za-z][A-Za-z0-9]*)"\s*[\]),]')


def is_product(path):
    return not path.endswith("_test.cc") and "for_tests" not in path


def room_of(path):
    return "/".join(path.split("/")[:2])


def sentences(text):
    """Sentences of three words or more in whole-line comments; consecutive lines are one text."""
    block = []
    for line in text.splitlines() + [""]:
        match = re.match(r"\s*///?<?\s?(.*)", line)
        if match:
            block.append(match.group(1))
            continue
        for sentence in re.split(r"(?<=[.:;!?])\s+", " ".join(block)):
            if len(sentence.split()) >= 3:
                yield sentence.strip()
        block = []


def check_sentences(texts):
    """A sentence has a noun as its subject."""
    for path, text in texts.items():
        for sentence in sentences(text):
            if HEADLESS.match(sentence):
                yield room_of(path), f"{path}: a sentence without a noun at its head: {sentence[:90]}"


def check_negations(texts):
    """"X is not a Y", as messages and comments are read elsewhere; "there is no Y" is fine."""
    negation = re.compile(r"(?<![Tt]here )(?<![Hh]ere )\b(?:is|are|was|were) no (?!longer|more\b|less\b|other|one\b|better|way\b|need|doubt|matter|room\b|place\b|such|time left)[a-z]+")
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            for found in negation.findall(line):
                yield room_of(path), f'{path}:{number}: "{found}": write "is not a ..."'


def check_names(texts):
    for path, text in texts.items():
        stem = os.path.basename(path).rsplit(".", 1)[0].removesuffix("_test")
        if stem in BANNED_NAMES:
            yield path, f"{path}: the name of the file does not say what it holds"
        for name in re.findall(r"^ *(?:struct|class|enum class) ([A-Z]\w*)", text, flags=re.M):
            if re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower() in BANNED_NAMES:
                yield f"{path} {name}", f"{path}: {name} does not say what it is"


def check_folders(texts):
    sizes = collections.Counter(os.path.dirname(path) for path in texts if path.startswith("src/") and is_product(path))
    for folder, size in sizes.items():
        for _ in range(size - FOLDER_MAX):
            yield folder, f"{folder}: {size} files of product, over {FOLDER_MAX}"


def check_keys(texts):
    """Each quoted key of an object is in a field table, or in the list of keys of formats that have none."""
    known = set(re.findall(r"[A-Za-z_$-][A-Za-z0-9_$-]*", open("src/api/core/tables.inc", encoding="utf-8").read()))
    for text in texts.values():
        known |= set(re.findall(r'field<[^("]*>\(\s*"([^"]+)"', text))
    listed = {word for line in open(KEYS, encoding="utf-8") if not line.startswith("#") for word in line.rsplit(": ", 1)[-1].split()}
    used = set()
    for path, text in texts.items():
        if not path.startswith("src/") or not is_product(path):
            continue
        for key in QUOTED_KEY.findall(text):
            used.add(key)
            if key not in known and key not in listed:
                yield path, f'{path}: the key "{key}" is in no field table and not in {KEYS}'
    for key in sorted(listed & known | listed - used):
        yield KEYS, f"{KEYS}: {key} is in a field table, or nobody reads it"


def check_changelog(_):
    with open("CHANGELOG.md", encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if len(line.rstrip("\n")) > CHANGELOG_LINE_MAX:
                yield "CHANGELOG.md", f"CHANGELOG.md:{number}: over {CHANGELOG_LINE_MAX} letters: users read a line, not a paragraph"


CHECKS = {"sentences": check_sentences, "negations": check_negations, "names": check_names, "folder size": check_folders, "keys": check_keys, "changelog": check_changelog,
          "class size": tidy_classes.check_classes, "verbs": tidy_verbs.check_verbs, "sleeps": tidy_sleeps.check_sleeps}


def run(texts, fail, shrink):
    """Runs all checks over {path: text}; fail(check, message) hears of places that have more than their debt."""
    with open(DEBTS, encoding="utf-8") as f:
        debts = json.load(f)
    for name, check in CHECKS.items():
        found = collections.defaultdict(list)
        for place, message in check(texts):
            found[place].append(message)
        allowed = debts.setdefault(name, {})
        for place in list(allowed):
            allowed[place] = min(allowed[place], len(found.get(place, [])))
        for place, messages in found.items():
            if len(messages) > allowed.get(place, 0):
                fail(name, f"{place}: {len(messages)}, {allowed.get(place, 0)} at most; the last: {messages[-1]}")
        debts[name] = {place: count for place, count in sorted(allowed.items()) if count}
    if shrink:
        with open(DEBTS, "w", encoding="utf-8") as f:
            json.dump(debts, f, indent=1)
            f.write("\n")
