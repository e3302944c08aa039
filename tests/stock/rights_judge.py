#!/usr/bin/env python3
"""What our programs asked an API server for, held against the roles of the chart.

usage: rights_judge.py AUDIT_LOG ROLES_JSON EXPLAINED

ROLES_JSON is a list of ClusterRoles and Roles whose names are those of their accounts. Prints a line "refused ..." for each request that a
role does not allow, and a line "unused ..." for each verb on a resource that nobody used and that EXPLAINED (docs/compat/install.md) does not
name. The exit code is 1 if there is one of either.
"""
import collections
import json
import re
import sys

ACCOUNT = re.compile("system:serviceaccount:(?:volcano-system:volcano-|kubeflow:)(.+)")


def allowed_by(roles):
    """Account, group, resource (with its subresource) and verb of each rule."""
    out = set()
    for role in roles:
        account = role["metadata"]["name"].removeprefix("volcano-")
        for rule in role.get("rules") or []:
            for group in rule.get("apiGroups", []):
                for resource in rule.get("resources", []):
                    out |= {(account, group, resource, verb) for verb in rule["verbs"]}
    return out


def asked_in(log):
    """The same of requests, with the codes of their answers."""
    out = collections.defaultdict(set)
    for line in log:
        event = json.loads(line)
        user, target = ACCOUNT.fullmatch(event["user"]["username"]), event.get("objectRef")
        if not user or not target or "resource" not in target:
            continue
        resource = target["resource"] + ("/" + target["subresource"] if "subresource" in target else "")
        code = event.get("responseStatus", {}).get("code", 0)
        out[user[1], target.get("apiGroup", ""), resource, event["verb"]].add(code)
    return out


def explained_in(text):
    """Rows "| account | group | resources | verbs | reason |" of the section on rules that are not used, with the reason of each right."""
    section = re.search(r"^## rules-not-used$(.*?)(?=^## |\Z)", text, re.M | re.S)
    out = {}
    for row in re.findall(r"^\| ([a-z-]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", section.group(1) if section else "", re.M):
        for group in row[1].split(", "):
            for resource in row[2].split(", "):
                out |= {(row[0], "" if group == "core" else group, resource, verb): row[4] for verb in row[3].split(", ")}
    return out


def text_of(group, resource):
    return f"{resource}.{group}" if group else resource


def main():
    asked = asked_in(open(sys.argv[1], encoding="utf-8"))
    allowed = allowed_by(json.load(open(sys.argv[2], encoding="utf-8"))["items"])
    explained = explained_in(open(sys.argv[3], encoding="utf-8").read())
    wrong = 0
    for account, group, resource, verb in sorted(asked):
        if (account, group, resource, verb) not in allowed or 403 in asked[account, group, resource, verb]:
            print(f"refused: {account} may not {verb} {text_of(group, resource)}")
            wrong += 1
    accounts = {one[0] for one in asked}
    unused, rows = collections.defaultdict(list), collections.defaultdict(list)
    for account, group, resource, verb in sorted(allowed - set(asked) - set(explained)):
        # Servers before 1.34 begin no watch with what there is, which is listed there.
        lists_elsewhere = verb == "list" and (account, group, resource, "watch") in asked
        if account in accounts and not lists_elsewhere:
            unused[account, group, resource].append(verb)
    for (account, group, resource), verbs in unused.items():
        rows[account, group, ", ".join(verbs)].append(resource)
    for (account, group, verbs), resources in rows.items():
        print(f"unused: | {account} | {group or 'core'} | {', '.join(resources)} | {verbs} |")
    stale = sorted(right for right in asked if explained.get(right) == "contract")  # what is used elsewhere may be used here, too
    for account, group, resource, verb in stale:
        print(f"used, though it is said not to be: {account} {verb} {text_of(group, resource)}")
    print(f"{len(asked)} kinds of requests of {len(accounts)} accounts, {len(allowed)} rights")
    sys.exit(1 if wrong or unused or stale else 0)


main()
