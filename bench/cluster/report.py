#!/usr/bin/env python3
"""Times and requests of one run of bench/cluster/run.sh, from the API server's audit log."""
import collections
import datetime
import json
import re
import sys


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def entries(path, begin):
    for line in open(path, encoding="utf-8"):
        entry = json.loads(line)
        if seconds(entry["requestReceivedTimestamp"]) >= begin:
            yield entry


def rate_of(path, verb):
    """What bind-only says of its creates or binds: pods a second."""
    for line in open(path, encoding="utf-8"):
        if line.strip().startswith(verb + " "):
            return float(re.search(r"(\d+)/s", line)[1])
    sys.exit(f"no line of {verb} in {path}")


def main():
    path, begin, pods, reference = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    agents = sys.argv[5:]
    counts = collections.Counter()
    failed = collections.Counter()
    creates, binds = [], []
    for entry in entries(path, begin):
        agent = entry.get("userAgent", "").split("/")[0]
        target = entry.get("objectRef", {})
        resource = target.get("resource", "-")
        if target.get("subresource"):
            resource += "/" + target["subresource"]
        if resource == "leases" or entry["verb"] == "watch":
            continue
        done = entry["responseStatus"]["code"] < 300
        if done and entry["verb"] == "create" and resource == "pods":
            creates.append(seconds(entry["requestReceivedTimestamp"]))
        if agent not in agents:
            continue
        counts[agent, entry["verb"], resource] += 1
        if not done:
            failed[agent, entry["verb"], resource] += 1
        if done and entry["verb"] == "create" and resource == "pods/binding":
            binds.append(seconds(entry["stageTimestamp"]))
    if not binds:
        sys.exit("no binds in the audit log")
    made, bound = (rate_of(reference, verb) for verb in ("create", "bind"))
    if creates:
        print(f"pods made: {len(creates)} in {max(creates) - min(creates):.1f} s; bound: {len(binds)}")
        print(f"from the first pod to the last bind: {max(binds) - min(creates):.1f} s")
        ours = pods / (max(binds) - min(creates))
        print(f"pods a second: {ours:.0f}; {ours * (1 / made + 1 / bound):.2f} of create-then-bind, {ours / bound:.2f} of its binds alone")
    else:  # they were there before
        print(f"from the scheduler's start to its first bind: {min(binds) - begin:.1f} s, to its last: {max(binds) - begin:.1f} s; bound: {len(binds)}")
        ours = len(binds) / (max(binds) - min(binds))
        print(f"binds a second: {ours:.0f}; {ours / bound:.2f} of the client that only binds (goal 0.9)")
    for (agent, verb, resource), count in sorted(counts.items(), key=lambda one: -one[1]):
        refused = failed[agent, verb, resource]
        print(f"  {agent:<24} {verb:<8} {resource:<24} {count:>6}" + (f"  ({refused} refused)" if refused else ""))
    goal = " (goal 3.4)" if any(key[1:] == ("create", "pods") for key in counts) else ""
    print(f"requests a pod: {sum(counts.values()) / pods:.2f}{goal}")


main()
