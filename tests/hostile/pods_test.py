#!/usr/bin/env python3
"""What pods do to the agent, to the machine and to one another: messages, files, forks, ends at bad moments. Needs root
and runc; the host's own root file system stands in for images."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import lib
from containers import CAN_RUN, PODS, create, delete, ended, is_running, log_of, pod, run_rows, start, state, status
from lib import Failed, Skipped, expect, row, wait_for


def bridge_of(cluster):
    with open(os.path.join(cluster.data, "node/network.json")) as kept:
        return json.load(kept)["bridge"]


def marks(cluster):
    """What of the cluster is on the machine: mounts, control groups, links, processes."""
    found = []
    with open("/proc/self/mountinfo") as mounts:
        found += [line.split()[4] for line in mounts if cluster.scratch in line]
    listed = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout
    bridge = bridge_of(cluster)
    found += [line for line in listed.splitlines() if bridge in line]
    group = "volcano-" + bridge[4:]
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        found += [os.path.join(folder, name) for name in names if name == group]
        if folder.count("/") > 4:
            names.clear()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                if cluster.scratch.encode() in line.read():
                    found.append(f"process {pid}")
        except OSError:
            pass
    return found


def end(cluster, seconds=15):
    """A stop, after which nothing is left on the machine."""
    cluster.stop(seconds)
    left = wait_for_nothing(cluster)
    expect(not left, f"left behind: {left[:5]}")
    cluster.remove()


def discard(cluster):
    """After a row, whatever came of it: pods must not outlive the test."""
    try:
        cluster.stop(45)
    except Failed:
        pass
    cluster.remove()


def wait_for_nothing(cluster):
    for _ in range(40):
        left = marks(cluster)
        if not left:
            break
        time.sleep(0.1)
    return left


# --- what containers say ---


@row("a termination log that is not UTF-8", "the message is text, and the program answers")
def message_with_bad_utf8(cluster):
    create(cluster, "bad-utf8", r"printf 'caf\351 \377\376 end' > /dev/termination-log; exit 3")
    expect(ended(cluster, "bad-utf8")["message"] == "caf\ufffd \ufffd\ufffd end", "the message")
    delete(cluster, "bad-utf8")


@row("a termination log whose last 4096 bytes begin inside a character", "the cut falls between characters")
def message_cut_inside_a_character(cluster):
    create(cluster, "cut", r"""i=0; while [ $i -lt 2000 ]; do printf '\342\202\254'; i=$((i+1)); done > /dev/termination-log""")
    message = ended(cluster, "cut")["message"]
    expect(set(message) == {"€"} and 4000 < len(message.encode()) <= 4096, f"{len(message)} {set(message)}")
    delete(cluster, "cut")


@row("a log that is not UTF-8 and FallbackToLogsOnError", "the log's end is the message, as text")
def log_as_message(cluster):
    create(cluster, "fallback", r"i=0; while [ $i -lt 900 ]; do printf 'caf\351 \342\202\254'; i=$((i+1)); done; echo; exit 1",
           {"terminationMessagePolicy": "FallbackToLogsOnError"})
    message = ended(cluster, "fallback")["message"]
    expect("caf\ufffd €" in message and len(message.encode()) <= 2048, message[:50])
    delete(cluster, "fallback")


@row("a sparse termination log of 9 GB", "its end is read, and nothing else")
def sparse_message(cluster):
    before = cluster.rss_mib()
    create(cluster, "sparse", "truncate -s 9G /dev/termination-log; printf because >> /dev/termination-log; exit 1")
    expect(ended(cluster, "sparse")["message"].endswith("because"), "the message")
    expect(cluster.rss_mib() < before + 100, f"{before} MiB became {cluster.rss_mib()}")
    delete(cluster, "sparse")


@row("the termination log replaced by a FIFO, a device, a folder, a link to /etc/shadow", "the pod ends and goes")
def message_file_replaced(cluster):
    for name, script in (("fifo", "mkfifo $f"), ("device", "mknod $f c 1 8"), ("folder", "mkdir $f"), ("link", "ln -s /etc/shadow $f")):
        create(cluster, f"by-{name}", f"f=/dev/termination-log; umount $f; rm -f $f; {script}; exit 1", {"securityContext": {"privileged": True}})
        create(cluster, f"beside-{name}", f"f=/v/log; rm -f $f; {script}; exit 1",
               {"terminationMessagePath": "/v/log", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}, volumes=[{"name": "v", "emptyDir": {}}])
    for name in ("fifo", "device", "folder", "link"):
        for prefix in ("by", "beside"):
            message = ended(cluster, f"{prefix}-{name}").get("message", "")
            expect("root:" not in message, "the host's shadow file is in the status")
            delete(cluster, f"{prefix}-{name}")


@row("a subPath that a container exchanges for a link out of the volume", "the container is refused")
def sub_path_that_is_a_link(cluster):
    mounts = [{"name": "v", "mountPath": "/v"}]
    second = {"name": "second", "image": "i", "command": ["sh", "-c", "cat /sub/shadow"], "volumeMounts": [{"name": "v", "mountPath": "/sub", "subPath": "a/b"}]}
    body = pod("sub", "true", volumes=[{"name": "v", "emptyDir": {}}])
    body["spec"]["initContainers"] = [{"name": "first", "image": "i", "command": ["sh", "-c", "ln -s /etc /v/a"], "volumeMounts": mounts}]
    body["spec"]["containers"] = [second]
    cluster.create(PODS, body)
    done = ended(cluster, "sub")
    expect(done["reason"] == "StartError" and "leaves the volume" in done["message"], str(done))
    expect(done["startedAt"] == "1970-01-01T00:00:00Z" and done["finishedAt"] > "2020", "the times of a start that failed")
    delete(cluster, "sub")


@row("a program that is not there, with a name that is not UTF-8 once cut", "StartError says so at once")
def program_not_there(cluster):
    create(cluster, "noprog", "true", {"command": ["no-such-" + "€" * 1000]})
    done = ended(cluster, "noprog")
    expect(done["reason"] == "StartError" and "no-such-" in done["message"], str(done)[:300])
    delete(cluster, "noprog")


@row("a FIFO of a volume where the runtime looks for users", "the start fails in time, and the pod goes with all its processes")
def passwd_is_a_fifo_of_a_volume(cluster):
    body = pod("waits", "true", volumes=[{"name": "v", "emptyDir": {}}])
    body["spec"]["initContainers"] = [{"name": "first", "image": "i", "command": ["mkfifo", "/v/passwd"], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]
    body["spec"]["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/etc/passwd", "subPath": "passwd"}]
    cluster.create(PODS, body)
    uid = cluster.get(f"{PODS}/waits")[1]["metadata"]["uid"]
    expect(ended(cluster, "waits", 150)["reason"] == "StartError", str(state(cluster, "waits")))
    delete(cluster, "waits")
    search = ["find", "/sys/fs/cgroup", "-name", f"pod{uid}"]
    wait_for(20, "the end of its control groups", lambda: not subprocess.run(search, capture_output=True).stdout)


# --- what containers take ---


@row("25,000 nested folders in an emptyDir", "the pod and its folder go")
def nested_folders(cluster):
    script = "import os\nfor i in range(25000):\n os.mkdir('d'); os.chdir('d')\n"
    create(cluster, "nested", "true", {"command": ["python3", "-c", "import os; os.chdir('/v')\n" + script],
                                       "volumeMounts": [{"name": "v", "mountPath": "/v"}]}, volumes=[{"name": "v", "emptyDir": {}}])
    uid = cluster.get(f"{PODS}/nested")[1]["metadata"]["uid"]
    ended(cluster, "nested", 120)
    delete(cluster, "nested", 400)
    wait_for(200, "the end of its folder", lambda: not os.path.exists(os.path.join(cluster.data, "node/pods", uid)))


@row("a fork bomb", "the pids limit holds it, and other pods start")
def fork_bomb(cluster):
    # A shell that cannot fork any more ends, and starts the bomb again.
    create(cluster, "bomb", "while :; do sh -c 'while :; do sleep 1000 & done' 2> /dev/null; done")
    is_running(cluster, "bomb")
    most, end = 0, time.time() + 20 * lib.PATIENCE
    while most < 4096 and time.time() < end:
        groups = subprocess.run("cat /sys/fs/cgroup/pids/volcano-*/pod*/pids.current /sys/fs/cgroup/volcano-*/pod*/pids.current 2> /dev/null",
                                shell=True, capture_output=True, text=True).stdout.split()
        most = max([most, *map(int, groups)])
    expect(1000 < most <= 4096, f"processes: {most}")
    create(cluster, "beside", "echo fine")
    expect(ended(cluster, "beside", 60)["exitCode"] == 0, "the other pod")
    delete(cluster, "beside")
    delete(cluster, "bomb", 90)


@row("system calls outside the default profile", "they fail, and with Unconfined they are the kernel's to judge")
def seccomp(cluster):
    script = "grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status; unshare -U true && echo unshared"
    for name, context, seccomp_mode, privileges in (
            ("usual", {}, 2, 0), ("unconfined", {"seccompProfile": {"type": "Unconfined"}}, 0, 0),
            ("restricted", {"seccompProfile": {"type": "RuntimeDefault"}, "allowPrivilegeEscalation": False}, 2, 1)):
        create(cluster, f"seccomp-{name}", script, {"securityContext": context})
        ended(cluster, f"seccomp-{name}")
        text = log_of(cluster, f"seccomp-{name}")
        expect(f"Seccomp:\t{seccomp_mode}" in text and f"NoNewPrivs:\t{privileges}" in text, text)
        expect(seccomp_mode == 0 or "unshared" not in text, f"a new user namespace: {text}")
        delete(cluster, f"seccomp-{name}")
    def local(file):
        return {"securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": file}}}

    code, answer = cluster.request("POST", PODS, pod("seccomp-outside", "true", local("../../../etc/shadow")))
    expect(code == 422 and "must not contain" in str(answer), f"{code} {answer}")
    # A file that is missing may come.
    create(cluster, "seccomp-late", "true", local("late.json"))
    wait_for(20, "the wish", lambda: "late.json" in (state(cluster, "seccomp-late", "waiting") or {}).get("message", ""))
    os.makedirs(os.path.join(cluster.data, "node/seccomp"), exist_ok=True)
    with open(os.path.join(cluster.data, "node/seccomp/late.json"), "w") as profile:
        profile.write('{"defaultAction": "SCMP_ACT_ALLOW"}')
    expect(ended(cluster, "seccomp-late")["exitCode"] == 0, str(state(cluster, "seccomp-late")))
    delete(cluster, "seccomp-late")


@row("fields of a security context that this node cannot obey", "the pod is refused, and the field is named")
def refused_contexts(cluster):
    for number, (where, context, named) in enumerate((
            ("container", {"procMount": "Unmasked"}, "procMount"), ("container", {"seLinuxOptions": {"level": "s0"}}, "seLinuxOptions"),
            ("container", {"windowsOptions": {"hostProcess": True}}, "windowsOptions"), ("container", {"capabilities": {"add": ["FLY"]}}, "capabilities.add"),
            ("pod", {"sysctls": [{"name": "kernel.panic", "value": "1"}]}, "sysctls"), ("pod", {"appArmorProfile": {"type": "Localhost", "localhostProfile": "nope"}}, "appArmorProfile"),
            ("spec", {"hostUsers": False, "hostPID": True}, "hostPID"), ("spec", {"hostUsers": False, "hostNetwork": True}, "hostNetwork"))):
        name = f"refused-{number}"
        body = pod(name, "true")
        target = {"container": body["spec"]["containers"][0].setdefault("securityContext", {}), "pod": body["spec"].setdefault("securityContext", {}), "spec": body["spec"]}[where]
        target.update(context)
        code, answer = cluster.request("POST", PODS, body)
        if code == 422 or code == 400:
            expect(named.split(".")[0] in str(answer), f"{code} {answer}")
            continue
        wait_for(20, f"the refusal of {named}", lambda: status(cluster, name).get("phase") == "Failed")
        expect(named in status(cluster, name)["message"], status(cluster, name)["message"])
        delete(cluster, name)


@row("an id that the pod's user namespace does not have", "the pod is refused, and the field is named")
def refused_id(cluster):
    has_user_namespaces(cluster)
    create(cluster, "beyond", "true", hostUsers=False, securityContext={"runAsUser": 65536})
    wait_for(20, "the refusal", lambda: status(cluster, "beyond").get("phase") == "Failed")
    expect("runAsUser" in status(cluster, "beyond")["message"], status(cluster, "beyond")["message"])
    delete(cluster, "beyond")


def has_user_namespaces(cluster):
    """Whether this machine can have pods with hostUsers: false, as the node itself says."""
    create(cluster, "tries", "true", hostUsers=False)
    wait_for(30, "the end of tries", lambda: status(cluster, "tries").get("phase") in ("Succeeded", "Failed"))
    message = status(cluster, "tries").get("message", "")
    delete(cluster, "tries")
    if message:
        expect(message.startswith("spec.hostUsers: ") or "spec.hostUsers: " in message, message)
        raise Skipped(message)


def ids_on_the_host(cluster, name):
    """The host's ids of the processes of a pod."""
    uid = cluster.get(f"{PODS}/{name}")[1]["metadata"]["uid"]
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cgroup") as group, open(f"/proc/{pid}/status") as facts:
                if f"pod{uid}" in group.read():
                    found |= {int(word) for line in facts if line.startswith(("Uid:", "Gid:")) for word in line.split()[1:]}
        except OSError:
            pass
    return found


