"""What the hostile tests share: a cluster of our own in a scratch folder, requests, raw connections, and rows.

A row is a function with two sentences: the fault, and what must happen. `run()` plays the rows of a file and prints
"ok NAME", "FAIL NAME: why" or "skip NAME: why" for each. The environment variable VOLCANO names the program
(build/release/bin/volcano unless set; ./test.sh --full uses the one with address and undefined sanitizers)."""
import atexit
import base64
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VOLCANO = os.environ.get("VOLCANO") or os.path.join(ROOT, "build/release/bin/volcano")
# Time limits of the rows are for a release build on an idle machine; sanitizers and small machines are slower.
PATIENCE = float(os.environ.get("PATIENCE", "1"))
# What the address sanitizer adds to memory that is asked for and given back in large pieces.
MEMORY = 2.5 if "ASAN_OPTIONS" in os.environ else 1
ROWS = []


class Failed(Exception):
    """A row's expectation that did not hold."""


class Skipped(Exception):
    """A row that this machine cannot play."""


def row(fault, must):
    """Declares a row: the fault, what must happen, and the function that brings one about and looks for the other."""

    def keep(function):
        ROWS.append((function.__name__, fault, must, function))
        return function

    return keep


def expect(holds, why):
    if not holds:
        raise Failed(why)


