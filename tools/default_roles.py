#!/usr/bin/env python3
"""Takes the default roles and bindings of a stock server (facts that it answers) and prints the compact table
src/apiserver/pipeline/rights/default_roles.inc. Roles that gather others, and those that they gather, are left out: ours name our own kinds, too.

usage: kubectl get clusterroles,clusterrolebindings,roles,rolebindings -A -l kubernetes.io/bootstrapping=rbac-defaults -o json |
         tools/default_roles.py VERSION > src/apiserver/pipeline/rights/default_roles.inc
"""
import json
import sys

AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"


def rule_line(rule):
    verbs = ",".join(rule["verbs"])
    if "nonResourceURLs" in rule:
        return f" {verbs} url {','.join(rule['nonResourceURLs'])}"
    groups = ",".join(group or "core" for group in rule["apiGroups"])
    names = " " + ",".join(rule["resourceNames"]) if "resourceNames" in rule else ""
    return f" {verbs} {groups} {','.join(rule['resources'])}{names}"


def subject_line(subject):
    place = subject["namespace"] + "/" if subject["kind"] == "ServiceAccount" else ""
    return f" {subject['kind']} {place}{subject['name']}"


def main():
    print('R"roles(')
    print(f"# Facts that a stock server ({sys.argv[1]}) answers, one role or binding a block; made by tools/default_roles.py.")
    print("# :KIND [NAMESPACE/]NAME [its role]; rules are VERBS GROUPS RESOURCES [NAMES], or VERBS url PATHS.")
    for item in sorted(json.load(sys.stdin)["items"], key=lambda item: (item["kind"], item["metadata"]["name"])):
        meta = item["metadata"]
        if "aggregationRule" in item or any(label.startswith(AGGREGATE) for label in meta["labels"]):
            continue
        place = meta["namespace"] + "/" if "namespace" in meta else ""
        role = " " + item["roleRef"]["name"] if "roleRef" in item else ""
        print(f":{item['kind']} {place}{meta['name']}{role}")
        for rule in item.get("rules") or []:
            print(rule_line(rule))
        for subject in item.get("subjects") or []:
            print(subject_line(subject))
    print(')roles"')


main()