def full_of_volumes(name, script, host_folder, **more):
    """A pod with hostUsers: false and a volume of every kind."""
    volumes = {"empty": {"emptyDir": {}}, "memory": {"emptyDir": {"medium": "Memory"}}, "config": {"configMap": {"name": "of-users"}},
               "secret": {"secret": {"secretName": "of-users", "defaultMode": 0o400}}, "host": {"hostPath": {"path": host_folder}}}
    mounts = [{"name": volume, "mountPath": f"/mnt/{volume}"} for volume in volumes] + [{"name": "empty", "mountPath": "/mnt/sub", "subPath": "a/b"}]
    return pod(name, script, {"volumeMounts": mounts, **more.pop("container", {})}, hostUsers=False,
               volumes=[{"name": volume, **source} for volume, source in volumes.items()], **more)


@row("pods with hostUsers: false", "root in them is nobody on the host, each has other ids, files work, and nothing of them stays")
def own_users(_):
    cluster = start()
    try:
        has_user_namespaces(cluster)
        cluster.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "of-users"}, "data": {"k": "of config"}})
        cluster.create("/api/v1/namespaces/default/secrets", {"metadata": {"name": "of-users"}, "stringData": {"k": "of secret"}})
        host_folder = os.path.join(cluster.scratch, "shared")
        os.mkdir(host_folder, 0o700)
        with open(os.path.join(host_folder, "secret"), "w") as file:
            file.write("of host\n")
        os.chmod(os.path.join(host_folder, "secret"), 0o600)
        script = """set -e
echo map $(cat /proc/self/uid_map) / $(cat /proc/self/gid_map)
echo I am $(id -u) $(id -g)
echo owners $(stat -c %u:%g / /usr /etc/hosts /mnt/empty /mnt/sub /mnt/config/k /mnt/host/secret | sort -u)
for at in /new /usr/new /mnt/empty/new /mnt/memory/new /mnt/sub/new /mnt/host/new /etc/hosts /dev/termination-log; do echo written >> $at; done
mv /usr/bin/id /usr/bin/moved
echo $(cat /mnt/config/k) $(cat /mnt/secret/k) $(cat /mnt/host/secret)
chown 1000:1000 /mnt/empty/new
ls /sys/class/net | tr '\\n' ' '
mkdir /sys/fs/cgroup/*/evil 2> /dev/null && echo a control group
(echo 1 > /proc/sys/kernel/panic) 2> /dev/null && echo a setting of the host
echo listening; touch /mnt/host/ready-$HOSTNAME
while [ ! -e /mnt/host/go ]; do sleep 0.1; done"""
        firsts = []
        for name in ("users-a", "users-b"):
            cluster.create(PODS, full_of_volumes(name, script, host_folder))
        for name in ("users-a", "users-b"):
            wait_for(40, f"{name}", lambda n=name: os.path.exists(f"{host_folder}/ready-{n}") or state(cluster, n))
            text = log_of(cluster, name)
            expect(not state(cluster, name), f"{state(cluster, name)} {text}")
            first = int(text.split("map 0 ")[1].split()[0])
            expect(f"map 0 {first} 65536 / 0 {first} 65536" in text and first >= 65536 * 16 and first % 65536 == 0, text)
            expect("I am 0 0\nowners 0:0\nof config of secret of host\neth0 lo listening\n" in text, text)
            expect(ids_on_the_host(cluster, name) == {first} or min(ids_on_the_host(cluster, name)) >= first, f"ids on the host: {ids_on_the_host(cluster, name)}")
            expect(max(ids_on_the_host(cluster, name)) < first + 65536, f"ids on the host: {ids_on_the_host(cluster, name)}")
            firsts.append(first)
        expect(firsts[0] != firsts[1], f"both have {firsts[0]}")
        cluster.kill()  # what is mounted for them is known afterwards
        cluster.start()
        for name in ("users-a", "users-b"):
            is_running(cluster, name)
        with open(os.path.join(host_folder, "go"), "w"):
            pass
        for name in ("users-a", "users-b"):
            done = ended(cluster, name)
            expect(done["exitCode"] == 0 and done["message"] == "written\n", str(done))
            delete(cluster, name)
        wait_for(20, "the end of their mounts", lambda: not [mark for mark in marks(cluster) if "/pods/" in mark or "/rootfs" in mark])
        # Another user of the pod's and a root that is read-only; all rights; a volume that cannot be mounted for it.
        cluster.create(PODS, full_of_volumes("users-c", "id -u; echo x > /new || cat /mnt/empty/../config/k", host_folder,
                                             container={"securityContext": {"runAsUser": 1000, "readOnlyRootFilesystem": True}}))
        expect(ended(cluster, "users-c")["exitCode"] == 0, log_of(cluster, "users-c"))
        expect(log_of(cluster, "users-c").startswith("1000\n") and "of config" in log_of(cluster, "users-c"), log_of(cluster, "users-c"))
        script = "mount -t tmpfs none /mnt && echo mounted; mkdir /sys/fs/cgroup/*/evil 2> /dev/null && echo a control group; ls /dev/mem 2> /dev/null; true"
        create(cluster, "users-p", script, {"securityContext": {"privileged": True}}, hostUsers=False)
        expect(ended(cluster, "users-p")["exitCode"] == 0 and log_of(cluster, "users-p") == "mounted\n", f"{state(cluster, 'users-p')} {log_of(cluster, 'users-p')}")
        create(cluster, "users-h", "true", {"volumeMounts": [{"name": "all", "mountPath": "/all"}]}, hostUsers=False, volumes=[{"name": "all", "hostPath": {"path": "/"}}])
        expect('volume "all"' in ended(cluster, "users-h")["message"], str(state(cluster, "users-h")))
        create(cluster, "users-d", "sleep 1000", hostUsers=False)  # ended by the stop
        is_running(cluster, "users-d")
        with open("/proc/self/mountinfo") as mounts:
            roots = [line.split()[4] for line in mounts if line.split()[4].startswith("/run/volcano-" + bridge_of(cluster)[4:])]
        expect(len(roots) == 1, f"roots: {roots}")
        end(cluster)
        expect(not os.path.exists(os.path.dirname(os.path.dirname(roots[0]))), "its folder in /run")
    finally:
        discard(cluster)


