#!/usr/bin/env python3
"""Breaks valid objects at random, asks our API server and a stock one what they think of them, and sorts where they do not agree.

usage: random_compare.py OURS.kubeconfig STOCK.kubeconfig [--seed N] [--count N] [--words WORDS] [--updates] [--values] [--show N]
  --seed N     the same number breaks the same objects in the same way (default 1)
  --count N    how many broken objects (default 5,000)
  --words W    only rows of random_bases.py whose name contains W
  --updates    changes stored objects instead of making new ones (all of it dry runs)
  --values     also where both take the object, but give it other defaults, and where they name other fields in a refusal
  --show N     how many examples of each group (default 1)
Prints one line for each group of differences (what kind of difference, kind, field, how it was broken), the most frequent first,
and ends with 1 if there are any. It is a tool to find rules that are not there: some groups are explained in docs/compat/apiserver.md.
"""
import argparse
import collections
import copy
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import asks
import compare
import random_bases

# Differences that docs/compat/apiserver.md names, by what we or the stock server say.
KNOWN = [("we refuse what is good", pattern) for pattern in (
    r'in body must be of type \w+: "null"', r'(data|binaryData)\.\S+ in body must be of type string: "array"', r'Invalid value: "\.": quantities must match',
    r"metrics\[\d+\]\.\S+\.selector\.matchExpressions", r"[aA]ttribute: Invalid value", r'LimitRange "" is invalid: metadata.name', r"spec\.dataSource\.(kind|name): Required")]
KNOWN += [("we take what is refused", pattern) for pattern in (r"hard\[\S+\]: Invalid value: .*must be an integer", r"-9223372036854775808: must be", r"ddresses.*may not be in the loopback range")]
TEXTS = ["", " ", "A_b", "a b", "-a", "a.", "a/b", "/a", "../x", "a/../b", "x" * 64, "x" * 254, "Ünï", "*", "a,b", "1", "0", "true", "None", "10.0.0.300", "::1", "10.0.0.0/33", "example.com/x", "a=b", "$(X)", "a\nb", ".", "..", "kubernetes.io/x", "Always", "Never", "cpu", "requests.cpu"]
NUMBERS = [-1, 0, 1, 2, 63, 100, 101, 512, 65535, 65536, 100001, 2**31 - 1, 2**31, -2**31 - 1, 2**63 - 1, 2**63, 1.5, "1", "50%", "101%", "-1%", "web", "1000000"]
QUANTITIES = ["0", "-1", "1.5", "1m", "100m", "1e3", "1E", "0.0000000001", "1Zi", "1Ki2", "abc", "", " 1", "1 Gi", "+1", "9223372036854775808", "1Gi", "1.5Gi", 1, 1.5, -1, True]
OTHERS = [None, True, 7, "text", [], {}, ["text"], {"a": "b"}, [{}], [None]]
NAMES = ["", "a b", "A", "kubernetes.io/x", "example.com/a/b", "x" * 64, "-a", "cpu", "memory", "storage", "pods", "hugepages-2Mi", "hugepages-x", "example.com/dev", "count/x", "requests.cpu", "limits.cpu", "nothing", ".."]


