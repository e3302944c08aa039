"""The check of tools/tidy that reads sleeps in the scripts of tests.

A test waits for a condition (wait_for). A sleep is the step of a loop, or part of the command of a job, which stands in quotes or in a document;
`elapse SECONDS REASON` of lib.sh is for spans that a test is about, such as the length of a fault."""
import re
import subprocess

QUOTED = re.compile(r"\\.|\$'(?:\\.|[^'\\])*'|'[^']*'|\"(?:\\.|[^\"\\])*\"|(?:(?<=\s)|^)#[^\n]*", re.S | re.M)
DOCUMENT = re.compile(r"<<-?\s*(['\"]?)(\w+)\1([^\n]*\n)(.*?)^\s*\2$", re.S | re.M)
WORD = re.compile(r"(?<![\w./=-])(do|done|sleep)(?![\w./=-])(?: *(\S*))?")


def blank(found):
    """The lines of a text, without its words."""
    return "\n" * found.group(0).count("\n")


def sleeps(text):
    """The numbers of the lines that sleep outside a loop, quotes and documents."""
    text = DOCUMENT.sub(lambda found: found.group(3) + "\n" * (found.group(0).count("\n") - 1), text)
    text = QUOTED.sub(blank, text)
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        for word, argument in re.findall(r"(?:^|[;&|({!]\s*|\b(?:do|then|else|while|until|if)\s+)\s*(do|done|sleep)(?![\w./=-])[ ]*([^\s;)]*)", line):
            if word == "do":
                depth += 1
            elif word == "done":
                depth -= 1
            elif depth == 0 and not re.search(r"\b(while|until)\s+sleep", line):
                yield number


def check_sleeps(_):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "tests"], capture_output=True, text=True, check=True)
    for path in listed.stdout.split():
        if not path.endswith(".sh") or path.endswith("/lib.sh"):
            continue
        with open(path, encoding="utf-8") as f:
            for number in sleeps(f.read()):
                yield path, f"{path}:{number}: a sleep outside a loop: wait_for a condition, or elapse SECONDS REASON"
