#!/usr/bin/env python3
"""An API server whose watches, answers to writes and leases are not what was asked for: our programs live, do not storm, and
work on once it is sane."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from liar import Liar, Program, job
from lib import MEMORY, expect, row, run, wait_for

PROGRAMS = ("scheduler", "controller-manager")


def event(kind, value):
    return json.dumps({"type": kind, "object": value}).encode() + b"\n"


def survives(prepare, seconds=4, asks_max=1500, names=PROGRAMS):
    """Each program, with a server that `prepare` has made lie: it lives, asks no more often than that, and works once the server is sane."""
    for name in names:
        liar = Liar()
        prepare(liar)
        program = Program(name, "--master", liar.url)
        wait_for(20, "the first lists", lambda: program.living() and liar.asked)
        time.sleep(seconds)
        program.living()
        expect(len(liar.asked) < asks_max, f"{name}: {len(liar.asked)} requests in {seconds} s")
        expect(program.rss_mib() < 600 * MEMORY, f"{name}: {program.rss_mib()} MiB")
        if name == "controller-manager":
            liar.lie, liar.watch = None, lambda handler, resource: resource == "jobs" and handler.piece(event("ADDED", job("good")))
            liar.items = {"jobs": [job("good")], "queues": liar.items.get("queues", [])}
            liar.write = None
            liar.drop()
            wait_for(60, "a group once the server is sane", lambda: program.living() and [g for g in liar.created("podgroups") if g["metadata"]["name"].startswith("good")])
        program.stop()
        liar.close()


def watches_end_behind(text):
    """Each watch says that and ends."""
    def watch(handler, _):
        handler.piece(text)
        handler.piece(b"")
        handler.close_connection = True
        raise OSError

    def prepare(liar):
        liar.watch = watch
    return prepare


@row("items without uid, without a version, with a version that is not a number, twice the same name", "nothing ends")
def items_that_lack_parts():
    def prepare(liar):
        odd = [{"metadata": {"name": "a", "namespace": "default"}}, {"metadata": {"name": "b", "namespace": "default", "uid": "b"}},
               {"metadata": {"name": "c", "namespace": "default", "uid": "c", "resourceVersion": "x" * 1000}},
               {"metadata": {"name": "c", "namespace": "default", "uid": "d", "resourceVersion": "-1"}},
               {"metadata": {"name": "", "namespace": "", "uid": "", "resourceVersion": ""}}]
        for resource in ("pods", "podgroups", "nodes", "services", "hypernodes"):
            liar.items[resource] = odd
        liar.items["queues"] += odd
        liar.items["jobs"] = odd + [{**job("x"), "metadata": {"name": "x", "namespace": "default"}}]
    survives(prepare)


@row("events of other kinds, of unknown types, deletions of what never was, bookmarks backwards", "they are left out or taken for what they say")
def events_of_other_kinds():
    def prepare(liar):
        def watch(handler, resource):
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "n", "resourceVersion": "9"}}
            bare = {"metadata": {"name": "gone", "namespace": "default", "uid": "g", "resourceVersion": "7"}}
            for kind in ("ADDED", "MODIFIED", "DELETED", "EXPLODED", "", "added"):
                for value in (node, bare, job("x"), {"kind": "Status", "status": "Failure", "code": 200}):
                    handler.piece(event(kind, value))
            for version in ("100", "5", "0", "-3", "99999999999999999999999", "abc", ""):
                handler.piece(event("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": version}}))
            handler.piece(b'{"type": 5}\n{"type": "ADDED"}\n\n\n{"object": {}}\nnull\n[]\n"x"\n')
        liar.watch = watch
    survives(prepare)


def works_with(begin, seconds, lists):
    """The controllers, with a server whose watches begin so: they do what a job wants, and ask no more often than that."""
    liar = Liar()
    liar.items["jobs"] = [job("good")]
    liar.begin = lambda handler, resource: begin(liar, handler, resource)
    program = Program("controller-manager", "--master", liar.url)
    wait_for(seconds, "a group of the job", lambda: program.living() and liar.created("podgroups"))
    expect((liar.lists("jobs") > 0) == lists, f"{liar.lists('jobs')} lists of jobs")
    expect(liar.beginnings("jobs") < 6, f"{liar.beginnings('jobs')} watches of jobs from the beginning")
    program.stop()
    liar.close()


@row("watches that begin with what there is", "nothing is listed")
def watches_that_begin():
    works_with(lambda liar, handler, resource: liar.tell_items(handler, resource), 20, lists=False)


@row("such watches that never say that this was all, that say it in a bookmark of another kind, that break before it", "what there is is listed")
def beginnings_without_an_end():
    def breaks(liar, handler, resource):
        liar.tell_items(handler, resource, end=False)
        handler.piece(b"")
        handler.close_connection = True
        raise OSError

    def other_bookmark(liar, handler, resource):
        liar.tell_items(handler, resource, end=False)
        handler.piece(event("BOOKMARK", {"metadata": {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": True}}}))

    for begin in (lambda liar, handler, resource: liar.tell_items(handler, resource, end=False), other_bookmark, breaks):
        works_with(begin, 30, lists=True)


@row("such watches that begin with rubbish, or with additions for ever", "nothing ends, nobody storms, memory stays bounded")
def beginnings_of_rubbish():
    def endless(handler, _):
        pod = {"metadata": {"name": "p", "namespace": "default", "uid": "p", "annotations": {"a": "x" * 1000}}}
        number = 0
        while True:
            number += 1
            pod["metadata"]["resourceVersion"] = str(number)
            handler.piece(event("ADDED", pod) * 100)

    def rubbish(handler, _):
        for kind in ("ADDED", "MODIFIED", "DELETED"):
            for value in (None, 5, "x", [], {}, {"metadata": 5}, {"metadata": {"name": 5}}, job("gone", status="x"), job("gone")):
                handler.piece(event(kind, value))
        handler.piece(b"\0" * 100 + b"\n")

    for begin in (endless, rubbish):
        def prepare(liar, begin=begin):
            liar.begin = begin
        survives(prepare, names=("scheduler",))


@row("watches that say 410 each time, end at once, or are refused with errors of no sense", "they are begun again after pauses")
def watches_that_end():
    for body in ({"kind": "Status", "code": 410, "reason": "Expired"}, {}, {"kind": "Status", "code": 0}, {"kind": "Status", "code": "x"}):
        survives(watches_end_behind(event("ERROR", body)))


@row("events in protobuf, noise, 200,000 brackets, half an event before the end", "the watch is begun again after a pause")
def events_that_are_none():
    for noise in (b"k8s\0\n\x0f\n\x02v1\x12\x09WatchEvent" * 100, os.urandom(100000) + b"\n", b"[" * 200000 + b"\n", b'{"type":"ADDED","object":{"a":' + b'{"a":' * 100000 + b"\n", b'{"type":"ADDED","obj'):
        survives(watches_end_behind(noise))


@row("answers to writes that are noise, nothing, another object, an error of success, a redirect, a year to wait", "writes are made again, without a storm")
def answers_to_writes():
    other = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other", "namespace": "kube-system", "uid": "o", "resourceVersion": "x"}}
    for status, body, heads in ((201, b"\xff\0" * 100, {}), (200, b"", {}), (201, other, {}), (201, [], {}), (200, {"kind": "Status", "status": "Failure", "code": 409}, {}),
                                (307, b"", {"Location": "http://127.0.0.1:1/"}), (307, b"", {"Location": "/"}), (429, {"kind": "Status", "code": 429}, {"Retry-After": "99999999999"}),
                                (503, b"no", {"Retry-After": "-5"}), (600, b"", {}), (204, b"", {}), (409, b"<html>", {})):
        def prepare(liar, status=status, body=body, heads=heads):
            liar.items["jobs"] = [job(f"j{i}") for i in range(20)]
            liar.items["nodes"] = [{"metadata": {"name": "n", "uid": "n", "resourceVersion": "1"}, "status": {"allocatable": {"cpu": "100", "memory": "1000Gi", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}}]
            liar.items["podgroups"] = [{"metadata": {"name": "g", "namespace": "default", "uid": "g", "resourceVersion": "1"}, "spec": {"minMember": 1, "queue": "default"}, "status": {"phase": "Inqueue"}}]
            liar.items["pods"] = [{"metadata": {"name": f"p{i}", "namespace": "default", "uid": f"p{i}", "resourceVersion": "1", "annotations": {"scheduling.k8s.io/group-name": "g"}},
                                   "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "image": "i"}]}, "status": {"phase": "Pending"}} for i in range(20)]
            liar.write = lambda handler: handler.answer(status, body, heads)
        survives(prepare, asks_max=3000)


@row("lists that answer with a redirect, a year to wait, a status of success, a body that trickles", "they are tried again")
def answers_to_lists():
    def trickles(handler):
        handler.begin_stream()
        while True:
            handler.piece(b" ")
            time.sleep(0.2)
    for lie in (lambda handler: handler.answer(307, b"", {"Location": "http://127.0.0.1:1/x"}), lambda handler: handler.answer(301, b"", {"Location": handler.path}),
                lambda handler: handler.answer(429, {"kind": "Status", "code": 429}, {"Retry-After": "31536000"}),
                lambda handler: handler.answer(503, b"", {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}),
                lambda handler: handler.answer(200, {"kind": "Status", "status": "Success"}), trickles):
        def prepare(liar, lie=lie):
            liar.lie = lie
        survives(prepare, asks_max=1500)


@row("leases with numbers and times of no sense, of another kind, that come back changed", "the program waits or leads, and lives")
def leases_of_no_sense():
    for spec in ({"holderIdentity": "x", "leaseDurationSeconds": -1, "renewTime": "never"}, {"holderIdentity": 5, "leaseDurationSeconds": 9223372036854775807},
                 {"holderIdentity": "x" * 100000, "renewTime": "9999-12-31T23:59:59.999999Z", "leaseDurationSeconds": 2147483647}, {"leaseTransitions": 9223372036854775807}, [], "x", None):
        liar = Liar()
        liar.items["jobs"] = [job("good")]
        def lie(handler, spec=spec):
            if "/leases" not in handler.path:
                return liar.handle(handler, b"{}", True)
            return handler.answer(200, {"kind": "Lease", "metadata": {"name": "l", "namespace": "n", "uid": "u", "resourceVersion": "1"}, "spec": spec})
        liar.lie = lie
        program = Program("controller-manager", "--master", liar.url, leads=True)
        time.sleep(4)
        program.living()
        expect(len(liar.asked) < 400, f"{len(liar.asked)} requests in 4 s for {str(spec)[:80]}")
        program.stop()
        liar.close()


if __name__ == "__main__":
    run()
