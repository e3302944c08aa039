#!/usr/bin/env python3
"""Images: names, archives that are damaged, large, or lead elsewhere, and root file systems that wait for a reader."""
import gzip
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile

import lib
from image_files import CAN_RUN, HAS_TOOLS, entry, shell_root
from lib import Cluster, Skipped, expect, row, run, wait_for

PODS = "/api/v1/namespaces/default/pods"


class Store:
    """A data folder of its own, and archives beside it."""

    def __init__(self, data=None):
        self.scratch = tempfile.mkdtemp(prefix="volcano-hostile.")
        self.data = data or os.path.join(self.scratch, "data")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def tar(self, name, *entries):
        """An archive of (TarInfo, bytes) pairs."""
        with tarfile.open(self.path(name), "w") as archive:
            for info, content in entries:
                if content is not None:
                    info.size = len(content)
                archive.addfile(info, io.BytesIO(content or b""))
        return self.path(name)

    def run_import(self, name, file, *flags):
        done = subprocess.run([lib.VOLCANO, "image", "import", "--data", self.data, *flags, "--", name, file], capture_output=True, timeout=300)
        return done.returncode, (done.stdout + done.stderr).decode(errors="strict")

    def refuses(self, name, file, words, *flags):
        """The import fails, says why in text, and leaves nothing."""
        code, said = self.run_import(name, file, *flags)
        expect(code not in (0, -11, -6), f"{file}: {code} {said[:300]}")
        expect(words in said, f"{words!r} is not in: {said[:400]}")
        self.expect_nothing()

    def expect_nothing(self):
        images = os.path.join(self.data, "node/images")
        left = [entry for entry in os.listdir(images) if entry not in ("index.json", "lock")] if os.path.isdir(images) else []
        expect(not left, f"left in the store: {left}")


@row("names that are not names of images", "a refusal that says so")
def names():
    with Store() as store:
        file = store.tar("root.tar", (entry("etc/hostname"), b"x"))
        for name in ("", "-x", "--data=/", "../../etc", "a/../b", "A/b", "a:", "a:b:c", "a@sha256:zz", "a b", "a\nb", "é", "x" * 300, "host:99999999/a", "a//b", "/a"):
            store.refuses(name, file, "image name")
        code, said = store.run_import("registry.example:5000/team/app:v1", file)
        expect(code == 0, said)


@row("the name of a node that is none", "volcano up says so and ends")
def node_names():
    with Store() as store:
        for name in ("A", "a_b", "-a", "a/../b", "a" * 300, "a..b", "é"):
            done = subprocess.run([lib.VOLCANO, "up", "--data", store.data, "--port", "0", "--node-name", name], capture_output=True, timeout=20)
            expect(done.returncode == 2 and b"node name" in done.stderr, f"{name}: {done.returncode} {done.stderr[:200]}")


@row("files that are not archives: a FIFO, a device, noise, nothing, a cut one", "a refusal, at once")
def no_archives():
    with Store() as store:
        os.mkfifo(store.path("fifo"))
        store.refuses("a", store.path("fifo"), "not a regular file")
        store.refuses("a", "/dev/zero", "not a regular file")
        store.refuses("a", store.path("none"), "cannot read")
        with open(store.path("noise"), "wb") as file:
            file.write(os.urandom(100000))
        store.refuses("a", store.path("noise"), "not a tar archive")
        whole = store.tar("whole.tar", (entry("a"), b"x" * 100000))
        with open(whole, "rb") as file, open(store.path("cut.tar"), "wb") as cut:
            cut.write(file.read()[:5000])
        store.refuses("a", store.path("cut.tar"), "not a tar archive")
        with open(store.path("name\udcff.tar".encode(errors="surrogateescape").decode("latin1")), "wb"):
            pass


@row("entries with absolute names, with .., and through links", "nothing is written outside the store")
def entries_that_lead_out():
    with Store() as store:
        outside = store.path("outside")
        os.mkdir(outside)
        store.refuses("a", store.tar("up.tar", (entry("../../../outside/up"), b"x")), "..")
        store.refuses("a", store.tar("through.tar", (entry("a", tarfile.SYMTYPE, outside), None), (entry("a/through"), b"x")), "tar")
        code, said = store.run_import("b", store.tar("absolute.tar", (entry(outside + "/absolute"), b"x"), (entry("h", tarfile.LNKTYPE, outside + "/absolute"), None)))
        expect(code == 0, said)
        expect(os.listdir(outside) == [], f"written outside: {os.listdir(outside)}")


