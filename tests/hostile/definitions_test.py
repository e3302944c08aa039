#!/usr/bin/env python3
"""Definitions of strangers: schemas that are deep, wide, contradictory or dear, and objects that are meant to hurt their rules."""
import time

from lib import Cluster, expect, row, run

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
count = 0


def definition(spec, plural, more=None):
    """One whose objects have `spec` as the schema of spec."""
    version = {"name": "v1", "served": True, "storage": True,
               "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}
    version.update(more or {})
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.hostile.example.com"},
            "spec": {"group": "hostile.example.com", "scope": "Namespaced", "versions": [version],
                     "names": {"plural": plural, "singular": plural[:-1], "kind": plural[:-1].capitalize()}}}


def define(cluster, spec, more=None):
    """The status and answer, how long it took, and the path of its objects."""
    global count
    count += 1
    plural = f"thing{'abcdefghijklmnopqrstuvwxyz'[count % 26]}{count}s"
    begun = time.monotonic()
    status, answer = cluster.request("POST", DEFINITIONS, definition(spec, plural, more))
    return status, answer, time.monotonic() - begun, f"/apis/hostile.example.com/v1/namespaces/default/{plural}"


def answers(cluster):
    expect(cluster.alive(), "the program has ended")
    begun = time.monotonic()
    expect(cluster.get("/readyz")[0] == 200, "it is not ready")
    expect(time.monotonic() - begun < 5, "nobody else was answered")


def make(cluster, path, spec):
    version, kind = "hostile.example.com/v1", path.rsplit("/", 1)[1][:-1].capitalize()
    return cluster.request("POST", path, {"apiVersion": version, "kind": kind, "metadata": {"generateName": "o-"}, "spec": spec})


@row("a schema of 900 levels", "it is taken or refused; objects as deep are, too; others are served")
def deep(cluster):
    schema = {"type": "string"}
    value = "x"
    for _ in range(400):
        schema = {"type": "object", "properties": {"a": schema}}
        value = {"a": value}
    status, answer, _, path = define(cluster, schema)
    expect(status in (201, 422), f"{status} {str(answer)[:300]}")
    if status == 201:
        status, answer = make(cluster, path, value)
        expect(status in (201, 422), f"{status} {str(answer)[:300]}")
    answers(cluster)


@row("a schema that contradicts itself", "422 that names the field, and nothing is stored")
def contradictory(cluster):
    for schema, word in [({"type": "object", "properties": {"a": {"type": "string", "default": 5}}}, "default"),
                         ({"type": "object", "properties": {"a": {"type": "string", "pattern": "(["}}}, "pattern"),
                         ({"type": "object", "properties": {"a": {"type": "nothing"}}}, "type"),
                         ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}, "additionalProperties"),
                         ({"type": "array"}, "items"),
                         ({"type": "object", "x-kubernetes-validations": [{"rule": "self.missing == 1"}]}, "rule"),
                         ({"type": "object", "x-kubernetes-validations": [{"rule": "(" * 5000}]}, "rule")]:
        status, answer, _, path = define(cluster, schema)
        expect(status == 422 and word in answer["message"], f"{word}: {status} {str(answer)[:400]}")
        expect(cluster.get(path)[0] == 404, f"{word}: it is served")
    answers(cluster)


def loops(**limits):
    """A schema with three nested loops over a list."""
    return {"type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer"}, **limits}},
            "x-kubernetes-validations": [{"rule": "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))"}]}


@row("rules that may cost much: nested loops over lists without a limit", "the definition is refused, with advice")
def dear_rules(cluster):
    status, answer, _, path = define(cluster, loops())
    expect(status == 422 and "estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems" in answer["message"],
           f"{status} {str(answer)[:400]}")
    expect(cluster.get(path)[0] == 404, "it is served")
    status, answer, _, _ = define(cluster, loops(maxItems=110))
    expect(status == 422 and "exceeds budget by factor of 1." in answer["message"], f"{status} {str(answer)[:400]}")
    answers(cluster)


@row("rules that do cost much: nested loops below the limit of what is estimated", "the object is refused in words, and others are served meanwhile")
def dear_objects(cluster):
    status, answer, _, path = define(cluster, loops(maxItems=90))
    expect(status == 201, f"{status} {str(answer)[:300]}")
    status, answer = make(cluster, path, {"l": list(range(90))})
    expect(status == 422 and "actual cost limit exceeded" in str(answer), f"{status} {str(answer)[:400]}")
    answers(cluster)


@row("patterns of a program's size, a thousand of them", "bounded together: refused in words")
def patterns(cluster):
    many = {"type": "object", "properties": {f"p{i}": {"type": "string", "pattern": "(a{30}){30}" + str(i)} for i in range(1000)}}
    status, answer, took, _ = define(cluster, many)
    expect(status == 422 and "pattern" in answer["message"], f"{status} {str(answer)[:300]}")
    answers(cluster)


@row("an object of 1.4 MiB of fields that the schema does not know", "they are pruned, and others are served")
def pruned(cluster):
    status, answer, _, path = define(cluster, {"type": "object", "properties": {"a": {"type": "string"}}})
    expect(status == 201, f"{status} {str(answer)[:300]}")
    status, answer = make(cluster, path, {f"field-{i}": i for i in range(60000)})
    expect(status == 201 and answer.get("spec") == {}, f"{status} {str(answer)[:300]}")
    answers(cluster)


@row("columns and scale paths that lead nowhere or into everything", "refused, or empty cells")
def columns(cluster):
    more = {"additionalPrinterColumns": [{"name": "c", "type": "string", "jsonPath": ".." + "[*]" * 300}]}
    status, answer, _, path = define(cluster, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, more)
    expect(status in (201, 422), f"{status} {str(answer)[:300]}")
    more = {"additionalPrinterColumns": [{"name": "c", "type": "string", "jsonPath": ".spec..a"},
                                         {"name": "d", "type": "date", "jsonPath": ".spec.l[?(@.x==1)].y"}]}
    status, answer, _, path = define(cluster, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, more)
    expect(status in (201, 422), f"{status} {str(answer)[:300]}")
    if status == 201:
        wide = {"l": [{"x": 1, "a": {"a": {"a": i}}} for i in range(20000)]}
        expect(make(cluster, path, wide)[0] == 201, "the wide object")
        status, answer = cluster.get(path)
        expect(status == 200, f"the list: {status}")
    answers(cluster)


@row("a definition is made and taken away again and again, with objects", "memory stays, and its objects go with it")
def churn(cluster):
    begun = None
    for i in range(30):
        status, answer, _, path = define(cluster, {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
        expect(status == 201, f"{status} {str(answer)[:300]}")
        expect(make(cluster, path, {"a": "x" * 200000})[0] == 201, "an object")
        plural = path.rsplit("/", 1)[1]
        status, answer = cluster.request("DELETE", f"{DEFINITIONS}/{plural}.hostile.example.com")
        expect(status == 200, f"{status} {str(answer)[:300]}")
        if i == 9:
            begun = cluster.rss_mib("RssAnon")
    expect(cluster.rss_mib("RssAnon") < begun + 40, f"{begun} MiB became {cluster.rss_mib('RssAnon')}")
    answers(cluster)


if __name__ == "__main__":
    run(Cluster)