@row("an environment in which every variable doubles the one before", "a refusal, not gigabytes")
def doubling_environment(cluster):
    variables = [{"name": "V0", "value": "x" * 100}] + [{"name": f"V{i}", "value": f"$(V{i - 1})$(V{i - 1})"} for i in range(1, 60)]
    create(cluster, "doubling", "true", {"env": variables})
    wait_for(20, "the refusal", lambda: (state(cluster, "doubling", "waiting") or {}).get("reason") == "CreateContainerConfigError")
    expect(cluster.rss_mib() < 700, f"{cluster.rss_mib()} MiB")
    delete(cluster, "doubling")


@row("amounts, modes, ids and periods at the end of the numbers", "the program lives, the pod runs or is refused")
def huge_numbers(cluster):
    huge = 9223372036854775807
    create(cluster, "huge-limits", "true", {"resources": {"limits": {"cpu": str(huge), "memory": str(huge)}, "requests": {"cpu": "1m", "memory": "1"}}})
    create(cluster, "huge-times", "true", activeDeadlineSeconds=2147483647, terminationGracePeriodSeconds=huge)
    for name in ("huge-limits", "huge-times"):
        wait_for(30, f"the end of {name}", lambda n=name: status(cluster, n).get("phase") in ("Succeeded", "Failed"))
        delete(cluster, name)
    body = pod("huge-user", "true")
    body["spec"]["containers"][0]["securityContext"] = {"runAsUser": huge}
    code, answer = cluster.request("POST", PODS, body)
    if code == 201:
        wait_for(20, "the refusal", lambda: status(cluster, "huge-user").get("phase") == "Failed")
        delete(cluster, "huge-user")


