#!/usr/bin/env python3
"""What a person of another namespace asks of pipelines: runs, pipelines, experiments, logs, artifacts and uploads, in both versions of the REST API."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from containers import run_rows
from lib import expect, kubectl, row, wait_for

V2, V1, LOGS = "/pipeline/apis/v2beta1", "/pipeline/apis/v1beta1", "/pipeline/apis/v1alpha1"
SECRET = "harvest of default"
WORKFLOW = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"generateName": "old-"},
            "spec": {"entrypoint": "say", "serviceAccountName": "default", "templates": [{
                "name": "say", "outputs": {"artifacts": [{"name": "out", "path": "/tmp/out/data"}]},
                "container": {"image": "busybox", "command": ["sh", "-c", f"mkdir -p /tmp/out; echo '{SECRET}' | tee /tmp/out/data"]}}]}}
GREET = """pipelineInfo: {name: harvest}
schemaVersion: 2.1.0
sdkVersion: kfp-2.17.3
root:
  dag: {tasks: {say: {taskInfo: {name: say}, componentRef: {name: comp-say}}}}
components:
  comp-say: {executorLabel: exec-say, outputDefinitions: {artifacts: {out: {artifactType: {schemaTitle: system.Dataset, schemaVersion: 0.0.1}}}}}
deploymentSpec:
  executors:
    exec-say: {container: {image: busybox, command: [sh, -c, "mkdir -p $(dirname $0); echo 'harvest of default' | tee $0", "{{$.outputs.artifacts['out'].path}}"]}}
"""


def form(content):
    return f'--xyz\r\nContent-Disposition: form-data; name="uploadfile"; filename="p.yaml"\r\n\r\n{content}\r\n--xyz--\r\n'


FORM = "multipart/form-data; boundary=xyz"
made = {}  # what the owner has, by cluster


def owned(cluster):
    """The owner's objects in the namespace default, and the token of a person who may do everything in the namespace of her own."""
    if cluster in made:
        return made[cluster]
    ids = {}

    def post(path, body, content_type="application/json"):
        status, answer = cluster.request("POST", path, body, content_type=content_type)
        expect(status == 200, f"{path}: {status} {answer}")
        return answer

    ids["pipeline"] = post(f"{V2}/pipelines/upload?name=harvest", form(GREET), FORM)["pipeline_id"]
    ids["version"] = cluster.get(f"{V2}/pipelines/{ids['pipeline']}/versions")[1]["pipeline_versions"][0]["pipeline_version_id"]
    ids["experiment"] = post(f"{V2}/experiments", {"display_name": SECRET})["experiment_id"]
    ids["run"] = post(f"{V2}/runs", {"display_name": SECRET, "experiment_id": ids["experiment"], "pipeline_version_reference":
                                     {"pipeline_id": ids["pipeline"], "pipeline_version_id": ids["version"]}})["run_id"]
    ids["old"] = post(f"{V1}/runs", {"name": SECRET, "pipeline_spec": {"workflow_manifest": json.dumps(WORKFLOW)}})["run"]["id"]
    ids["old_pipeline"] = post(f"{V1}/pipelines/upload?name=old", form(json.dumps(WORKFLOW)), FORM)["id"]
    ids["old_version"] = cluster.get(f"{V1}/pipelines/{ids['old_pipeline']}")[1]["default_version"]["id"]
    ids["recurring"] = post(f"{V2}/recurringruns", {"display_name": SECRET, "experiment_id": ids["experiment"], "mode": "DISABLE",
                                                    "trigger": {"periodic_schedule": {"interval_second": 3600}},
                                                    "pipeline_version_reference": {"pipeline_id": ids["pipeline"]}})["recurring_run_id"]
    wait_for(40, "the end of the run", lambda: cluster.get(f"{V2}/runs/{ids['run']}")[1]["state"] == "SUCCEEDED")
    wait_for(40, "the end of the Workflow", lambda: cluster.get(f"{V1}/runs/{ids['old']}")[1]["run"]["status"] == "Succeeded")
    ids["node"] = next(iter(json.loads(cluster.get(f"{V1}/runs/{ids['old']}")[1]["pipeline_runtime"]["workflow_manifest"])["status"]["nodes"]))
    # The owner reads what others must not: the rows could not fail otherwise.
    expect(SECRET in str(cluster.get(f"{LOGS}/runs/{ids['run']}/nodes/root.say/log")[1]), "the owner's log")
    expect(SECRET in str(cluster.get(f"{LOGS}/runs/{ids['old']}/nodes/{ids['node']}/log")[1]), "the owner's log of a Workflow")
    expect(SECRET in str(cluster.get(f"{V2}/runs/{ids['run']}/nodes/root.say/artifacts/out:view")[1]), "the owner's artifact")
    expect(cluster.get(f"{V1}/runs/{ids['old']}/nodes/{ids['node']}/artifacts/out:read")[0] == 200, "the owner's artifact of a Workflow")
    for words in (["create", "namespace", "other"], ["-n", "other", "create", "serviceaccount", "eve"],
                  ["-n", "other", "create", "rolebinding", "eve", "--clusterrole=admin", "--serviceaccount=other:eve"],
                  ["-n", "other", "create", "role", "pipelines", "--verb=*", "--resource=*.pipelines.kubeflow.org,*.argoproj.io"],
                  ["-n", "other", "create", "rolebinding", "pipelines", "--role=pipelines", "--serviceaccount=other:eve"]):
        code, said = kubectl(cluster, *words)
        expect(code == 0, said)
    ids["token"] = kubectl(cluster, "-n", "other", "create", "token", "eve")[1].strip()
    made[cluster] = ids
    return ids


