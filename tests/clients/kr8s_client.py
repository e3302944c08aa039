"""kr8s as it is, against the cluster of $KUBECONFIG: what Dask's operator and its KubeCluster are made of."""
import time
import urllib.request

import kr8s
from kr8s.objects import ConfigMap, Pod, new_class


def check(name, ok, more=""):
    print(f"ok clients: kr8s {name}" if ok else f"FAIL clients: kr8s {name}: {more}", flush=True)


pod = Pod({"metadata": {"name": "kr8s", "namespace": "default"}, "spec": {"terminationGracePeriodSeconds": 1, "containers": [
    {"name": "c", "image": "nginx:latest", "command": ["python3", "-m", "http.server", "--bind", "127.0.0.1", "8000"]}]}})
pod.create()
pod.wait("condition=Ready", timeout=60)
check("waits until a pod is ready", pod.ready(), pod.status)
done = pod.exec(["sh", "-c", "echo reached; echo aside >&2"])
check("runs a command in a pod", (done.stdout, done.stderr, done.returncode) == (b"reached\n", b"aside\n", 0), done)
failed = pod.exec(["sh", "-c", "exit 3"], check=False)
check("tells its exit code", failed.returncode == 3, failed)
with pod.portforward(remote_port=8000) as port:
    pages, end = [], time.time() + 20
    while len(pages) < 2 and time.time() < end:
        try:
            pages.append(urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10).read())
        except OSError:
            time.sleep(0.3)
check("forwards a port, twice", len(pages) == 2 and all(b"Directory listing" in one for one in pages), pages)

Job = new_class(kind="Job", version="batch.volcano.sh/v1alpha1", namespaced=True)
job = Job({"metadata": {"name": "kr8s", "namespace": "default"}, "spec": {"minAvailable": 1, "tasks": [{"name": "main", "replicas": 1, "template": {
    "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "nginx:latest", "command": ["sh", "-c", "echo done"]}]}}}]}})
job.create()
end = time.time() + 60  # its own wait() would watch the Jobs of batch/v1, which have the same plural
while job.raw.get("status", {}).get("state", {}).get("phase") != "Completed" and time.time() < end:
    time.sleep(0.2)
    job.refresh()
check("reads a job until its end", job.raw["status"]["state"]["phase"] == "Completed", job.raw)
check("reads a log", list(Pod.get("kr8s-main-0", namespace="default").logs()) == ["done"], "")
config = ConfigMap({"metadata": {"name": "kr8s", "namespace": "default"}, "data": {"a": "1"}})
config.create()
config.patch({"data": {"b": "2"}})
config.label(team="x")
check("patches and labels", config.data.to_dict() == {"a": "1", "b": "2"} and config.labels["team"] == "x", config.raw)
check("lists by labels", [one.name for one in kr8s.get("configmaps", namespace="default", label_selector={"team": "x"})] == ["kr8s"])
