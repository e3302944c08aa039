#!/usr/bin/env python3
"""Damaged, emptied and full data folders: volcano up says what is wrong and loses nothing; volcano fsck mends it."""
import fcntl
import glob
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib import Cluster, Failed, Skipped, VOLCANO, expect, row, run, wait_for

MAPS = "/api/v1/namespaces/default/configmaps"
FLAGS = ["--runtime", "process", "--host-rootfs"]


def fsck(data, *flags):
    done = subprocess.run([VOLCANO, "fsck", *flags, data], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def filled(count=50):
    """A stopped cluster with some ConfigMaps in it."""
    cluster = Cluster(*FLAGS)
    for i in range(count):
        cluster.create(MAPS, {"metadata": {"name": f"m{i}"}, "data": {"v": "x" * (100 + 300 * (i % 20))}})
    cluster.stop()
    return cluster


def refused_start(cluster, *words):
    """Starts it, expects an end with a message that has the words, and returns the message."""
    at = os.path.getsize(cluster.log)
    cluster.start(ready=False)
    try:
        code = cluster.process.wait(20)
    except subprocess.TimeoutExpired:
        raise Failed("volcano up started on a damaged folder")
    said = cluster.output(at)
    expect(code == 1, f"exit code {code}: {said[-400:]}")
    for word in words:
        expect(word in said, f"the message does not say '{word}': {said[-400:]}")
    return said


def data_file(cluster):
    return os.path.join(cluster.data, "objects/data.mdb")


def map_count(cluster):
    return len([m for m in cluster.get(MAPS)[1]["items"] if m["metadata"]["name"].startswith("m")])


@row("data.mdb is cut to nothing", "it is named, and no new cluster is begun; fsck says that nothing can be read")
def an_emptied_database():
    cluster = filled()
    os.truncate(data_file(cluster), 0)
    refused_start(cluster, "data.mdb is empty")
    expect(os.path.getsize(data_file(cluster)) == 0, "the file was written")
    code, said = fsck(cluster.data, "--repair")
    expect(code == 1 and "backup" in said, said)
    os.unlink(data_file(cluster))
    refused_start(cluster, "data.mdb is missing")
    cluster.remove()


@row("data.mdb is cut to half", "it is named without SIGBUS; fsck --repair keeps what can be read, and the cluster starts")
def a_database_cut_to_half():
    cluster = filled()
    os.truncate(data_file(cluster), os.path.getsize(data_file(cluster)) // 2 // 4096 * 4096)
    refused_start(cluster, "is damaged", "fsck")
    code, said = fsck(cluster.data)
    expect(code == 1 and "records can be read" in said, said)
    code, said = fsck(cluster.data, "--repair")
    if code == 0:
        expect(glob.glob(cluster.data + "/objects.damaged-*"), "the damaged database was not kept")
        cluster.start()
        cluster.check_healthy()
    else:
        expect("nothing of" in said, said)
    cluster.remove()


@row("each page of data.mdb in turn is zeros", "a start that says what is damaged, or one that serves everything")
def zeroed_pages():
    cluster = filled(30)
    size = os.path.getsize(data_file(cluster))
    with open(data_file(cluster), "rb") as file:
        whole = file.read()
    refused = 0
    for page in range(0, size // 4096, max(1, size // 4096 // 12)):
        with open(data_file(cluster), "wb") as file:
            file.write(whole[: page * 4096] + b"\0" * 4096 + whole[(page + 1) * 4096 :])
        shutil.rmtree(cluster.data + "/quarantine", ignore_errors=True)
        at = os.path.getsize(cluster.log)
        cluster.start(ready=False)
        wait_for(20, "an answer", lambda: cluster.process.poll() is not None or " is up at " in cluster.output(at))
        if cluster.process.poll() is None:
            cluster.port = int(re.search(r"https://[^:]*:(\d+)", cluster.output(at)).group(1))
            expect(map_count(cluster) + len(glob.glob(cluster.data + "/quarantine/configmaps*.bytes")) == 30, f"objects are missing after page {page} was zeroed")
            cluster.stop()
        else:
            refused += 1
            expect(cluster.process.returncode == 1, f"page {page}: the program ended with {cluster.process.returncode}: {cluster.output(at)[-300:]}")
            expect("is damaged" in cluster.output(at), cluster.output(at)[-300:])
    expect(refused > 2, f"only {refused} zeroed pages were noticed")
    cluster.remove()


@row("the bytes of one stored object are damaged", "all others are served; a line, an Event and a file in quarantine/ say so; a backup brings all others back")
def one_broken_object():
    cluster = filled()
    with open(data_file(cluster), "rb") as file:
        whole = file.read()
    # In every copy of it, also in history and in pages that are free now.
    expect(b'"name":"m7"' in whole, "the object is not found in the file")
    with open(data_file(cluster), "wb") as file:
        file.write(whole.replace(b'"name":"m7"', b'"name":"m\xff"'))
    code, said = fsck(cluster.data)
    expect(code == 1 and "configmaps default/m7 cannot be read" in said, said)
    for words in (["backup", "--data", cluster.data], ["restore", "--data", cluster.scratch + "/back"]):
        done = subprocess.run([VOLCANO, *words, cluster.scratch + "/backup"], capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, f"{words[0]}: {done.stderr}")
    expect("configmaps default/m7 cannot be read and is left out" in done.stderr, done.stderr)
    expect(fsck(cluster.scratch + "/back")[0] == 0, "the restored folder is damaged, too")
    at = os.path.getsize(cluster.log)
    cluster.start()
    expect("configmaps default/m7 cannot be read" in cluster.output(at), cluster.output(at))
    expect(map_count(cluster) == 49, f"{map_count(cluster)} of 49 are served")
    kept = glob.glob(cluster.data + "/quarantine/configmaps_default_m7-*.bytes")
    expect(kept and b"m\xff" in open(kept[0], "rb").read(), "its bytes are not in quarantine/")
    events = [e for e in cluster.get("/api/v1/namespaces/default/events")[1]["items"] if e["reason"] == "Quarantined"]
    expect(len(events) == 1 and events[0]["involvedObject"]["name"] == "m7", str(events)[:300])
    cluster.create(MAPS, {"metadata": {"name": "m7"}})
    cluster.stop()
    code, said = fsck(cluster.data)
    expect(code == 0 and "all is well" in said, said)
    cluster.start()
    expect(map_count(cluster) == 50, "not all are there after the second start")
    cluster.check_healthy()
    cluster.stop()
    cluster.remove()


@row("data.mdb is not a database, a folder, a FIFO, or not readable as one", "a message names it; nothing is written")
def files_of_another_kind():
    for make in (lambda p: open(p, "wb").write(b"x" * 70000), os.mkdir, os.mkfifo, lambda p: os.symlink("/dev/zero", p)):
        cluster = filled(2)
        os.unlink(data_file(cluster))
        make(data_file(cluster))
        refused_start(cluster, "data.mdb" if not os.path.isfile(data_file(cluster)) else "objects")
        cluster.remove()


@row("kill -9, and a start at once", "the start waits for the lock of the data")
def a_start_right_after_a_kill():
    cluster = filled(3)
    os.makedirs(cluster.data, exist_ok=True)
    lock = os.open(os.path.join(cluster.data, "objects/lock"), os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    cluster.start(ready=False)
    time.sleep(1)
    expect(cluster.alive(), "it did not wait: " + cluster.output()[-300:])
    os.close(lock)
    wait_for(10, "the start", lambda: cluster.output().count(" is up at ") == 2)
    cluster.port = int(re.findall(r"https://[^:]*:(\d+)", cluster.output())[-1])
    code, said = fsck(cluster.data)
    expect(code == 1 and "in use" in said, said)
    cluster.kill()
    cluster.start()
    cluster.check_healthy()
    cluster.stop()
    cluster.remove()


@row("the disk is full", "writes are refused with the reason, deletions go through, a start succeeds, and writes again once there is room")
def a_full_disk():
    if os.geteuid() != 0:
        raise Skipped("mounting a small disk needs root")
    cluster = Cluster(*FLAGS, start=False)
    cluster.kubeconfig = cluster.data + "/kubeconfig"
    os.makedirs(cluster.data)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", cluster.data]).returncode != 0:
        raise Skipped("no disk can be mounted here")
    try:
        cluster.start()
        for i in range(20):
            cluster.create(MAPS, {"metadata": {"name": f"m{i}"}, "data": {"v": "x" * 10000}})
        refusal = None
        for i in range(200):
            status, answer = cluster.request("POST", MAPS, {"metadata": {"name": f"big{i}"}, "data": {"v": "x" * 900000}})
            if status != 201:
                refusal = status, answer
                break
        expect(refusal is not None, "the disk never filled")
        expect(refusal[0] in (503, 507) and "No space left" in str(refusal[1]), str(refusal)[:300])
        # Something else takes the rest, too.
        with open(cluster.data + "/ballast", "wb") as ballast:
            try:
                while True:
                    ballast.write(b"x" * 65536)
                    ballast.flush()
            except OSError:
                pass
        wait_for(10, "the end of ordinary writes", lambda: cluster.request("POST", MAPS, {"metadata": {"generateName": "n"}, "data": {"v": "x" * 200000}})[0] in (503, 507))
        for i in range(20):
            status, answer = cluster.request("DELETE", f"{MAPS}/m{i}")
            expect(status == 200, f"the deletion of m{i}: {status} {str(answer)[:300]}")
        cluster.kill()
        cluster.start()  # on a disk that is still full
        expect(cluster.get(f"{MAPS}/m0")[0] == 404, "a deleted object is back")
        os.unlink(cluster.data + "/ballast")
        wait_for(20, "writes after there was room", lambda: cluster.request("POST", MAPS, {"metadata": {"generateName": "n"}})[0] == 201)
        names = {m["metadata"]["name"] for m in cluster.get(MAPS)[1]["items"]}
        cluster.kill()
        cluster.start()
        expect(names == {m["metadata"]["name"] for m in cluster.get(MAPS)[1]["items"]}, "objects differ after a kill")
        cluster.stop()
    finally:
        cluster.kill()
        subprocess.run(["umount", cluster.data])
        cluster.remove()


@row("Events pile up", "they go after --event-ttl, in batches, while the API answers")
def events_expire():
    cluster = Cluster(*FLAGS, "--event-ttl", "3s")
    path = "/api/v1/namespaces/default/events"
    for i in range(300):
        cluster.create(path, {"metadata": {"name": f"e{i}"}, "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}, "reason": "R", "message": "m"})
    wait_for(30, "the end of the Events", lambda: len(cluster.get(path)[1]["items"]) == 0)
    cluster.check_healthy()
    cluster.stop()
    cluster.remove()
    for bad in ("0s", "x", "-1h", "1"):
        done = subprocess.run([VOLCANO, "up", "--event-ttl", bad, "--data", "/nonexistent"], capture_output=True, text=True)
        expect(done.returncode == 2 and bad in done.stderr, f"--event-ttl {bad}: {done.returncode} {done.stderr}")


@row("fsck on nothing, on a file, without an argument, on a running cluster", "a message and an exit code above 0")
def fsck_of_the_wrong_thing():
    for argument in ("/nonexistent", "/etc/passwd"):
        code, said = fsck(argument)
        expect(code == 1 and argument in said, said)
    expect(subprocess.run([VOLCANO, "fsck"], capture_output=True).returncode == 2, "no argument")
    expect(not os.path.exists("/nonexistent"), "fsck made a folder")


@row("a restore from a pipe that nobody writes, a device, a folder; a backup beside a pipe of the name that it used to write to",
     "a refusal that names the file, at once; the backup is whole, and nothing else is touched")
def backups_in_odd_places():
    cluster = filled(3)
    scratch = cluster.scratch
    os.mkfifo(f"{scratch}/pipe")
    for path in (f"{scratch}/pipe", "/dev/zero", scratch, f"{scratch}/none"):
        done = subprocess.run([VOLCANO, "restore", path, "--data", f"{scratch}/back"], capture_output=True, text=True, timeout=10)
        expect(done.returncode == 1 and path in done.stderr, f"{path}: {done.returncode} {done.stderr}")
    expect(not os.path.exists(f"{scratch}/back"), "a refused restore made a folder")
    os.mkfifo(f"{scratch}/backup.new")
    for path in (f"{scratch}/none/backup", "/dev/null", f"{scratch}/"):
        done = subprocess.run([VOLCANO, "backup", path, "--data", cluster.data], capture_output=True, text=True, timeout=10)
        expect(done.returncode == 1 and path in done.stderr, f"{path}: {done.returncode} {done.stderr}")
    done = subprocess.run([VOLCANO, "backup", f"{scratch}/backup", "--data", cluster.data], capture_output=True, text=True, timeout=10)
    expect(done.returncode == 0, done.stderr)
    expect(sorted(name for name in os.listdir(scratch) if name.startswith("backup")) == ["backup", "backup.new"], str(os.listdir(scratch)))
    done = subprocess.run([VOLCANO, "restore", f"{scratch}/backup", "--data", f"{scratch}/back"], capture_output=True, text=True, timeout=20)
    expect(done.returncode == 0, done.stderr)
    cluster.remove()


@row("what the node agent keeps on the disk becomes rubbish, nothing, a folder or a pipe while it is stopped", "the next start answers, and runs pods")
def rubbish_of_the_agent():
    pods = "/api/v1/namespaces/default/pods"
    def pod(name):
        return {"metadata": {"name": name}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "command": ["true"]}]}}
    def ran(name):
        return cluster.get(f"{pods}/{name}")[1]["status"].get("phase") == "Succeeded"
    cluster = Cluster(*FLAGS)
    cluster.create(pods, pod("before"))
    wait_for(20, "the end of the first pod", lambda: ran("before"))
    cluster.stop()
    kept = [os.path.join(folder, name) for folder, _, names in os.walk(cluster.data + "/node") for name in names]
    kept = [path for path in kept if os.path.isfile(path) and not os.path.islink(path)]
    expect(len(kept) > 3, f"only {kept}")
    extra = [cluster.data + "/node/" + name for name in ("devices/uid.json", "devices/plugins", "claims/uid.json", "pods/uid/pod.json", "pods/uid/ids", "exits/x")]
    makes = (lambda p: open(p, "wb").write(os.urandom(5000)), lambda p: open(p, "wb").close(), os.mkdir, os.mkfifo)
    for number, make in enumerate(makes):
        for path in kept + extra:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.lexists(path):
                os.unlink(path)
            make(path)
        cluster.start()
        cluster.create(pods, pod(f"after{number}"))
        wait_for(20, f"a pod's end after damage {number}", lambda name=f"after{number}": ran(name))
        cluster.stop()
    cluster.remove()


run()
