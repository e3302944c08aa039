#!/usr/bin/env python3
"""An API server that lies, and files that turn to rubbish under a running program: the scheduler and the controllers live,
say what is wrong, and go on once the server or the file is sane again."""
import json
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from liar import Liar, Program, job
from lib import MEMORY, expect, row, run, wait_for


@row("lists with items that are not objects, and jobs of wrong types", "they are named and left out; the others are worked on")
def items_of_wrong_types():
    liar = Liar()
    broken = [None, 5, "x", [], {}, {"metadata": 5}, {"metadata": {"name": 5}}, job("s", status="x"), job("st", status={"state": []}),
              job("sp", spec={"tasks": [{"template": {"metadata": {"annotations": "x"}, "spec": {"containers": 5}}}]})]
    liar.items["queues"] += broken[:7]
    liar.items.update({"jobs": broken + [job("good")], "pods": broken[:7], "podgroups": broken[:7], "nodes": broken[:7]})
    programs = [Program("controller-manager", "--master", liar.url), Program("scheduler", "--master", liar.url)]
    programs[0].says("jobs.batch.volcano.sh default/sp is left out: spec.tasks[0].template.metadata.annotations: must be a map")
    wait_for(20, "a group of the job that is sound", lambda: [g for g in liar.created("podgroups") if g["metadata"]["name"].startswith("good")])
    programs[1].says("pods is left out: must be a map")
    for program in programs:
        program.living()
        program.stop()
    liar.close()


@row("watch events without objects, with others' types, of unknown jobs", "they are left out, and the watch goes on")
def events_of_wrong_types():
    liar = Liar()

    def watch(handler, resource):
        if resource != "jobs":
            return
        for kind in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
            for value in (None, 5, [], {}, {"metadata": []}, {"metadata": {"resourceVersion": {}}}, job("broken", spec=[])):
                handler.piece(json.dumps({"type": kind, "object": value}).encode() + b"\n")
        handler.piece(json.dumps({"type": "ADDED", "object": job("good")}).encode() + b"\n")

    liar.watch = watch
    program = Program("controller-manager", "--master", liar.url)
    wait_for(20, "a group of the job behind them", lambda: program.living() and liar.created("podgroups"))
    expect("default/broken is left out: spec: must be a map" in program.said(), program.said()[-500:])
    program.stop()
    liar.close()


@row("pages in a circle, answers that are not lists, refusals for ever", "each is said, without a storm; all is well once the server is")
def lies_that_end():
    def circle(handler):
        handler.answer(200, {"kind": "List", "metadata": {"continue": "again", "resourceVersion": "1"}, "items": []})

    lies = {"its list comes back to the page at \"again\"": circle,
            "items: must be a list": lambda handler: handler.answer(200, {}),
            "must be a map": lambda handler: handler.answer(200, b"[]"),
            "invalid JSON": lambda handler: handler.answer(200, b"\0" * 100),
            "too old": lambda handler: handler.answer(410, {"kind": "Status", "reason": "Expired", "code": 410, "message": "too old"}),
            "slow down": lambda handler: handler.answer(429, {"kind": "Status", "code": 429, "message": "slow down",
                                                              "details": {"retryAfterSeconds": 99999999999}})}
    for text, lie in lies.items():
        liar = Liar()
        liar.lie = lie
        program = Program("controller-manager", "--master", liar.url)
        program.says(text)
        time.sleep(2)
        expect(liar.lists("jobs") < 40, f"jobs were listed {liar.lists('jobs')} times in 2 s")
        liar.items["jobs"], liar.lie = [job("good")], None
        wait_for(40, f"a group once the server is sane after '{text}'", lambda: program.living() and liar.created("podgroups"))
        program.stop()
        liar.close()


@row("a watch event that never ends", "it is refused; memory stays bounded")
def an_event_without_an_end():
    liar = Liar()
    rounds = []

    def watch(handler, resource):
        if resource != "jobs":
            return
        rounds.append(1)
        while True:
            handler.piece(b"x" * (1 << 20))

    liar.watch = watch
    program = Program("controller-manager", "--master", liar.url)
    wait_for(60, "another watch", lambda: program.living() and len(rounds) > 2)
    expect(program.rss_mib() < 600 * MEMORY, f"{program.rss_mib()} MiB")
    program.stop()
    liar.close()


@row("a watch that floods", "memory stays bounded, and the program ends when it is told to")
def a_flood_of_events():
    pod = {"spec": {"containers": [{"name": f"c{i}", "image": "i", "env": [{"name": "a", "value": "b"}]} for i in range(10)]}}
    events = b"".join(json.dumps({"type": "MODIFIED", "object": {**pod, "metadata": {
        "name": "p", "namespace": "default", "uid": "p", "resourceVersion": str(i)}}}).encode() + b"\n" for i in range(200))
    for name in ("scheduler", "controller-manager"):
        liar = Liar()

        def watch(handler, resource):
            while resource in ("pods", "replicasets", "nodes", "services"):
                handler.piece(events)

        liar.watch = watch
        program = Program(name, "--master", liar.url)
        time.sleep(10)
        program.living()
        expect(program.rss_mib() < 800 * MEMORY, f"{program.rss_mib()} MiB")
        program.stop()
        liar.close()


@row("a kubeconfig that turns to rubbish, a pipe and /dev/zero", "it is said, and what was known stays in use")
def kubeconfig_turns_to_rubbish():
    liar = Liar()
    folder = tempfile.mkdtemp(prefix="volcano-hostile.")
    path = os.path.join(folder, "kubeconfig")
    good = {"current-context": "c", "clusters": [{"name": "k", "cluster": {"server": liar.url}}], "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}]}

    def write(value):
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(value, file)
        os.replace(path + ".new", path)

    write(good)
    program = Program("scheduler", "--kubeconfig", path)
    wait_for(20, "the first lists", lambda: program.living() and liar.lists("pods"))
    write({**good, "users": [5]})
    program.says("users[0] must be a map, not a number", 40)
    os.unlink(path)
    os.symlink("/dev/zero", path)
    program.says("it has more than 16777216 bytes", 40)
    os.unlink(path)
    os.mkfifo(path)
    program.says("its end does not come", 60)
    program.living()
    program.stop()
    liar.close()
    shutil.rmtree(folder)


@row("the scheduler's configuration becomes a pipe, a folder, and text again", "it is said at once, and the text is read")
def configuration_becomes_a_pipe():
    liar = Liar()
    folder = tempfile.mkdtemp(prefix="volcano-hostile.")
    path = os.path.join(folder, "conf")

    def write(text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    write('actions: "allocate"\n')
    program = Program("scheduler", "--master", liar.url, "--scheduler-conf", path)
    wait_for(20, "the first lists", lambda: program.living() and liar.lists("pods"))
    os.unlink(path)
    os.mkfifo(path)
    program.says("it is not an ordinary file; the previous one stays")
    os.unlink(path)
    os.mkdir(path)
    program.says("Is a directory; the previous one stays")
    os.rmdir(path)
    write('actions: "destroy"\n')
    program.says("failed to find Action destroy")
    program.stop()
    liar.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    run()
