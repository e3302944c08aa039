"""A PipelineRun of a compiled document, for kubectl. usage: run_of.py DOCUMENT.yaml NAME [PARAMETERS-JSON]"""
import json
import sys

import yaml

documents = list(yaml.safe_load_all(open(sys.argv[1])))
spec = {"pipelineSpec": documents[0]}
if len(documents) > 1:
    spec["platformSpec"] = documents[1]
if len(sys.argv) > 3:
    spec["runtimeConfig"] = {"parameters": json.loads(sys.argv[3])}
print(json.dumps({"apiVersion": "pipelines.kubeflow.org/v2beta1", "kind": "PipelineRun", "metadata": {"name": sys.argv[2]}, "spec": spec}))
