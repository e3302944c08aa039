"""Version 1 of the kfp SDK as it is, unchanged, against v1beta1 of the REST API of pipelines: HOST, TOKEN and CA of the environment."""
import json
import os
import sys
import tempfile
import time
import zipfile

import warnings
warnings.filterwarnings("ignore")
scratch = tempfile.mkdtemp()
os.environ["HOME"] = scratch  # the client keeps settings there
import kfp
from kfp import compiler, dsl
from kfp_server_api import ApiException

client = kfp.Client(host=os.environ["HOST"], existing_token=os.environ["TOKEN"], ssl_ca_cert=os.environ["CA"])


def check(name, ok, more=""):
    print(f"ok kfp1: {name}" if ok else f"FAIL kfp1: {name}: {more}", flush=True)


def refusal(status, words, call, *args, **named):
    """What is wrong with the refusal of this call; nothing where it is as it should be."""
    try:
        answer = call(*args, **named)
    except ApiException as error:
        said = json.loads(error.body)
        return "" if error.status == status and words in said["message"] else f"{error.status}: {said}"
    return f"no refusal, but {answer}"


def until(run, fits):
    end = time.time() + 60
    while not fits(one := client.get_run(run)) and time.time() < end:
        time.sleep(0.2)
    return one


def ended(run):
    return until(run, lambda one: one.run.status in ("Succeeded", "Failed", "Error"))


def nodes_of(detail):
    return {one["displayName"]: one for one in json.loads(detail.pipeline_runtime.workflow_manifest)["status"]["nodes"].values()}


def step(name, line, **more):
    return dsl.ContainerOp(name=name, image="python:3.9", command=["sh", "-c", line], **more)


# The pipeline of the documents: a volume, a training, a prediction, and its print.
TRAIN = """import json, os
points = [(x / 10, 3 * x / 10 + 1) for x in range(20)]
w = b = 0.0
for _ in range(2000):
    for x, y in points:
        error = w * x + b - y
        w, b = w - {rate} * error * x, b - {rate} * error
json.dump([w, b], open('/mnt/model.json', 'w'))
os.makedirs('/tmp/out', exist_ok=True)
open('/tmp/out/slope', 'w').write('%.2f' % w)"""
PREDICT = """import json, os
w, b = json.load(open('/mnt/model.json'))
os.makedirs('/tmp/out', exist_ok=True)
open('/tmp/out/result', 'w').write('%.1f' % (w * 10 + b))"""


@dsl.pipeline(name="train and predict", description="of the documents")
def train_predict(rate: str = "0.1"):
    volume = dsl.VolumeOp(name="create-volume", resource_name="model", size="1Mi", modes=dsl.VOLUME_MODE_RWO)
    train = dsl.ContainerOp(name="train", image="python:3.9", command=["sh", "-c", f'echo "$0" | sed "s/{{rate}}/$1/g" | python3 -', TRAIN, rate],
                            pvolumes={"/mnt": volume.volume}, file_outputs={"slope": "/tmp/out/slope"})
    predict = dsl.ContainerOp(name="predict", image="python:3.9", command=["python3", "-c", PREDICT],
                              pvolumes={"/mnt": train.pvolume}, file_outputs={"result": "/tmp/out/result"})
    step("print", f'echo "slope {train.outputs["slope"]}, at 10: {predict.outputs["result"]}"')


@dsl.pipeline(name="one step")
def one_step(line: str = "true"):
    dsl.ContainerOp(name="only", image="busybox", command=["sh", "-c"], arguments=[line])


@dsl.pipeline(name="needy")
def needy(words: str):
    step("say", f"echo {words}")


def compiled(pipeline, name):
    path = os.path.join(scratch, name)
    compiler.Compiler().compile(pipeline, path)
    return path


path = compiled(train_predict, "train_predict.yaml")
check("get_kfp_healthz", client.get_kfp_healthz().multi_user is True)