def wait_for(seconds, what, condition):
    """Waits until condition() is true and returns its value; Failed with `what` after `seconds`."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"{what} did not happen within {seconds * PATIENCE:.0f} s")
        time.sleep(0.05)


class Cluster:
    """`volcano up` in a scratch folder."""

    def __init__(self, *flags, start=True):
        self.scratch = tempfile.mkdtemp(prefix="volcano-hostile.")
        self.data = os.path.join(self.scratch, "data")
        self.kubeconfig = os.path.join(self.scratch, "kubeconfig")
        self.log = os.path.join(self.scratch, "up.log")
        self.flags = list(flags)
        self.process = None
        self.port = 0
        atexit.register(self.remove)  # of a row that failed
        if start:
            self.start()

    def start(self, ready=True):
        """Starts the program; with `ready`, waits until /readyz says ok."""
        with open(self.log, "ab") as log:
            at = log.tell()
            self.process = subprocess.Popen(
                [VOLCANO, "up", "--data", self.data, "--kubeconfig", self.kubeconfig, "--port", str(self.port)] + self.flags,
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        if not ready:
            return
        def is_up():
            expect(self.process.poll() is None, f"volcano up ended: {self.output(at)[-500:]}")
            for line in self.output(at).splitlines():
                if " is up at https://" in line:
                    self.port = int(line.rsplit(":", 1)[1])
            return self.port and self.request("GET", "/readyz", ok_to_fail=True)[0] == 200
        wait_for(20, "the start of the cluster", is_up)

    def output(self, since=0):
        with open(self.log, "rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace")

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, seconds=15):
        """SIGTERM, and Failed if the program does not end."""
        if not self.alive():
            return
        self.process.terminate()
        try:
            self.process.wait(seconds * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed("volcano up ignored SIGTERM")

    def kill(self):
        if self.alive():
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def remove(self):
        self.kill()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def rss_mib(self, kind="VmRSS"):
        """Resident memory; kind "RssAnon": without pages of mapped files, which the database has as many of as it is large."""
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith(kind + ":"):
                    return int(line.split()[1]) // 1024
        return 0

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def threads(self):
        return os.listdir(f"/proc/{self.process.pid}/task")

    # --- requests ---

    def token(self):
        with open(os.path.join(self.data, "keys/token")) as token:
            return token.read()

    def tls(self):
        return ssl.create_default_context(cafile=os.path.join(self.data, "keys/ca.crt"))

    def request(self, method, path, body=None, content_type="application/json", headers=None, timeout=30, ok_to_fail=False):
        """(status, parsed body or text). `body` may be a value (sent as JSON), bytes or text."""
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}", data=body, method=method)
        request.add_header("Authorization", f"Bearer {self.token()}")
        if body is not None:
            request.add_header("Content-Type", content_type)
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=timeout * PATIENCE, context=self.tls()) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        except OSError:
            if ok_to_fail:
                return 0, None
            raise
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text.decode(errors="replace")

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def create(self, path, body, **more):
        """Creates and expects 201."""
        status, answer = self.request("POST", path, body, **more)
        expect(status == 201, f"POST {path}: {status} {str(answer)[:300]}")
        return answer

    def connect(self):
        """A TLS connection on which nothing was said yet."""
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=20 * PATIENCE)
        return self.tls().wrap_socket(raw, server_hostname="127.0.0.1")

    def exchange(self, bytes_to_send, timeout=10):
        """Sends raw bytes, returns all that comes until the server closes or says nothing for `timeout`."""
        out = b""
        with self.connect() as connection:
            connection.settimeout(timeout * PATIENCE)
            try:
                connection.sendall(bytes_to_send)
                while True:
                    part = connection.recv(65536)
                    if not part:
                        break
                    out += part
            except (TimeoutError, OSError):
                pass
        return out

    def check_healthy(self):
        """Every row ends with this: the program lives, answers, takes a write and gives it back."""
        expect(self.alive(), f"the program has ended: {self.output()[-800:]}")
        name = f"probe-{time.monotonic_ns()}"
        path = "/api/v1/namespaces/default/configmaps"
        self.create(path, {"metadata": {"name": name}, "data": {"k": "v"}})
        status, got = self.get(f"{path}/{name}")
        expect(status == 200 and got["data"] == {"k": "v"}, f"a stored object reads as {status} {got}")
        self.request("DELETE", f"{path}/{name}")


def kubectl(cluster, *words, data=None):
    """(exit code, output) of the stock client."""
    done = subprocess.run(["kubectl", "--kubeconfig", cluster.kubeconfig, *words], input=data, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def web_socket(cluster, path, head=""):
    connection = cluster.connect()
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall((f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                        f"Sec-WebSocket-Key: {key}\r\n{head}\r\n").encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        part = connection.recv(1)
        if not part:
            break
        answer += part
    return connection, answer


def b64(data):
    return base64.b64encode(data).decode()


def end(cluster):
    """Stops a cluster so that its pods and interfaces go, and removes its folder; why it would not stop, if so."""
    try:
        cluster.stop()
        return None
    except Failed as why:
        return str(why)
    finally:
        cluster.remove()


def run(shared=None):
    """Plays the rows of this file, those named on the command line or all. Rows take a Cluster: the shared one, made by
    `shared()` and made again after a row that ended it, or none where `shared` is None (such rows make their own)."""
    wanted = sys.argv[1:]
    cluster = None
    failures = 0
    for name, fault, must, function in ROWS:
        if wanted and name not in wanted:
            continue
        began = time.monotonic()
        try:
            if shared is None:
                function()
            else:
                if cluster is None or not cluster.alive():
                    cluster = shared()
                function(cluster)
                cluster.check_healthy()
            print(f"ok {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Skipped as why:
            print(f"skip {name}: {why}", flush=True)
        except Exception as error:  # a row that breaks in any way has failed
            failures += 1
            why = str(error) if isinstance(error, Failed) else traceback.format_exc(limit=3).replace("\n", " | ")
            print(f"FAIL {name}: {fault}; must: {must}; {why}", flush=True)
            if cluster is not None:
                print("    " + "\n    ".join(cluster.output().splitlines()[-12:]), flush=True)
                end(cluster)
                cluster = None
    why = end(cluster) if cluster is not None else None
    if why:
        failures += 1
        print(f"FAIL end of {os.path.basename(sys.argv[0])}: {why}", flush=True)
    sys.exit(1 if failures else 0)
