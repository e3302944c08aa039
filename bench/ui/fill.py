#!/usr/bin/env python3
"""Creates objects, a JSON text a line, over a few connections. usage: fill.py SERVER TOKEN-FILE OBJECTS-FILE"""
import http.client
import json
import ssl
import sys
import threading

PATHS = {"Node": "/api/v1/nodes", "Queue": "/apis/scheduling.volcano.sh/v1beta1/queues",
         "Job": "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"}
server, token_file, objects_file = sys.argv[1:]
host = server.removeprefix("https://")
with open(token_file, encoding="utf-8") as f:
    token = f.read().strip()
with open(objects_file, encoding="utf-8") as f:
    lines = f.read().splitlines()
context = ssl._create_unverified_context()
failures = []


def work(part):
    connection = http.client.HTTPSConnection(host, context=context)
    for line in part:
        connection.request("POST", PATHS[json.loads(line)["kind"]], line, {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status not in (200, 201):
            failures.append(body[:300])
            return


queues = [line for line in lines if '"kind": "Queue"' in line]
work(queues)
others = [line for line in lines if '"kind": "Queue"' not in line]
threads = [threading.Thread(target=work, args=(others[i::8],)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if failures:
    sys.exit(failures[0])