@row("device nodes", "those in dev/ are left out, others refused")
def devices():
    if os.geteuid() != 0:
        raise Skipped("only root can make device nodes")
    with Store() as store:
        store.refuses("a", store.tar("device.tar", (entry("etc/disk", tarfile.BLKTYPE), None)), "device")
        code, said = store.run_import("b", store.tar("dev.tar", (entry("dev", tarfile.DIRTYPE), None), (entry("dev/sda", tarfile.BLKTYPE), None)))
        expect(code == 0, said)
        for folder, _, files in os.walk(store.data):
            expect("sda" not in files, f"{folder}/sda")


@row("an archive that unpacks to more than it may", "it is stopped, and what was unpacked is gone")
def bomb():
    with Store() as store:
        with gzip.open(store.path("bomb.tar.gz"), "wb", compresslevel=1) as packed:
            info = entry("zeros")
            info.size = 3 << 30
            packed.write(info.tobuf(tarfile.GNU_FORMAT))
            zeros = b"\0" * (16 << 20)
            for _ in range(info.size // len(zeros)):
                packed.write(zeros)
        store.refuses("a", store.path("bomb.tar.gz"), "more than 1024 MiB", "--image-gib", "1")


@row("a sparse file of 8 EB", "it costs nothing, or is refused")
def sparse():
    with Store() as store:
        with tarfile.open(store.path("sparse.tar"), "w", format=tarfile.PAX_FORMAT) as archive:
            info = entry("sparse")
            info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "sparse", "GNU.sparse.realsize": str((1 << 63) - 1)}
            content = b"1\n0\n0\n".ljust(512, b"\0")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        code, said = store.run_import("a", store.path("sparse.tar"))
        if code != 0:
            store.expect_nothing()
        used = sum(os.lstat(os.path.join(folder, name)).st_blocks for folder, _, files in os.walk(store.data) for name in files)
        expect(used < 4096, f"{used} blocks: {said}")


def docker_archive(store, name, manifest, **blobs):
    entries = [(entry("manifest.json"), manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode())]
    for blob, content in blobs.items():
        entries.append((entry(blob.replace("_", ".")), content))
    return store.tar(name, *entries)