def as_eve(cluster, ids, method, path, body=None, content_type="application/json"):
    return cluster.request(method, path, body, content_type=content_type, headers={"Authorization": f"Bearer {ids['token']}"})


@row("a person who may do everything in a namespace of her own names objects of another one by their ids",
     "each request is refused, says nothing of what they hold, and changes nothing")
def objects_of_others_by_name(cluster):
    ids = owned(cluster)
    asks = [("GET", "runs/{run}"), ("POST", "runs/{run}:archive"), ("POST", "runs/{run}:terminate"), ("POST", "runs/{run}:retry"), ("DELETE", "runs/{run}"),
            ("GET", "runs/{run}/nodes/root.say/log"), ("GET", "runs/{run}/nodes/root.say/artifacts/out:read"), ("GET", "runs/{run}/nodes/root.say/artifacts/out:view"),
            ("GET", "pipelines/{pipeline}"), ("PATCH", "pipelines/{pipeline}"), ("DELETE", "pipelines/{pipeline}?cascade=true"),
            ("GET", "pipelines/{pipeline}/versions"), ("GET", "pipelines/{pipeline}/versions/{version}"), ("DELETE", "pipelines/{pipeline}/versions/{version}"),
            ("GET", "pipelines/names/harvest?namespace=default"), ("GET", "experiments/{experiment}"), ("POST", "experiments/{experiment}:archive"),
            ("DELETE", "experiments/{experiment}"), ("GET", "recurringruns/{recurring}"), ("POST", "recurringruns/{recurring}:enable"), ("DELETE", "recurringruns/{recurring}"),
            ("GET", "runs?namespace=default"), ("GET", "runs?experiment_id={experiment}"), ("GET", "pipelines?namespace=default"), ("GET", "experiments?namespace=default"),
            ("GET", "recurringruns?namespace=default")]
    older = [("GET", "runs/{old}"), ("POST", "runs/{old}:archive"), ("POST", "runs/{old}/terminate"), ("POST", "runs/{old}/retry"), ("DELETE", "runs/{old}"),
             ("GET", "runs/{old}/nodes/{node}/artifacts/out:read"), ("GET", "pipelines/{old_pipeline}"), ("DELETE", "pipelines/{old_pipeline}"),
             ("GET", "pipelines/{old_pipeline}/templates"), ("POST", "pipelines/{old_pipeline}/default_version/{old_version}"), ("GET", "pipeline_versions/{old_version}"),
             ("GET", "pipeline_versions/{old_version}/templates"), ("DELETE", "pipeline_versions/{old_version}"),
             ("GET", "pipeline_versions?resource_key.type=PIPELINE&resource_key.id={old_pipeline}"), ("GET", "experiments/{experiment}"),
             ("GET", "jobs/{recurring}"), ("POST", "jobs/{recurring}/enable"), ("DELETE", "jobs/{recurring}"),
             ("GET", "runs?resource_reference_key.type=NAMESPACE&resource_reference_key.id=default"),
             ("GET", "runs?resource_reference_key.type=EXPERIMENT&resource_reference_key.id={experiment}"),
             ("GET", "jobs?resource_reference_key.type=EXPERIMENT&resource_reference_key.id={experiment}"),
             ("GET", "experiments?resource_reference_key.type=NAMESPACE&resource_reference_key.id=default")]
    paths = [(method, f"{V2}/{path}") for method, path in asks] + [(method, f"{V1}/{path}") for method, path in older]
    paths += [("GET", f"{LOGS}/runs/{{run}}/nodes/root.say/log"), ("GET", f"{LOGS}/runs/{{old}}/nodes/{{node}}/log")]
    for method, path in paths:
        path = path.format(**ids)
        status, said = as_eve(cluster, ids, method, path, {} if method in ("POST", "PATCH") else None)
        expect(status in (403, 404), f"{method} {path}: {status} {str(said)[:300]}")
        expect(SECRET not in str(said) and "busybox" not in str(said), f"{method} {path} says {str(said)[:300]}")
    for path in (f"{V2}/runs/{ids['run']}", f"{V2}/pipelines/{ids['pipeline']}/versions/{ids['version']}", f"{V2}/recurringruns/{ids['recurring']}",
                 f"{V2}/experiments/{ids['experiment']}", f"{V1}/runs/{ids['old']}", f"{V1}/pipeline_versions/{ids['old_version']}"):
        status, answer = cluster.get(path)
        expect(status == 200 and "ARCHIVED" not in str(answer) and "'ENABLED'" not in str(answer.get("status")), f"{path}: {status} {str(answer)[:300]}")