# --- what containers reach ---


@row("a pod that looks for the API server on the host's loopback", "nothing answers there; at the bridge it asks for credentials")
def loopback_of_the_host(cluster):
    script = (f"bridge=$(ip route | sed -n 's/default via \\([^ ]*\\).*/\\1/p'); for at in 127.0.0.1 localhost; do "
              f"(timeout 3 bash -c \"echo > /dev/tcp/$at/{cluster.port}\") 2> /dev/null && echo reached $at; done; echo $bridge")
    create(cluster, "reach", script)
    ended(cluster, "reach", 60)
    bridge = log_of(cluster, "reach").strip()
    expect(re.fullmatch(r"[0-9.]+", bridge), bridge)
    code = subprocess.run(["curl", "-sk", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}", f"https://{bridge}:{cluster.port}/api/v1/secrets"],
                          capture_output=True, text=True).stdout
    expect(code in ("401", "403"), f"without credentials: {code}")
    delete(cluster, "reach")


@row("a pod on the host's network that writes to /sys and to control groups", "the host's are read-only")
def control_groups_of_the_host(cluster):
    # /sys/fs/cgroup itself may be a folder of the container's own.
    script = "for at in /sys/fs/cgroup/* /sys/fs/cgroup/*/* /sys/kernel /sys/kernel/*; do mkdir $at/evil 2> /dev/null && echo made $at; done; echo done"
    create(cluster, "sys", script, hostNetwork=True)
    expect(ended(cluster, "sys")["exitCode"] == 0, str(state(cluster, "sys")))
    expect(log_of(cluster, "sys").strip() == "done", log_of(cluster, "sys"))
    expect(not os.path.exists("/sys/fs/cgroup/evil"), "a control group on the host")
    delete(cluster, "sys")


