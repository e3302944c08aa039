"""Pipelines compiled by the SDK and run through its client: their outputs beside what their definition says and what the SDK's own
runner on this machine gives. HOST, TOKEN, CA and KUBECONFIG of the environment. usage: kfp_outputs.py [NAME...]"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
import kfp
from kfp import compiler, local
from kfp_server_api import ApiException

scratch = tempfile.mkdtemp()
os.environ["HOME"] = scratch  # the client keeps settings there
import kfp_pipelines

client = kfp.Client(host=os.environ["HOST"], existing_token=os.environ["TOKEN"], ssl_ca_cert=os.environ["CA"])
packages = os.path.dirname(os.path.dirname(kfp.__file__))


def kubectl(*words, **more):
    return subprocess.run(["kubectl", *words], check=True, capture_output=True, text=True, **more).stdout


def compiled(case):
    """The document, whose Python steps find the SDK among the machine's files: these stand in for the images."""
    path = os.path.join(scratch, case.name + ".yaml")
    compiler.Compiler().compile(case.pipeline, path)
    import yaml
    documents = list(yaml.safe_load_all(open(path)))
    for executor in documents[0].get("deploymentSpec", {}).get("executors", {}).values():
        if executor.get("container", {}).get("image") not in (None, "busybox"):
            executor["container"].setdefault("env", []).append({"name": "PYTHONPATH", "value": packages})
    with open(path, "w") as file:
        yaml.safe_dump_all(documents, file)
    return path


def started(case, number):
    try:
        if case.before:
            kubectl("create", "-f", "-", input=case.before)
        return client.create_run_from_pipeline_package(compiled(case), arguments=case.arguments, run_name=f"{case.name}-{number}",
                                                       enable_caching=case.caching).run_id
    except ApiException as error:
        return json.loads(error.body)["message"]


def wrong_with(case, id):
    """What is not as the definition says; nothing where all is."""
    if case.refused:
        return "" if case.refused in id else f"no refusal, but {id}"
    try:
        run = client.wait_for_run_completion(id, 150, sleep_duration=1)
    except (ApiException, TimeoutError) as error:
        return f"{id}: {error}"
    name = [one for one in json.loads(kubectl("get", "pipelineruns", "-o", "json"))["items"] if one["metadata"]["uid"] == id][0]["metadata"]["name"]
    tasks = {one["spec"]["path"]: one for one in json.loads(
        kubectl("get", "pipelinetasks", "-l", f"pipelines.kubeflow.org/run={name}", "-o", "json"))["items"]}
    said = run.error.message if run.error else ""
    if run.state != case.state or case.error not in said:
        return f"{run.state}: {said} " + str({path: one["status"].get("message") or one["status"].get("error") for path, one in tasks.items()})
    for path, state in case.tasks.items():
        found = tasks.get(path, {}).get("status", {}).get("state")
        if found != state:
            return f"{path} is {found}, not {state}: {sorted(tasks)}"
    for path, words in case.logs.items():
        log = kubectl("logs", tasks[path]["status"]["podName"]) if path in tasks else "no task"
        if words not in log:
            return f"log of {path}: {log[-300:]}"
    outputs = tasks["root"]["status"].get("outputs", {}).get("parameters", {})
    if callable(case.expect):
        about = {"name": run.display_name, "id": id, "pod": lambda path: json.loads(kubectl("get", "pod", tasks[path]["status"]["podName"], "-o", "json"))}
        return "" if case.expect(outputs, about) else f"outputs {outputs}"
    return "" if case.expect is None or outputs == case.expect else f"outputs {outputs}, not {case.expect}"


def locally(case):
    """The outputs by the SDK's own runner, in a process of this machine."""
    local.init(runner=local.SubprocessRunner(use_venv=False), pipeline_root=os.path.join(scratch, "local"), raise_on_error=True)
    return case.pipeline(**case.arguments).outputs


names = sys.argv[1:]
cases = [case for case in kfp_pipelines.cases if not names or case.name in names]
begin = time.monotonic()
ids = [started(case, number) for number, case in enumerate(cases)]
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    results = list(pool.map(wrong_with, cases, ids))
for case, wrong in zip(cases, results):
    print(f"FAIL kfp outputs: {case.name} {case.arguments or ''}: {wrong}" if wrong else f"ok kfp outputs: {case.name} {case.arguments or ''}", flush=True)
print(f"{len(cases)} pipelines in {time.monotonic() - begin:.0f} s", flush=True)
for case in cases:
    if case.local and isinstance(case.expect, dict):
        try:
            outputs = locally(case)
        except Exception as error:  # the SDK's runner raises what it likes
            outputs = f"{type(error).__name__}: {error}"
        print(f"ok kfp local: {case.name}" if outputs == case.expect else f"FAIL kfp local: {case.name}: {outputs}", flush=True)