def paths(value, at=()):
    """All places in an object, the object itself left out."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield at + (key,)
        yield from paths(one, at + (key,))


def shape(path):
    """A path as a text, without the numbers of entries."""
    return re.sub(r"\[\d+\]", "[]", ".".join("[]" if isinstance(one, int) else str(one) for one in path).replace(".[]", "[]"))


def get(value, path):
    for key in path:
        value = value[key]
    return value


class Breaker:
    """Changes one place of an object. What it knows is which members objects at the same place have elsewhere."""

    def __init__(self, rows):
        self.known = collections.defaultdict(dict)
        for row in rows:
            obj, _ = random_bases.made(row)
            for path in paths(obj):
                if isinstance(path[-1], str):
                    self.known[row[2], shape(path[:-1])][path[-1]] = get(obj, path)

    def change(self, kind, obj, chance, allowed=None):
        """Changes `obj`, at one of the places of `allowed` if given; says where and how."""
        places = [path for path in paths(obj) if path[0] not in ("apiVersion", "kind") and path != ("metadata", "name") and "managedFields" not in path and path[:2] != ("metadata", "annotations")]
        if allowed is not None:
            places = sorted((path for path in places if path in allowed), key=str)
        weights = [1 if path[0] == "metadata" else 6 for path in places]
        path = chance.choices(places, weights)[0]
        holder, key, value = get(obj, path[:-1]), path[-1], get(obj, path)
        how = chance.choice([one for one in self.ways(kind, path, value) if one != "rename" or isinstance(holder, dict)])
        if how == "remove":
            del holder[key]
        elif how == "other type":
            holder[key] = copy.deepcopy(chance.choice(OTHERS))
        elif how == "text":
            holder[key] = chance.choice(TEXTS)
        elif how == "word" and isinstance(value, str):
            holder[key] = chance.choice([value.upper(), value.lower(), value + "x", value[:-1], value + " ", value.replace(".", "/"), value * 40])
        elif how == "number":
            holder[key] = chance.choice(NUMBERS)
        elif how == "quantity":
            holder[key] = chance.choice(QUANTITIES)
        elif how == "flip":
            holder[key] = not value
        elif how == "twice":
            holder[key] = value + [copy.deepcopy(chance.choice(value))]
        elif how == "empty":
            holder[key] = type(value)()
        elif how == "many":
            holder[key] = [copy.deepcopy(value[i % len(value)]) for i in range(chance.choice([11, 33, 65, 129, 260]))]
        elif how == "swap":
            value.reverse()
        elif how == "more":
            name = chance.choice(sorted(self.known[kind, shape(path)]))
            value[name] = copy.deepcopy(self.known[kind, shape(path)][name])
            how += " " + name
        elif how == "rename":
            name = chance.choice(NAMES)
            holder[name] = holder.pop(key)
            how += " " + name[:20]
        return (shape(path), how, path)

    def ways(self, kind, path, value):
        ways = ["remove", "other type"]
        if isinstance(value, bool):
            return ways + ["flip"] * 3
        if isinstance(value, (int, float)):
            return ways + ["number"] * 8
        if isinstance(value, str):
            ways += ["text"] * 6 + ["word"] * 4
            if re.fullmatch(r"\d+(\.\d+)?([mkKMGTP]i?)?%?", value):
                ways += ["quantity"] * 6 + ["number"] * 3
            if path[-2:-1] and path[-2] in ("requests", "limits", "hard", "matchLabels", "labels", "nodeSelector", "data", "parameters", "capacity", "min", "max"):
                ways += ["rename"] * 4
            return ways
        if isinstance(value, list) and value:
            return ways + ["twice"] * 4 + ["empty", "many", "swap"]
        if isinstance(value, dict):
            return ways + ["empty"] + (["more"] * 8 if self.known[kind, shape(path)] else [])
        return ways


def bare(value):
    """Without what stands for nothing: JSON of Go leaves it out."""
    if isinstance(value, dict):
        rest = {key: bare(one) for key, one in value.items()}
        return {key: one for key, one in rest.items() if one not in ({}, [], "", None, False, 0) or isinstance(one, bool) and one}
    return [bare(one) for one in value] if isinstance(value, list) else value


def stored(body):
    """Of an answer: what was made, but for what only its server knows."""
    body = bare(compare.plain({key: value for key, value in body.items() if key != "status"}))
    for key in ("managedFields", "generation", "selfLink"):
        body.get("metadata", {}).pop(key, None)
    return body


def fields_of(body):
    causes = (body.get("details") or {}).get("causes") or []
    return sorted({f"{one.get('field', '')} {one.get('reason', '')}" for one in causes})


class Judge:
    def __init__(self, ours, stock, values):
        self.ours, self.stock, self.values = ours, stock, values
        self.groups = collections.defaultdict(list)
        self.known = 0

    def send(self, method, path, ours, stock, about):
        left = self.ours.fetch(asks.Ask("", method, path, ours))
        right = self.stock.fetch(asks.Ask("", method, path, stock))
        mine, theirs = json.loads(left.body), json.loads(right.body)
        name, where, how, value = about
        taken = left.status < 300, right.status < 300
        if taken == (True, False):
            what, field = "we take what is refused", ", ".join(fields_of(theirs))
        elif taken == (False, True):
            what, field = "we refuse what is good", ", ".join(fields_of(mine))
        elif left.status != right.status and {left.status, right.status} != {400, 422}:
            what, field = f"status {left.status} for {right.status}", ""
        elif not self.values or left.status != right.status:
            return right.status
        elif taken == (True, True):
            found = list(compare.differences(stored(mine), stored(theirs)))
            if not found:
                return right.status
            what, field, value = "other values", re.sub(r"\[\d+\]", "[]", found[0][0]), f"ours {json.dumps(found[0][1])[:200]} stock {json.dumps(found[0][2])[:200]}; {value}"
        elif fields_of(mine) != fields_of(theirs):
            what, field = "other fields", f"{fields_of(mine)} for {fields_of(theirs)}"[:300]
        else:
            return right.status
        said = {"we take what is refused": theirs, "we refuse what is good": mine}.get(what)
        if said and any(what == one and re.search(pattern, said["message"]) for one, pattern in KNOWN):
            self.known += 1
            return right.status
        words = said["message"][:400] if said else "" if what == "other values" else f"ours {mine.get('message', '')[:300]!r} stock {theirs.get('message', '')[:300]!r}"
        self.groups[what, name, re.sub(r"\[\d+\]", "[]", field) or where].append(f"{where} ({how}): {value[:200]}: {words}")
        return right.status


def prepared(server, rows):
    """Makes what the rest needs; for --updates also an object of every row, as the server stored it."""
    for one in asks.first():
        server.fetch(one)
    kept = {}
    for row in rows:
        if row[2] in ("LimitRange", "ResourceQuota"):
            continue  # what is made after them is judged by them
        name = "kept-" + row[0].replace(" ", "-")
        obj, folder = random_bases.made(row, name)
        server.fetch(asks.Ask("", "POST", folder, obj))
        answer = server.fetch(asks.Ask("", "GET", folder + "/" + obj["metadata"]["name"]))
        if answer.status == 200:
            kept[row[0]] = json.loads(answer.body)
            kept[row[0]]["metadata"] = {key: value for key, value in kept[row[0]]["metadata"].items() if key not in ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation")}
    return kept


def main():
    options = argparse.ArgumentParser()
    options.add_argument("ours")
    options.add_argument("stock")
    for flag, value in {"--seed": 1, "--count": 5000, "--show": 1}.items():
        options.add_argument(flag, type=int, default=value)
    options.add_argument("--words", default="")
    options.add_argument("--updates", action="store_true")
    options.add_argument("--values", action="store_true")
    options = options.parse_args()
    rows = [row for row in random_bases.BASES if options.words in row[0]]
    breaker, chance = Breaker(random_bases.BASES), random.Random(options.seed)
    judge = Judge(compare.Server(options.ours), compare.Server(options.stock), options.values)
    for server in (judge.ours, judge.stock):
        prepared(server, [])
    kept = [prepared(server, rows) for server in (judge.ours, judge.stock)] if options.updates else []
    codes = collections.Counter()
    for row in rows:
        obj, folder = random_bases.made(row)
        status = judge.send("POST", folder + "?dryRun=All", obj, obj, (row[0], "", "as it is", ""))
        if status != 201:
            print(f"note: the stock server refuses \"{row[0]}\" as it is: {status}")
    for i in range(options.count):
        row = rows[i % len(rows)]
        obj, folder = random_bases.made(row)
        changes, dry = chance.choice([1, 1, 1, 2]), "?dryRun=All"
        if options.updates:
            if not all(row[0] in one for one in kept):
                continue
            before, seed = [copy.deepcopy(one[row[0]]) for one in kept], chance.random()
            both = {path for path in paths(before[0]) if path[0] != "status"} & set(paths(before[1]))
            about = [[breaker.change(row[2], one, random.Random(seed), both)] for one in before]
            codes[judge.send("PUT", folder + "/" + kept[0][row[0]]["metadata"]["name"] + dry, *before, describe(row, about[1], before[1]))] += 1
            continue
        about = [breaker.change(row[2], obj, chance) for _ in range(changes)]
        codes[judge.send("POST", folder + dry, obj, obj, describe(row, about, obj))] += 1
    report(judge, codes, options.show)


def describe(row, about, obj):
    values = []
    for where, how, path in about:
        try:
            values.append(json.dumps(get(obj, path))[:120])
        except (KeyError, IndexError, TypeError):
            values.append("(gone)")
    return row[0], "; ".join(one[0] for one in about), "; ".join(one[1] for one in about), "; ".join(values)


def report(judge, codes, show):
    left = 0
    for (what, name, field), examples in sorted(judge.groups.items(), key=lambda group: (group[0][0], -len(group[1]), group[0])):
        left += 1
        print(f"{len(examples):4} {what}: {name}: {field}")
        for example in examples[:show]:
            print("       " + example)
    print(f"{judge.known} differences that docs/compat/apiserver.md names")
    print("answers of the stock server: " + ", ".join(f"{count} of {code}" for code, count in sorted(codes.items())))
    sys.exit(left > 0)


if __name__ == "__main__":
    main()
