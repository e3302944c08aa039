"""A PipelineRun of a compiled document, for kubectl. usage: run_of.py DOCUMENT.yaml NAME [PARAMETERS-JSON]
KFP_PACKAGES: the folder of Python's packages that steps find the SDK in; the host's files stand in for their images."""
import json
import os
import sys

import yaml

documents = list(yaml.safe_load_all(open(sys.argv[1])))
if "KFP_PACKAGES" in os.environ:
    for executor in documents[0]["deploymentSpec"]["executors"].values():
        if "python" in executor.get("container", {}).get("image", ""):
            executor["container"].setdefault("env", []).append({"name": "PYTHONPATH", "value": os.environ["KFP_PACKAGES"]})
spec = {"pipelineSpec": documents[0]}
if len(documents) > 1:
    spec["platformSpec"] = documents[1]
if len(sys.argv) > 3:
    spec["runtimeConfig"] = {"parameters": json.loads(sys.argv[3])}
print(json.dumps({"apiVersion": "pipelines.kubeflow.org/v2beta1", "kind": "PipelineRun", "metadata": {"name": sys.argv[2]}, "spec": spec}))