# --- ends at bad moments; each row has a cluster of its own beside the shared one ---


def guaranteed(name, script="true"):
    amounts = {"cpu": "10m", "memory": "64Mi"}
    return pod(name, script, {"resources": {"limits": amounts, "requests": amounts}})


@row("a program without CAP_SYS_RESOURCE", "pods of the class Guaranteed run")
def guaranteed_without_the_right(_):
    if shutil.which("setpriv") is None:
        raise Skipped("setpriv is not installed")
    wrapper = None
    cluster = start(start=False)
    program = lib.VOLCANO
    try:
        wrapper = os.path.join(cluster.scratch, "volcano")
        with open(wrapper, "w") as script:
            script.write(f'#!/bin/sh\nexec setpriv --bounding-set -sys_resource --inh-caps -sys_resource "{program}" "$@"\n')
        os.chmod(wrapper, 0o755)
        lib.VOLCANO = wrapper
        cluster.start()
        for number in range(5):
            cluster.create(PODS, guaranteed(f"g{number}"))
        for number in range(5):
            done = ended(cluster, f"g{number}")
            expect(done["exitCode"] == 0, str(done))
        end(cluster)
    finally:
        lib.VOLCANO = program
        discard(cluster)


@row("pods that end around a kill -9 of the program", "every end is seen, and every pod can be deleted")
def ends_around_a_kill(_):
    cluster = start()
    try:
        for round_number in range(3):
            names = []
            for number in range(20):
                names.append(create(cluster, f"r{round_number}-{number}", f"sleep {0.2 + number * 0.12:.2f}; exit {number % 2}"))
            time.sleep(1.0 + round_number * 0.7)
            cluster.kill()
            cluster.start()
            for number, name in enumerate(names):
                phase = wait_for(60, f"the end of {name}", lambda: status(cluster, name).get("phase") in ("Succeeded", "Failed") and status(cluster, name))
                expect(phase["phase"] == ("Failed" if number % 2 else "Succeeded"), f"{name}: {phase}")
                expect(state(cluster, name)["reason"] in ("Completed", "Error"), str(state(cluster, name)))
            for name in names:
                cluster.request("DELETE", f"{PODS}/{name}")
            for name in names:
                wait_for(60, f"the deletion of {name}", lambda: cluster.get(f"{PODS}/{name}")[0] == 404)
        cluster.check_healthy()
        end(cluster)
    finally:
        discard(cluster)


