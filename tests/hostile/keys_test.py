#!/usr/bin/env python3
"""Keys: files that are empty, halves of pairs, of another CA, near their end; a server that was asked for TLS never serves
without; output that cannot be written; flags that make no sense."""
import os
import shutil
import socket
import subprocess

import lib
from lib import VOLCANO, Cluster, Failed, Skipped, expect, row, run, wait_for


def refuses(cluster, *says):
    """Starts and expects an end with a message that has all of `says`; nothing may listen meanwhile."""
    cluster.start(ready=False)
    try:
        code = cluster.process.wait(15)
    except subprocess.TimeoutExpired:
        raise Failed(f"it runs: {cluster.output()[-300:]}")
    said = cluster.output()
    expect(code == 1, f"exit code {code}: {said}")
    for word in says:
        expect(word in said, f"{word!r} is not in {said!r}")
    expect(" is up at " not in said, said)


def fresh():
    """A cluster that has run once, stopped."""
    cluster = Cluster("--runtime", "process")
    cluster.stop()
    open(cluster.log, "w").close()
    return cluster


@row("empty key files meant plain HTTP under an https banner, with the token accepted", "the file is named and nothing starts")
def empty_files():
    cluster = fresh()
    try:
        keys = os.path.join(cluster.data, "keys")
        for name in ["server.crt", "server.key", "ca.crt", "ca.key", "admin.crt", "admin.key", "token"]:
            path = os.path.join(keys, name)
            with open(path, "rb") as file:
                kept = file.read()
            for content in [b"", b"\n"]:
                open(cluster.log, "w").close()
                with open(path, "wb") as file:
                    file.write(content)
                refuses(cluster, path, "empty")
            with open(path, "wb") as file:
                file.write(kept)
        cluster.start()
        cluster.check_healthy()
        cluster.stop()
    finally:
        cluster.remove()


@row("a pipe in the place of a key held the start up for ever, deaf to SIGTERM", "the file is named and nothing starts")
def pipes():
    cluster = fresh()
    try:
        keys = os.path.join(cluster.data, "keys")
        kept = os.path.join(cluster.scratch, "kept")
        for name in ["server.crt", "server.key", "ca.crt", "ca.key", "admin.crt", "admin.key", "token", "sa.key"]:
            path = os.path.join(keys, name)
            os.rename(path, kept)
            os.mkfifo(path)
            open(cluster.log, "w").close()
            refuses(cluster, path, "it is not an ordinary file")
            os.remove(path)
            with open(path, "wb") as file:
                file.truncate(2 << 20)
            open(cluster.log, "w").close()
            refuses(cluster, path, "it has more than 1048576 bytes")
            os.rename(kept, path)
        os.remove(cluster.kubeconfig)
        os.mkfifo(cluster.kubeconfig)
        cluster.start()  # it is written anew
        cluster.stop()
        os.mkdir(f"{keys}/users")
        os.mkfifo(f"{keys}/users/1.crt")
        done = subprocess.run([VOLCANO, "user", "list", "--data", cluster.data], capture_output=True, text=True, timeout=20)
        expect(done.returncode == 1 and f"{keys}/users/1.crt: it is not an ordinary file" in done.stderr, f"{done.returncode} {done.stderr}")
    finally:
        cluster.remove()


@row("half a set of keys, or keys that do not fit together, started", "what is wrong is named and nothing starts")
def halves_and_strangers():
    cluster, other = fresh(), fresh()
    try:
        keys = os.path.join(cluster.data, "keys")
        strange = os.path.join(other.data, "keys")
        good = os.path.join(cluster.scratch, "good")
        shutil.copytree(keys, good)

        def with_change(change, *says):
            shutil.rmtree(keys)
            shutil.copytree(good, keys)
            change()
            open(cluster.log, "w").close()
            refuses(cluster, *says)
        for name in ["server.crt", "server.key", "ca.crt", "ca.key", "admin.crt", "admin.key"]:
            with_change(lambda: os.remove(f"{keys}/{name}"), name, "missing")
            with_change(lambda: open(f"{keys}/{name}", "w").write("nonsense"), f"{keys}/{name}")
        with_change(lambda: open(f"{keys}/sa.key", "w").write("nonsense"), f"{keys}/sa.key")
        for name in ["server", "ca", "admin"]:
            with_change(lambda: shutil.copy(f"{strange}/{name}.key", f"{keys}/{name}.key"), name, "belong together")

        def foreign(name):
            for end in ["crt", "key"]:
                shutil.copy(f"{strange}/{name}.{end}", f"{keys}/{name}.{end}")
        for name in ["server", "admin"]:
            with_change(lambda: foreign(name), f"{name}.crt", "not signed by the CA")

        def without_ca():
            os.remove(f"{keys}/ca.crt")
            os.remove(f"{keys}/ca.key")
        with_change(without_ca, "ca.crt", "missing")
        with_change(lambda: open(f"{keys}/token", "w").write("two words"), "token")
    finally:
        cluster.remove()
        other.remove()