@row("docker and OCI archives with damaged JSON, missing parts, digests that are paths", "a refusal, nothing left")
def damaged_archives():
    if not HAS_TOOLS:
        raise Skipped("skopeo or umoci is not installed")
    with Store() as store:
        config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}, "config": {}}).encode()
        for number, archive in enumerate((
                docker_archive(store, "1.tar", b"{"), docker_archive(store, "2.tar", []), docker_archive(store, "3.tar", b"\xff\xfe\0"),
                docker_archive(store, "4.tar", [{"Config": "../../../../etc/shadow", "RepoTags": [], "Layers": []}]),
                docker_archive(store, "5.tar", [{"Config": "c.json", "Layers": ["gone.tar"]}], c_json=config),
                docker_archive(store, "6.tar", b"[" * 100000),
                store.tar("7.tar", (entry("oci-layout"), b'{"imageLayoutVersion":"1.0.0"}'), (entry("index.json"), b"{]")),
                store.tar("8.tar", (entry("oci-layout"), b'{"imageLayoutVersion":"1.0.0"}'),
                          (entry("index.json"), json.dumps({"schemaVersion": 2, "manifests": [{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:../../../x", "size": 2}]}).encode())))):
            store.refuses(f"damaged{number}", archive, "volcano image: ")


@row("an image of thousands of layers", "a refusal that counts them")
def many_layers():
    if not HAS_TOOLS:
        raise Skipped("skopeo or umoci is not installed")
    with Store() as store:
        import hashlib
        empty = io.BytesIO()
        with tarfile.open(fileobj=empty, mode="w"):
            pass
        layer = empty.getvalue()
        digest = "sha256:" + hashlib.sha256(layer).hexdigest()
        config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [digest] * 2000}}).encode()
        archive = docker_archive(store, "layers.tar", [{"Config": "c.json", "RepoTags": ["a:b"], "Layers": ["l.tar"] * 2000}], c_json=config, l_tar=layer)
        store.refuses("layers", archive, "layers")


def pod(name, image, **container):
    main = {"name": "main", "image": image, "imagePullPolicy": "Never", "command": ["/bin/sh", "-c", "echo ran"]}
    main.update(container)
    return {"metadata": {"name": name}, "spec": {"nodeName": "n1", "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [main]}}


@row("root file systems whose etc/passwd is a FIFO, a link out, a device's name, 100 MB, a folder, not UTF-8", "the pod ends and goes, the program stops")
def passwd_files():
    if not CAN_RUN:
        raise Skipped("containers need root, runc, conmon and ip")
    cluster = Cluster("--node-name", "n1", "--runtime", "runc")
    try:
        with Store(cluster.data) as store:
            kinds = {
                "fifo": (entry("etc/passwd", tarfile.FIFOTYPE), None), "out": (entry("etc/passwd", tarfile.SYMTYPE, "/../../../../../../etc/shadow"), None),
                "zero": (entry("etc/passwd", tarfile.SYMTYPE, "/dev/zero"), None), "huge": (entry("etc/passwd"), b"a:x:1:1::/:/bin/sh\n" * 6_000_000),
                "folder": (entry("etc/passwd", tarfile.DIRTYPE), None), "bytes": (entry("etc/passwd"), b"root:x:0:0:\xff:/h\xff\xfe:/bin/sh\n"),
                "loop": (entry("etc/passwd", tarfile.SYMTYPE, "passwd"), None)}
            for kind, made in kinds.items():
                code, said = store.run_import(kind, store.tar(f"{kind}.tar", (entry("etc", tarfile.DIRTYPE), None), made, *shell_root()))
                expect(code == 0, f"{kind}: {said}")
                cluster.create(PODS, pod(kind, kind))
            for kind in kinds:
                def over(name=kind):
                    status = cluster.get(f"{PODS}/{name}")[1]["status"]
                    return status.get("phase") in ("Succeeded", "Failed") and status
                status = wait_for(60, f"the end of {kind}", over)
                state = status["containerStatuses"][0]["state"]["terminated"]
                if kind in ("fifo", "huge", "folder", "loop"):
                    expect(state["reason"] == "StartError" and "etc/passwd" in state["message"], f"{kind}: {state}")
                else:  # the runtime reads the file, too, inside the container
                    expect(state["exitCode"] == 0 or kind == "zero", f"{kind}: {state}")
                cluster.request("DELETE", f"{PODS}/{kind}")
                wait_for(30, f"the deletion of {kind}", lambda name=kind: cluster.get(f"{PODS}/{name}")[0] == 404)
        cluster.check_healthy()
    finally:
        try:
            cluster.stop()
        finally:
            cluster.remove()


@row("an archive with a name of two gigabytes, which tar holds as a whole", "refused before that much is held")
def a_name_without_end():
    with Store() as store:
        header = tarfile.TarInfo("././@LongLink")
        header.type, header.size = tarfile.GNUTYPE_LONGNAME, 2 << 30
        with open(store.path("long.tar"), "wb") as file:
            file.write(header.tobuf(tarfile.GNU_FORMAT))
            file.truncate(512 + (2 << 30) + 1024)  # holes
        store.refuses("long", store.path("long.tar"), "has a name, or a header, that is longer than 256 MiB")
        import resource
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        expect(most < 400 * lib.MEMORY, f"{most} MiB were held")
        # Names that file systems cannot have are refused when they are unpacked, and nothing stays.
        with tarfile.open(store.path("deep.tar"), "w", format=tarfile.GNU_FORMAT) as archive:
            archive.addfile(entry("x" * 5000), io.BytesIO(b""))
        store.refuses("deep", store.path("deep.tar"), "tar: xxx")


@row("an image with a setuid program is imported before the first start, into a folder with a generous umask; or somebody opens the folder later",
     "only its owner enters the data folder, whoever made it; the next program that writes there closes it and says so")
def data_folders_that_others_could_enter():
    def mode(folder):
        return os.stat(folder).st_mode & 0o7777
    with Store() as store:
        store.data = store.path("a/b/data")
        image = store.tar("image.tar", (entry("bin", tarfile.DIRTYPE), None), (entry("bin/su", mode=0o4755), b"#!/bin/sh\n"))
        before = os.umask(0)
        try:
            code, said = store.run_import("setuid", image)
        finally:
            os.umask(before)
        expect(code == 0 and mode(store.data) == 0o700, f"{code} {said}: mode {mode(store.data):o}")
        os.chmod(store.data, 0o755)
        code, said = store.run_import("again", image)
        expect(code == 0 and mode(store.data) == 0o700 and "had mode 0755" in said, f"{code} {said}: mode {mode(store.data):o}")
        os.chmod(store.data, 0o711)
        done = subprocess.run([lib.VOLCANO, "image", "remove", "--data", store.data, "again"], capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0 and mode(store.data) == 0o700 and "had mode 0711" in done.stderr, f"{done}: mode {mode(store.data):o}")
        cluster = Cluster("--runtime", "process", "--components", "apiserver", start=False)
        cluster.data = store.data
        os.chmod(store.data, 0o2775)
        try:
            cluster.start()
            expect(mode(store.data) == 0o700 and "had mode 2775" in cluster.output(), cluster.output()[-500:])
            cluster.check_healthy()
            cluster.stop()
            at = os.path.getsize(cluster.log)
            cluster.start()
            expect("had mode" not in cluster.output(at), "a folder that was closed already is told of")
            cluster.stop()
            for words in (["backup"], ["restore"], ["user", "create", "x"]):
                fresh = store.path("fresh-" + words[0])
                if words[0] == "restore":
                    words = ["restore", "--data", fresh, store.path("backup")]
                elif words[0] == "backup":
                    words = ["backup", "--data", store.data, store.path("backup")]
                else:
                    os.chmod(store.data, 0o750)
                    words = ["user", "create", "--data", store.data, "--output", store.path("x.kubeconfig"), "--server", "https://127.0.0.1:1", "x"]
                done = subprocess.run([lib.VOLCANO, *words], capture_output=True, text=True, timeout=60)
                expect(done.returncode == 0, f"{words}: {done.stderr}")
            expect(mode(store.path("fresh-restore")) == 0o700 and mode(store.data) == 0o700, "restore or user create left it open")
        finally:
            cluster.remove()


@row("--data names a folder of something else, such as /tmp or a home",
     "it is refused, and its mode stays; a new file system's folder is taken")
def data_folders_of_something_else():
    with Store() as store:
        image = store.tar("image.tar", (entry("etc", tarfile.DIRTYPE), None))
        store.data = store.path("home")
        os.makedirs(store.path("home/project"))
        os.chmod(store.data, 0o1777)
        code, said = store.run_import("one", image)
        mode = os.stat(store.data).st_mode & 0o7777
        expect(code == 1 and mode == 0o1777 and "name a folder of its own" in said, f"{code} {said}: mode {mode:o}")
        expect(os.listdir(store.data) == ["project"], os.listdir(store.data))
        os.rename(store.path("home/project"), store.path("home/lost+found"))
        code, said = store.run_import("one", image)
        expect(code == 0 and os.stat(store.data).st_mode & 0o7777 == 0o700, f"{code} {said}")


@row("a data folder on a file system that is mounted nosuid and nodev, as docs/operations/security.md recommends", "setuid programs of an image work in containers all the same")
def setuid_in_containers_of_a_nosuid_folder():
    if not CAN_RUN:
        raise Skipped("containers need root, runc, conmon and ip")
    cluster = Cluster("--node-name", "n1", "--runtime", "runc", start=False)
    os.makedirs(cluster.data)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "nosuid,nodev", "tmpfs", cluster.data], capture_output=True).returncode != 0:
        raise Skipped("no file system can be mounted here")
    try:
        with Store(cluster.data) as store:
            entries = shell_root()
            have = {info.name for info, _ in entries}
            for word in subprocess.run(["ldd", "/usr/bin/id"], capture_output=True, text=True, check=True).stdout.split():
                if word.startswith("/") and word[1:] not in have:
                    with open(word, "rb") as file:
                        entries.append((entry(word[1:]), file.read()))
            with open("/usr/bin/id", "rb") as file:
                entries.append((entry("bin/id", mode=0o4755), file.read()))
            code, said = store.run_import("setuid", store.tar("setuid.tar", *entries))
            expect(code == 0, said)
            cluster.start()
            cluster.create(PODS, {"metadata": {"name": "p"}, "spec": {"nodeName": "n1", "restartPolicy": "Never", "securityContext": {"runAsUser": 1000, "runAsGroup": 1000},
                                                                       "containers": [{"name": "c", "image": "setuid", "command": ["/bin/id"]}]}})
            wait_for(30, "the end of the pod", lambda: cluster.get(f"{PODS}/p")[1]["status"].get("phase") in ("Succeeded", "Failed"))
            said = cluster.get(f"{PODS}/p/log")[1]
            expect("uid=1000" in said and "euid=0" in said, said)
            cluster.stop()
    finally:
        cluster.kill()
        subprocess.run(["umount", "--lazy", cluster.data], check=False)
        cluster.remove()


if __name__ == "__main__":
    run()