@row("a stop while pods ignore SIGTERM, write, and wait on FIFOs", "the program ends in time and leaves nothing")
def stop_with_hung_pods(_):
    cluster = start()
    try:
        for number in range(6):
            create(cluster, f"deaf-{number}", "trap '' TERM INT; mkfifo /tmp/f; while :; do (read x < /tmp/f) & sleep 1000; done",
                   terminationGracePeriodSeconds=3600)
        for number in range(6):
            is_running(cluster, f"deaf-{number}")
        end(cluster, 25)
    finally:
        discard(cluster)


@row("a runtime that hangs for ever", "the program ends all the same")
def stop_with_a_hung_runtime(_):
    if not CAN_RUN:
        raise Skipped("containers need root, runc, conmon and ip")
    cluster = start(start=False)
    try:
        tools = os.path.join(cluster.scratch, "bin")
        os.mkdir(tools)
        with open(os.path.join(tools, "conmon"), "w") as script:
            script.write(f"#!/bin/sh\necho $$ >> {cluster.scratch}/hung\nexec sleep 1000\n")
        os.chmod(os.path.join(tools, "conmon"), 0o755)
        old = os.environ["PATH"]
        os.environ["PATH"] = tools + ":" + old
        try:
            cluster.start()
        finally:
            os.environ["PATH"] = old
        for number in range(12):
            create(cluster, f"h{number}", "true")
        time.sleep(2)
        cluster.check_healthy()
        cluster.stop(45)
    finally:
        with open(os.path.join(cluster.scratch, "hung")) as pids:
            for pid in pids.read().split():
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        subprocess.run(["ip", "link", "del", bridge_of(cluster)], check=False)
        discard(cluster)


if __name__ == "__main__":
    run_rows()