@row("the certificate of somebody else in the place of the administrator's was taken, and put into the kubeconfig", "it is named and nothing starts")
def another_administrator():
    cluster = fresh()
    try:
        keys = os.path.join(cluster.data, "keys")
        for end in ["crt", "key"]:
            shutil.copy(f"{keys}/admin.{end}", f"{cluster.scratch}/admin.{end}")
        for subject, says in [("/CN=jane", '"jane" in no group'), ("/O=dev/O=ops/CN=volcano-admin", '"volcano-admin" in "dev", "ops"'),
                              ("/O=system:masters/CN=jane", '"jane" in "system:masters"')]:
            with open(f"{cluster.scratch}/extensions", "w") as file:
                file.write("extendedKeyUsage=clientAuth\n")
            openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{keys}/admin.key")
            openssl("req", "-new", "-key", f"{keys}/admin.key", "-subj", subject, "-out", f"{cluster.scratch}/request")
            openssl("x509", "-req", "-in", f"{cluster.scratch}/request", "-days", "500", "-extfile", f"{cluster.scratch}/extensions",
                    "-CA", f"{keys}/ca.crt", "-CAkey", f"{keys}/ca.key", "-set_serial", "77", "-out", f"{keys}/admin.crt")
            was = open(f"{keys}/admin.crt").read()
            open(cluster.log, "w").close()
            refuses(cluster, f'{keys}/admin.crt is the certificate of {says}, not that of "volcano-admin" in "system:masters"', f"remove {keys}/admin.crt and")
            expect(open(f"{keys}/admin.crt").read() == was, "it has been replaced")
        for end in ["crt", "key"]:
            os.remove(f"{keys}/admin.{end}")
        cluster.start()  # as the message says
        code, out = lib.kubectl(cluster, "auth", "can-i", "*", "*")
        expect(code == 0, out)
        cluster.stop()
    finally:
        cluster.remove()


def openssl(*words):
    if not shutil.which("openssl"):
        raise Skipped("openssl is not installed")
    return subprocess.run(["openssl", *words], capture_output=True, text=True, check=True).stdout


@row("the administrator's key was in a form that Java clients cannot read", "EC PRIVATE KEY (SEC1), also for data folders made before")
def the_form_of_the_key():
    cluster = fresh()
    try:
        path = f"{cluster.data}/keys/admin.key"
        expect("BEGIN EC PRIVATE KEY" in open(path).read(), "the key is not SEC1")
        openssl("pkcs8", "-topk8", "-nocrypt", "-in", path, "-out", path + ".8")
        os.replace(path + ".8", path)
        expect("BEGIN PRIVATE KEY" in open(path).read(), "the key is not PKCS#8")
        cluster.start()
        import base64
        import re
        inside = base64.b64decode(re.search(r'client-key-data: "?([A-Za-z0-9+/=]+)', open(cluster.kubeconfig).read()).group(1))
        expect(b"BEGIN EC PRIVATE KEY" in inside, f"the kubeconfig has {inside[:40]}")
        code, out = lib.kubectl(cluster, "get", "namespaces")
        expect(code == 0, out)
        cluster.stop()
    finally:
        cluster.remove()


@row("the server certificate lacked the address that it was reached by", "it has --address, localhost and the host's name")
def names_of_the_certificate():
    for address, url, name in [("127.0.0.2", "https://127.0.0.2:", "127.0.0.2"), ("::1", "https://[::1]:", "0:0:0:0:0:0:0:1"),
                               ("0.0.0.0", "https://127.0.0.1:", "127.0.0.1")]:
        if address == "::1" and not os.path.exists("/proc/net/if_inet6"):
            continue
        cluster = Cluster("--runtime", "process", "--address", address, start=False)
        try:
            cluster.start(ready=False)
            wait_for(20, f"the start at {url}", lambda: f" is up at {url}" in cluster.output())
            shown = openssl("x509", "-in", f"{cluster.data}/keys/server.crt", "-noout", "-ext", "subjectAltName")
            for wanted in [name, "127.0.0.1", "localhost", socket.gethostname().lower()]:
                expect(wanted in shown, f"{wanted} is not in {shown}")
            code, out = lib.kubectl(cluster, "get", "namespaces")
            expect(code == 0, out)
            cluster.stop()
        finally:
            cluster.remove()