# Pipelines and their versions.
made = client.upload_pipeline(path, pipeline_name="Train & Predict", description="of the documents")
check("upload_pipeline", made.id and made.name == "Train & Predict" and made.description == "of the documents", made)
check("its parameters", [(one.name, one.value) for one in made.parameters] == [("rate", "0.1")], made.parameters)
check("its first version", made.default_version and made.default_version.name == "Train & Predict", made.default_version)
check("get_pipeline", client.get_pipeline(made.id).name == made.name)
check("get_pipeline_id", client.get_pipeline_id("Train & Predict") == made.id)
check("list_pipelines", [one.name for one in client.list_pipelines().pipelines] == ["Train & Predict"])
wrong = refusal(409, "already exists", client.upload_pipeline, path, pipeline_name="Train & Predict")
check("a name that is taken is refused", not wrong, wrong)
second = client.upload_pipeline_version(path, "v2", pipeline_id=made.id, description="the second")
check("upload_pipeline_version", second.name == "v2" and second.description == "the second", second)
check("list_pipeline_versions", sorted(one.name for one in client.list_pipeline_versions(made.id).versions) == ["Train & Predict", "v2"])
template = json.loads(client.pipelines.get_template(made.id).template)
check("get_template", template["kind"] == "Workflow", template)
client.pipelines.update_pipeline_default_version(made.id, made.default_version.id)
check("the default version is chosen", client.get_pipeline(made.id).default_version.id == made.default_version.id)
packed = os.path.join(scratch, "bomb.zip")
with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("a.yaml", b"\0" * (50 << 20))
wrong = refusal(413, "at most", client.upload_pipeline, packed, pipeline_name="bomb")
check("a bomb is refused", not wrong, wrong)
hooks = os.path.join(scratch, "hooks.yaml")
with open(hooks, "w") as file:
    file.write(open(path).read().replace("  serviceAccountName:", "  hooks: {}\n  serviceAccountName:"))
wrong = refusal(400, "spec.hooks", client.upload_pipeline, hooks, pipeline_name="hooks")
check("a field outside of what runs is refused by its path", not wrong, wrong)
check("what was refused left nothing", client.get_pipeline_id("hooks") is None and client.get_pipeline_id("bomb") is None)

# Experiments.
shelf = client.create_experiment("Trials", description="of the test")
check("create_experiment", shelf.name == "Trials" and client.create_experiment("Trials").id == shelf.id, shelf)
check("get_experiment", client.get_experiment(experiment_name="Trials").id == shelf.id and client.get_experiment(shelf.id).description == "of the test")
check("list_experiments", [one.name for one in client.list_experiments(sort_by="name desc").experiments] == ["Trials"])

# The documents' steps, from an uploaded pipeline.
run = client.run_pipeline(shelf.id, "from version", pipeline_id=made.id, version_id=second.id, params={"rate": "0.05"})
check("run_pipeline", run.id and run.name == "from version" and run.service_account == "pipeline-runner", run)
by_function = client.create_run_from_pipeline_func(train_predict, arguments={"rate": "0.2"}, run_name="from function", experiment_name="Trials")
done = client.wait_for_run_completion(run.id, 120)
check("wait_for_run_completion", done.run.status == "Succeeded" and done.run.finished_at >= done.run.created_at, done.run)
nodes = nodes_of(done)
check("the manifest tells of the steps", {"create-volume", "train", "predict", "print"} <= set(nodes) and
      nodes["train"]["outputs"]["parameters"][0]["value"] == "3.00", nodes)
check("its references", {(one.key.type, one.key.id) for one in done.run.resource_references} >=
      {("EXPERIMENT", shelf.id), ("PIPELINE_VERSION", second.id)}, done.run.resource_references)


def log_of(run, node):
    path = f"/apis/v1alpha1/runs/{run}/nodes/{node}/log"
    answer = client._run_api.api_client.call_api(path, "GET", {}, [], {}, _preload_content=False, auth_settings=["Bearer"])
    return answer.data.decode()


check("the log of the last step", log_of(run.id, nodes["print"]["id"]).strip() == "slope 3.00, at 10: 31.0", log_of(run.id, nodes["print"]["id"]))
data = client.runs.read_artifact(run.id, nodes["predict"]["id"], "predict-result").data
check("an artifact is read", data and __import__("base64").b64decode(data) == b"31.0", data)
check("a run of a function", by_function.wait_for_run_completion(120).run.status == "Succeeded")

# Lists of runs.
by_file = client.create_run_from_pipeline_package(compiled(one_step, "one.yaml"), {"line": "echo hi"}, run_name="from file")
ended(by_file.run_id)


def names(answer):
    return [one.name for one in answer.runs or []]


check("list_runs sorted", names(client.list_runs(sort_by="name desc")) == ["from version", "from function", "from file"], names(client.list_runs()))
check("list_runs of an experiment", sorted(names(client.list_runs(experiment_id=shelf.id))) == ["from function", "from version"])
check("list_runs of a namespace", len(names(client.list_runs(namespace="default"))) == 3)
check("a filter", names(client.list_runs(filter=json.dumps({"predicates": [{"op": 1, "key": "name", "stringValue": "from file"}]}))) == ["from file"])
page = client.list_runs(page_size=2, sort_by="name")
check("pages", names(page) == ["from file", "from function"] and
      names(client.list_runs(page_size=2, page_token=page.next_page_token, sort_by="name")) == ["from version"])

