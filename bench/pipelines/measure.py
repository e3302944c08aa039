"""Runs a chain of steps and a loop of parallel ones, and prints what they cost. usage: measure.py PID-OF-VOLCANO STEPS CHAIN
Environment: SERVER, CA, TOKEN."""
import json
import os
import ssl
import statistics
import sys
import threading
import time
import urllib.request

server, token = os.environ["SERVER"], os.environ["TOKEN"]
context = ssl.create_default_context(cafile=os.environ["CA"])
kinds = "/apis/pipelines.kubeflow.org/v2beta1/namespaces/default"
CLOCK = "date +%s%N"


def ask(path, body=None):
    request = urllib.request.Request(server + path, None if body is None else json.dumps(body).encode(),
                                     {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    return urllib.request.urlopen(request, context=context)


def document(name, tasks, components):
    executors = {"sh": {"container": {"image": "host", "command": ["sh", "-c", f"{CLOCK}; {CLOCK}"]}}}
    return {"schemaVersion": "2.1.0", "pipelineInfo": {"name": name}, "deploymentSpec": {"executors": executors},
            "components": {"step": {"executorLabel": "sh"}, **components}, "root": {"dag": {"tasks": tasks}}}


def chain(length):
    tasks = {f"step-{i}": {"componentRef": {"name": "step"}, **({"dependentTasks": [f"step-{i - 1}"]} if i else {})} for i in range(length)}
    return document("chain", tasks, {})


def loop(turns):
    inner = {"inputDefinitions": {"parameters": {"item": {"parameterType": "NUMBER_INTEGER"}}}, "dag": {"tasks": {"step": {"componentRef": {"name": "step"}}}}}
    items = {"raw": json.dumps(list(range(turns)))}
    return document("loop", {"loop": {"componentRef": {"name": "turn"}, "parameterIterator": {"itemInput": "item", "items": items}}}, {"turn": inner})


def run_to_its_end(name, pipeline):
    """Seconds from the run's creation to its end, when each of its pods was first heard of, in nanoseconds, and the writes by kind."""
    made, writes = {}, {}

    def listen(kind, path):
        for line in ask(f"{path}/{kind}?watch=1&timeoutSeconds=3600&labelSelector=pipelines.kubeflow.org/run={name}"):
            made.setdefault(json.loads(line)["object"]["metadata"]["name"], time.time_ns())
            writes[kind] = writes.get(kind, 0) + 1

    for kind, path in (("pods", "/api/v1/namespaces/default"), ("pipelinetasks", kinds)):
        threading.Thread(target=listen, args=[kind, path], daemon=True).start()
    begin = time.monotonic()
    run = {"apiVersion": "pipelines.kubeflow.org/v2beta1", "kind": "PipelineRun", "metadata": {"name": name}, "spec": {"pipelineSpec": pipeline}}
    ask(f"{kinds}/pipelineruns", run)
    for line in ask(f"{kinds}/pipelineruns?watch=1&timeoutSeconds=3600&fieldSelector=metadata.name={name}"):
        status = json.loads(line)["object"].get("status", {})
        writes["pipelineruns"] = writes.get("pipelineruns", 0) + 1
        if "finishedAt" in status:
            if status["state"] != "SUCCEEDED":
                sys.exit(f"the run {name} ended as {status['state']}: {status.get('error')}")
            return time.monotonic() - begin, made, writes


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def measure_chain(length):
    _, made, _ = run_to_its_end("chain", chain(length))
    to_pod, to_process, end = [], [], None
    tasks = json.load(ask(f"{kinds}/pipelinetasks?labelSelector=pipelines.kubeflow.org/run=chain"))["items"]
    for i in range(length):
        name = next(one["status"]["podName"] for one in tasks if one["spec"]["path"] == f"root.step-{i}")
        first, last = (int(word) for word in ask(f"/api/v1/namespaces/default/pods/{name}/log").read().split())
        if end is not None:
            to_pod.append((made[name] - end) / 1e6)
            to_process.append((first - end) / 1e6)
        end = last
    for what, values in (("pod", to_pod), ("process", to_process)):
        print(f"from the end of a step to the next one's {what}: median {statistics.median(values):.0f} ms, 95th percentile {percentile(values, 0.95):.0f} ms")


def thread_times(pid):
    """Milliseconds of computing by the names of threads."""
    times = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            name = open(f"/proc/{pid}/task/{thread}/comm").read().strip()
            spent = int(open(f"/proc/{pid}/task/{thread}/schedstat").read().split()[0])
        except OSError:
            continue
        times[name] = times.get(name, 0) + spent / 1e6
    return times


def revision():
    """The number of writes that the server took since its beginning."""
    return int(json.load(ask("/api/v1/namespaces/default/pods?limit=1"))["metadata"]["resourceVersion"])


def resident(pid):
    return next(int(line.split()[1]) / 1024 for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS"))


def measure_loop(pid, steps):
    times, count, memory, begin = thread_times(pid), revision(), resident(pid), time.time_ns()
    took, _, writes = run_to_its_end("loop", loop(steps))
    spent = {name: (one - times.get(name, 0)) / steps for name, one in thread_times(pid).items()}
    print(f"{steps} parallel steps: {took:.1f} s to the run's end")
    pods = json.load(ask("/api/v1/namespaces/default/pods?labelSelector=pipelines.kubeflow.org/run=loop"))["items"]
    logs = (ask(f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/log").read() for pod in pods)
    started = [(int(log.split()[0]) - begin) / 1e9 for log in logs]
    print(f"from the run's creation to a step's process: median {statistics.median(started):.2f} s, 95th percentile {percentile(started, 0.95):.2f} s")
    print("computing a step, by thread: " + ", ".join(f"{name} {one:.2f} ms" for name, one in sorted(spent.items(), key=lambda one: -one[1]) if one >= 0.01))
    print(f"writes a step: {(revision() - count) / steps:.1f} of all kinds; " + ", ".join(f"{kind} {one / steps:.2f}" for kind, one in writes.items()))
    print(f"memory: {memory:.0f} MB before, {resident(pid):.0f} MB after, {(resident(pid) - memory) * 1024 / steps:.0f} kB a step")


measure_chain(int(sys.argv[3]))
measure_loop(int(sys.argv[1]), int(sys.argv[2]))