@row("she lists, filters and turns pages in her own namespace, with tokens of pages that she writes herself", "nothing of another namespace is in any list")
def lists_hold_nothing_of_others(cluster):
    ids = owned(cluster)
    _, first = cluster.get(f"{V2}/experiments?page_size=1&sort_by=display_name")
    everything = json.dumps({"predicates": [{"operation": "NOT_EQUALS", "key": "name", "string_value": "x"}]})
    tail = ["", "?page_size=200", "?sort_by=created_at%20desc", f"?filter={everything.replace(' ', '%20')}", f"?page_token={first.get('next_page_token', '')}"]
    for base, kinds in ((V2, ("runs", "pipelines", "experiments", "recurringruns")), (V1, ("runs", "pipelines", "experiments", "jobs"))):
        for kind in kinds:
            for query in tail:
                status, said = as_eve(cluster, ids, "GET", f"{base}/{kind}{query}")
                expect(status in (200, 400) and SECRET not in str(said) and not any(one in str(said) for one in ids.values()), f"{base}/{kind}{query}: {status} {said}")
                expect(status == 400 or said["total_size"] == 0, f"{base}/{kind}{query}: {said}")


@row("she uploads into another namespace, adds versions to its pipelines, and starts runs of them there and in her own",
     "each is refused, and nothing is made")
def uploads_and_runs_of_others(cluster):
    ids = owned(cluster)
    before = [len(json.loads(kubectl(cluster, "get", kind, "-A", "-o", "json")[1])["items"]) for kind in ("pipelines", "pipelineversions", "pipelineruns", "workflows")]
    for path, content in ((f"{V2}/pipelines/upload?name=mine&namespace=default", GREET), (f"{V2}/pipelines/upload_version?name=mine&pipelineid={ids['pipeline']}", GREET),
                          (f"{V1}/pipelines/upload_version?name=mine&pipelineid={ids['old_pipeline']}", json.dumps(WORKFLOW)),
                          (f"{V1}/pipelines/upload?name=mine&namespace=default", json.dumps(WORKFLOW))):
        status, said = as_eve(cluster, ids, "POST", path, form(content), FORM)
        expect(status in (403, 404), f"{path}: {status} {said}")
    reference = {"pipeline_id": ids["pipeline"], "pipeline_version_id": ids["version"]}
    old = {"pipeline_spec": {"pipeline_id": ids["old_pipeline"]}, "name": "x"}
    to = lambda kind, name: [{"key": {"type": kind, "id": name}, "relationship": "OWNER"}]
    for path, body in ((f"{V2}/runs", {"display_name": "x", "pipeline_version_reference": reference}),
                       (f"{V2}/runs", {"display_name": "x", "experiment_id": ids["experiment"], "pipeline_version_reference": reference}),
                       (f"{V2}/runs", {"display_name": "x", "namespace": "default", "pipeline_version_reference": reference}),
                       (f"{V1}/runs", old), (f"{V1}/runs", {**old, "resource_references": to("NAMESPACE", "default")}),
                       (f"{V1}/runs", {**old, "resource_references": to("EXPERIMENT", ids["experiment"])}),
                       (f"{V1}/runs", {"name": "x", "pipeline_spec": {"workflow_manifest": json.dumps(WORKFLOW)}, "resource_references": to("NAMESPACE", "default")}),
                       (f"{V1}/jobs", {**old, "trigger": {"periodic_schedule": {"interval_second": "60"}}})):
        status, said = as_eve(cluster, ids, "POST", path, body)
        expect(status in (403, 404), f"{path} {body}: {status} {said}")
    after = [len(json.loads(kubectl(cluster, "get", kind, "-A", "-o", "json")[1])["items"]) for kind in ("pipelines", "pipelineversions", "pipelineruns", "workflows")]
    expect(before == after, f"there were {before}, and now there are {after}")


if __name__ == "__main__":
    run_rows()