# What is refused.
wrong = refusal(400, "needs a value for words", client.create_run_from_pipeline_func, needy, arguments={})
check("a parameter that is missing is refused", not wrong, wrong)
wrong = refusal(400, 'no parameter "colour"', client.run_pipeline, shelf.id, "x", pipeline_id=made.id, params={"colour": "red"})
check("a parameter that is unknown is refused", not wrong, wrong)
wrong = refusal(404, "not found", client.get_run, "4711")
check("a run that is not there", not wrong, wrong)

# Failures, retries, ends.
broken = client.create_run_from_pipeline_func(one_step, arguments={"line": "exit 3"}, run_name="broken", experiment_name="Ends")
check("a run whose step fails", (end := ended(broken.run_id)).run.status == "Failed" and "exit code 3" in (end.run.error or ""), end.run)
first = nodes_of(end)["only"]["finishedAt"]
time.sleep(1.1)  # times of nodes have seconds
client.runs.retry_run(broken.run_id)
again = until(broken.run_id, lambda one: one.run.status == "Failed" and nodes_of(one)["only"]["finishedAt"] != first)
check("retry runs what failed again", nodes_of(again)["only"]["finishedAt"] != first, again.run)
asleep = client.create_run_from_pipeline_func(one_step, arguments={"line": "sleep 300"}, run_name="asleep", experiment_name="Ends")
until(asleep.run_id, lambda one: one.run.status == "Running" and "only" in nodes_of(one))
client.runs.terminate_run(asleep.run_id)
check("terminate", (end := ended(asleep.run_id)).run.status == "Failed", end.run)
wrong = refusal(400, "has ended already", client.runs.terminate_run, asleep.run_id)
check("a run that has ended is not ended again", not wrong, wrong)
client.runs.archive_run(by_file.run_id)
check("archive", client.get_run(by_file.run_id).run.storage_state == "STORAGESTATE_ARCHIVED")
client.runs.unarchive_run(by_file.run_id)
check("unarchive", client.get_run(by_file.run_id).run.storage_state == "STORAGESTATE_AVAILABLE")
client.archive_experiment(shelf.id)
check("archive_experiment takes its runs along", client.get_run(run.id).run.storage_state == "STORAGESTATE_ARCHIVED" and
      client.get_experiment(shelf.id).storage_state == "STORAGESTATE_ARCHIVED")
wrong = refusal(400, "archived", client.run_pipeline, shelf.id, "late", pipeline_id=made.id)
check("an archived experiment takes no runs", not wrong, wrong)
client.experiments.unarchive_experiment(shelf.id)
client.runs.delete_run(by_file.run_id)
wrong = refusal(404, "not found", client.get_run, by_file.run_id)
check("delete", not wrong, wrong)

# Jobs.
hourly = client.create_recurring_run(shelf.id, "hourly", interval_second=3600, pipeline_id=made.id, version_id=second.id, enabled=False, max_concurrency=2)
check("create_recurring_run", hourly.mode == "DISABLED" and not hourly.enabled and hourly.trigger.periodic_schedule.interval_second == "3600", hourly)
client.jobs.enable_job(hourly.id)
check("enable_job", client.get_recurring_run(hourly.id).enabled)
client.disable_job(hourly.id)
often = client.create_recurring_run(shelf.id, "often", cron_expression="* * * * * *", max_concurrency=2, params={"line": "echo [[Index]]"},
                                    pipeline_package_path=os.path.join(scratch, "one.yaml"))
end = time.time() + 60
while not (made_by := [one for one in client.list_runs(page_size=100, experiment_id=shelf.id).runs if one.name.startswith("often 20")]) and time.time() < end:
    time.sleep(0.2)
check("a job makes runs", bool(made_by), client.get_recurring_run(often.id))
if made_by:
    run = min(made_by, key=lambda one: one.name)
    check("they run", (end := ended(run.id)).run.status == "Succeeded", end.run)
    check("macros in their parameters", run.pipeline_spec.parameters[0].value.startswith("echo ") and "[[" not in run.pipeline_spec.parameters[0].value, run)
client.delete_job(often.id)
check("list_recurring_runs", [one.name for one in client.list_recurring_runs(experiment_id=shelf.id).jobs] == ["hourly"])
client.delete_job(hourly.id)
check("delete_job", not client.list_recurring_runs().jobs)

# The ends of pipelines and versions.
client.delete_pipeline_version(second.id)
client.delete_pipeline(made.id)
wrong = refusal(404, "not found", client.get_pipeline, made.id)
check("delete_pipeline", not wrong, wrong)
client.delete_experiment(shelf.id)
wrong = refusal(404, "not found", client.get_experiment, shelf.id)
check("delete_experiment", not wrong, wrong)