@row("a new CA was made without a word for a cluster whose users had certificates of the old one", "the start is refused until somebody wishes for one")
def no_new_ca_by_chance():
    cluster = fresh()
    try:
        keys, wish = os.path.join(cluster.data, "keys"), os.path.join(cluster.data, "new-keys")
        before = {name: open(f"{keys}/{name}").read() for name in ["sa.key", "token"]}
        old = os.path.join(cluster.scratch, "old")
        shutil.copytree(keys, old)
        shutil.rmtree(keys)
        for prepare in [lambda: None, lambda: os.mkdir(keys)]:  # the folder is gone, then empty
            prepare()
            open(cluster.log, "w").close()
            refuses(cluster, f"{keys}/ca.crt and {keys}/ca.key are missing, although there are objects", "every certificate", wish)
        expect(os.listdir(keys) == [], f"{os.listdir(keys)} is made")
        os.rmdir(keys)
        shutil.copytree(old, keys)
        cluster.start()  # they are put back
        cluster.stop()
        for name in ["ca.crt", "ca.key"]:
            os.remove(f"{keys}/{name}")
        open(wish, "w").close()
        open(cluster.log, "w").close()
        refuses(cluster, f"remove {keys}/server.crt and {keys}/server.key, too")
        for name in ["server", "admin"]:
            os.remove(f"{keys}/{name}.crt")
            os.remove(f"{keys}/{name}.key")
        cluster.start()
        expect("a new CA is made" in cluster.output(), cluster.output())
        cluster.check_healthy()
        cluster.stop()
        expect(not os.path.exists(wish), "the wish is still there")
        for name, text in before.items():
            expect(open(f"{keys}/{name}").read() == text, f"{name} has changed")
        open(wish, "w").close()  # one too many
        open(cluster.log, "w").close()
        ca = open(f"{keys}/ca.crt").read()
        cluster.start()
        cluster.stop()
        expect("has its CA, which stays" in cluster.output() and not os.path.exists(wish), cluster.output())
        expect(open(f"{keys}/ca.crt").read() == ca, "the CA has changed")
    finally:
        cluster.remove()


@row("a backup without keys was restored into a folder that could not start", "its first start makes new ones, once, and that is said")
def restored_without_keys():
    cluster = fresh()
    try:
        backup = f"{cluster.scratch}/backup"
        for words in [["backup", backup], ["restore", backup]]:
            done = subprocess.run([VOLCANO, *words, "--data", cluster.data], capture_output=True, text=True, timeout=20)
            expect(done.returncode == 0, done.stderr)
            if words[0] == "backup":
                shutil.rmtree(cluster.data)
        expect("The backup has no keys: that start makes new ones" in done.stdout, done.stdout)
        open(cluster.log, "w").close()
        cluster.port = 0  # no request before the token is there
        cluster.start()
        cluster.check_healthy()
        cluster.stop()
        expect("a new CA is made" in cluster.output() and f"{cluster.data}/keys/sa.key was missing" in cluster.output(), cluster.output())
        shutil.rmtree(f"{cluster.data}/keys")
        open(cluster.log, "w").close()
        refuses(cluster, "although there are objects")
    finally:
        cluster.remove()


@row("sa.key or the token that was lost was replaced without a word", "the log names the file and who is refused now")
def replaced_keys_are_said():
    cluster = fresh()
    try:
        for name, says in [("sa.key", "tokens of service accounts from before"), ("token", "whoever signs in with the old administrator's token")]:
            path = f"{cluster.data}/keys/{name}"
            os.remove(path)
            open(cluster.log, "w").close()
            cluster.port = 0  # no request before the token is there
            cluster.start()
            cluster.check_healthy()
            cluster.stop()
            expect(f"{path} was missing and is made anew: {says}" in cluster.output(), cluster.output())
            open(cluster.log, "w").close()
            cluster.start()
            cluster.stop()
            expect("missing" not in cluster.output(), cluster.output())
    finally:
        cluster.remove()


@row("a CA that was exchanged under a server signed certificates that the server refused", "nothing is signed, and the file is named")
def an_exchanged_ca():
    cluster, other = Cluster("--runtime", "process"), fresh()
    try:
        keys, strange = os.path.join(cluster.data, "keys"), os.path.join(other.data, "keys")
        good, count = os.path.join(cluster.scratch, "good"), 0
        shutil.copytree(keys, good)

        def asks():
            """Asks for a user, and for a certificate through the API; what both are told, and the request's status."""
            nonlocal count
            count += 1
            made = subprocess.run([VOLCANO, "user", "create", "jane", "--data", cluster.data, "--server", f"https://127.0.0.1:{cluster.port}", "-o", "-"],
                                  capture_output=True, text=True, timeout=20)
            openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=jane", "-out", f"{cluster.scratch}/request")
            import base64
            import json
            request = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": f"jane-{count}"},
                       "spec": {"request": base64.b64encode(open(f"{cluster.scratch}/request", "rb").read()).decode(),
                                "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]}}
            code, out = lib.kubectl(cluster, "create", "-f", "-", data=json.dumps(request))
            expect(code == 0, out)
            code, out = lib.kubectl(cluster, "certificate", "approve", f"jane-{count}")
            expect(code == 0, out)

            def answered():
                status = json.loads(lib.kubectl(cluster, "get", "csr", f"jane-{count}", "-o", "json")[1])["status"]
                return status if "certificate" in status or any(c["type"] == "Failed" for c in status["conditions"]) else None
            return made, wait_for(10, "an answer to the request", answered)

        def exchange(*names):
            for name in names:
                for end in ["crt", "key"]:
                    shutil.copy(f"{strange}/{name}.{end}", f"{keys}/{name}.{end}")
        for names, whose in [(["ca"], f"{keys}/server.crt"), (["ca", "server", "admin"], "the kubeconfig that the server wrote")]:
            exchange(*names)
            shutil.copy(cluster.kubeconfig, f"{cluster.data}/kubeconfig")  # where it is unless told otherwise
            made, status = asks()
            expect(made.returncode == 1 and made.stdout == "" and f"{keys}/ca.crt is not the CA of {whose}" in made.stderr, f"{made.returncode} {made.stderr}")
            told = [c["message"] for c in status["conditions"] if c["type"] == "Failed"]
            expect(told and f"{keys}/ca.crt is not the CA of the server that runs" in told[0], f"{status}")
        expect(not os.path.exists(f"{keys}/users"), "a copy of a certificate is left")
        shutil.rmtree(keys)
        shutil.copytree(good, keys)
        made, status = asks()  # once they are back
        expect(made.returncode == 0 and "certificate" in status, f"{made.stderr} {status}")
        exchange("ca", "server", "admin")
        cluster.stop()
        cluster.start()  # the new keys were meant
        shutil.copy(cluster.kubeconfig, f"{cluster.data}/kubeconfig")
        made, status = asks()
        expect(made.returncode == 0 and "certificate" in status, f"{made.stderr} {status}")
        cluster.stop()
    finally:
        cluster.remove()
        other.remove()


def backs_up(cluster, *says):
    """Asks for a backup with the keys and expects an error with all of `says`, and no file."""
    path = f"{cluster.scratch}/backup"
    done = subprocess.run([VOLCANO, "backup", "--keys", "--data", cluster.data, path], capture_output=True, text=True, timeout=20)
    expect(done.returncode == 1 and done.stdout == "", f"exit code {done.returncode}: {done.stdout}")
    for word in says:
        expect(word in done.stderr, f"{word!r} is not in {done.stderr!r}")
    left = [name for name in os.listdir(cluster.scratch) if name.startswith("backup")]
    expect(left == [], f"{left} is left")


@row("a backup 'and the keys' had those that were there, or none", "what is missing is named, and no file is written")
def backups_without_keys():
    cluster = fresh()
    try:
        keys = os.path.join(cluster.data, "keys")
        away = os.path.join(cluster.scratch, "away")
        os.rename(keys, away)
        backs_up(cluster, f"{keys} has no ca.crt, ca.key, token, sa.key: ", "leave --keys out")
        os.rename(away, keys)
        for name in ["ca.crt", "ca.key", "sa.key", "token", "server.key", "admin.crt"]:
            os.rename(f"{keys}/{name}", away)
            backs_up(cluster, f"{keys} has no {name}: ")
            os.rename(away, f"{keys}/{name}")
        os.rename(f"{keys}/token", away)
        os.mkfifo(f"{keys}/token")
        backs_up(cluster, f"{keys}/token", "not an ordinary file")
        os.rename(away, f"{keys}/token")
        for name in ["server.crt", "server.key"]:
            os.remove(f"{keys}/{name}")
        done = subprocess.run([VOLCANO, "backup", "--keys", "--data", cluster.data, f"{cluster.scratch}/whole"], capture_output=True, text=True, timeout=20)
        expect(done.returncode == 0 and "and the keys" in done.stdout, f"what a start makes anew is needed: {done.stderr}")
    finally:
        cluster.remove()


@row("a start that was killed while it made its keys left half of them", "the next start makes them anew; the set appears as a whole")
def a_start_that_was_killed():
    cluster = Cluster("--runtime", "process", start=False)
    try:
        os.makedirs(f"{cluster.data}/keys.new")
        with open(f"{cluster.data}/keys.new/ca.key", "w") as file:
            file.write("half")
        cluster.start()
        expect(not os.path.exists(f"{cluster.data}/keys.new"), "the stage is left")
        expect(os.stat(f"{cluster.data}/keys").st_mode & 0o777 == 0o700, "others can look into the keys")
        cluster.check_healthy()
        cluster.stop()
    finally:
        cluster.remove()


@row("a certificate near its end was served until it ended", "certificates are renewed at the start, for the same keys")
def near_the_end():
    cluster = fresh()
    try:
        keys = f"{cluster.data}/keys"

        def renew(name, subject, extensions):
            config = f"{cluster.scratch}/extensions"
            with open(config, "w") as file:
                file.write(extensions)
            openssl("req", "-new", "-key", f"{keys}/{name}.key", "-subj", subject, "-out", f"{cluster.scratch}/request")
            signer = ["-signkey", f"{keys}/ca.key"] if name == "ca" else ["-CA", f"{keys}/ca.crt", "-CAkey", f"{keys}/ca.key", "-CAcreateserial"]
            openssl("x509", "-req", "-in", f"{cluster.scratch}/request", "-days", "5", "-extfile", config, *signer, "-out", f"{keys}/{name}.crt")
        renew("server", "/CN=volcano-apiserver", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n")
        renew("admin", "/O=system:masters/CN=volcano-admin", "extendedKeyUsage=clientAuth\n")
        renew("ca", "/CN=volcano-ca", "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n")
        cluster.start()
        for name in ["server", "admin", "ca"]:
            subprocess.run(["openssl", "x509", "-in", f"{keys}/{name}.crt", "-noout", "-checkend", str(60 * 86400)], check=True, capture_output=True)
        code, out = lib.kubectl(cluster, "get", "namespaces")
        expect(code == 0, out)
        cluster.check_healthy()
        cluster.stop()
    finally:
        cluster.remove()


@row("a side server whose TLS was asked for by half of the flags served without", "the missing flag is named and nothing starts")
def half_of_the_flags():
    cluster = fresh()
    try:
        cluster.start()
        keys = f"{cluster.data}/keys"
        for program in ["scheduler", "controller-manager"]:
            done = subprocess.run([VOLCANO, program, "--kubeconfig", cluster.kubeconfig, "--leader-elect=false", "--enable-healthz",
                                   "--healthz-address=127.0.0.1:0", "--enable-metrics=false", "--tls-cert-file", f"{keys}/server.crt"],
                                  capture_output=True, text=True, timeout=20)
            expect(done.returncode != 0 and "--tls-private-key-file" in done.stderr, f"{program}: {done.returncode} {done.stderr}")
        cluster.stop()
    finally:
        cluster.remove()


@row("output that could not be written (> /dev/full) was success", "a message and an exit code that is not 0")
def full_output():
    manifest = os.path.join(lib.ROOT, "examples/manifests/job-1.yaml")
    for words in [["help"], ["crd"], ["reference", "api"], ["reference", "metrics"], ["up", "--help"], ["schedule", "--help"],
                  ["admit", manifest], ["vcctl", "--help"], ["vcctl", "version"], ["scheduler", "--version"], ["webhook-manager", "--help"],
                  ["controller-manager", "--version"], ["simulate", "--help"]]:
        with open("/dev/full", "w") as full:
            done = subprocess.run([VOLCANO, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        expect(done.returncode != 0 and "could not be written" in done.stderr, f"{words}: {done.returncode} {done.stderr[-200:]}")


@row("flags that make no sense were taken", "the flag and its value are named")
def flags():
    for words, says in [(["up", "--address", "nowhere"], "--address"), (["up", "--address", "1.2.3.4.5"], "1.2.3.4.5"),
                        (["up", "--port", "65536"], "--port"), (["up", "--port", "99999999999"], "--port"),
                        (["up", "--storage-gib", "0"], "--storage-gib"), (["up", "--storage-gib", "-1"], "--storage-gib"),
                        (["up", "--storage-gib", "99999999999"], "--storage-gib")]:
        done = subprocess.run([VOLCANO, *words, "--data", "/nonexistent/x"], capture_output=True, text=True, timeout=20)
        expect(done.returncode == 2 and says in done.stderr, f"{words}: {done.returncode} {done.stderr}")


if __name__ == "__main__":
    run()
