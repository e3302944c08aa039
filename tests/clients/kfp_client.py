"""The kfp SDK as it is, unchanged, against the REST API of pipelines of the cluster: HOST, TOKEN and CA of the environment."""
import datetime
import io
import json
import os
import sys
import tarfile
import tempfile
import time
import zipfile

import warnings
warnings.filterwarnings("ignore")
import kfp
from kfp import compiler, dsl
from kfp_server_api import ApiException, V2beta1Pipeline

scratch = tempfile.mkdtemp()
os.environ["HOME"] = scratch  # the client keeps settings there
client = kfp.Client(host=os.environ["HOST"], existing_token=os.environ["TOKEN"], ssl_ca_cert=os.environ["CA"])


def check(name, ok, more=""):
    print(f"ok kfp: {name}" if ok else f"FAIL kfp: {name}: {more}", flush=True)


def refusal(status, words, call, *args, **named):
    """What is wrong with the refusal of this call; nothing where it is as it should be."""
    try:
        answer = call(*args, **named)
    except ApiException as error:
        said = json.loads(error.body)
        return "" if error.status == status and words in said["message"] else f"{error.status}: {said}"
    return f"no refusal, but {answer}"


@dsl.container_component
def say(words: str):
    return dsl.ContainerSpec(image="busybox", command=["echo"], args=[words])


@dsl.pipeline(name="greeting", description="says something")
def greeting(words: str = "hello", times: int = 1):
    first = say(words=words)
    say(words="bye").after(first)


@dsl.pipeline(name="needy")
def needy(words: str):
    say(words=words)


def compiled(pipeline, name="greeting.yaml"):
    path = os.path.join(scratch, name)
    compiler.Compiler().compile(pipeline, path)
    return path


path = compiled(greeting)
check("get_kfp_healthz", client.get_kfp_healthz().multi_user is True)

# Pipelines and their versions.
made = client.upload_pipeline(path, pipeline_name="My Greeting", description="says something")
check("upload_pipeline", made.pipeline_id and made.display_name == "My Greeting" and made.description == "says something", made)
check("get_pipeline", client.get_pipeline(made.pipeline_id).name == made.name)
check("get_pipeline_id", client.get_pipeline_id("My Greeting") == made.pipeline_id)
check("a pipeline by its name", client.pipelines.pipeline_service_get_pipeline_by_name("My Greeting").pipeline_id == made.pipeline_id)
wrong = refusal(409, "already exists", client.upload_pipeline, path, pipeline_name="My Greeting")
check("a name that is taken is refused", not wrong, wrong)
first = client.list_pipeline_versions(made.pipeline_id).pipeline_versions
check("an upload makes the first version", len(first) == 1 and first[0].pipeline_spec["pipelineInfo"]["name"] == "greeting", first)
second = client.upload_pipeline_version(path, "v2", pipeline_id=made.pipeline_id, description="the second")
check("upload_pipeline_version", second.display_name == "v2" and second.pipeline_id == made.pipeline_id, second)
check("get_pipeline_version", client.get_pipeline_version(made.pipeline_id, second.pipeline_version_id).description == "the second")
wrong = refusal(409, "already exists", client.upload_pipeline_version, path, "v2", pipeline_id=made.pipeline_id)
check("a version that is there is refused", not wrong, wrong)
tagged = client.pipelines.pipeline_service_update_pipeline(made.pipeline_id, V2beta1Pipeline(display_name="Greeting", tags={"team": "ml"}))
check("names and tags change", tagged.display_name == "Greeting" and tagged.tags == {"team": "ml"}, tagged)

# Files: archives, and those that are none.
zipped = os.path.join(scratch, "p.zip")
with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.write(path, "greeting.yaml")
tarred = os.path.join(scratch, "p.tar.gz")
with tarfile.open(tarred, "w:gz") as archive:
    archive.add(path, "greeting.yaml")
for name in (zipped, tarred):
    uploaded = client.upload_pipeline(name, pipeline_name="from " + os.path.basename(name))
    check(f"an upload of {os.path.basename(name)}", uploaded.pipeline_id)


def file_of(name, content):
    with open(os.path.join(scratch, name), "wb") as file:
        file.write(content)
    return file.name


def zip_of(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name + ".yaml", content)
    return buffer.getvalue()


for name, content, status, words in [
        ("two.zip", zip_of(a="x: 1", b="y: 2"), 400, "several YAML or JSON files"),
        ("none.zip", zip_of(), 400, "holds no YAML"),
        ("bomb.zip", zip_of(a=b"\0" * (50 << 20)), 413, "at most"),
        ("text.yaml", b"just a text", 400, "not an object"),
        ("broken.yaml", b"a: [", 400, "not YAML"),
        ("other.yaml", b"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n", 400, "spec"),
        ("future.yaml", open(path, "rb").read().replace(b"schemaVersion: 2.1.0", b"schemaVersion: 9.0.0"), 400, "schemaVersion")]:
    wrong = refusal(status, words, client.upload_pipeline, file_of(name, content), pipeline_name=name)
    check(f"{name} is refused", not wrong, wrong)
check("what was refused left nothing", client.get_pipeline_id("future.yaml") is None)

# Experiments.
shelf = client.create_experiment("Trials", description="of the test")
check("create_experiment", shelf.display_name == "Trials" and client.create_experiment("Trials").experiment_id == shelf.experiment_id, shelf)
check("get_experiment", client.get_experiment(experiment_name="Trials").description == "of the test")

# Runs.
run = client.run_pipeline(shelf.experiment_id, "from version", pipeline_id=made.pipeline_id, version_id=second.pipeline_version_id,
                          params={"words": "hi", "times": 3})
check("run_pipeline of a version", run.pipeline_version_reference.pipeline_version_id == second.pipeline_version_id, run)
by_file = client.create_run_from_pipeline_package(path, arguments={"words": "from a file"}, run_name="from file", experiment_name="Trials")
by_function = client.create_run_from_pipeline_func(greeting, run_name="from function", enable_caching=False)
check("create_run_from_pipeline_func", client.get_run(by_function.run_id).display_name == "from function")
check("its experiment is Default", client.get_experiment(by_function.run_info.experiment_id).display_name == "Default")
whole = client.get_run(by_file.run_id)
check("get_run", whole.runtime_config.parameters == {"words": "from a file"} and whole.state is not None and whole.created_at.year > 2000, whole)
wrong = refusal(400, "no parameter", client.run_pipeline, shelf.experiment_id, "x", pipeline_package_path=path, params={"other": 1})
check("a parameter that is unknown is refused", not wrong, wrong)
wrong = refusal(400, "needs a value for words", client.run_pipeline, shelf.experiment_id, "x", pipeline_package_path=compiled(needy, "needy.yaml"))
check("a parameter that is missing is refused", not wrong, wrong)
wrong = refusal(400, "times", client.run_pipeline, shelf.experiment_id, "x", pipeline_package_path=path, params={"times": "many"})
check("a parameter of another type is refused", not wrong, wrong)
wrong = refusal(404, "not found", client.get_run, "no-such-run")
check("a run that is unknown", not wrong, wrong)

# Lists: filters, order, pages.
names = lambda answer: [one.display_name for one in answer.runs or []]
check("list_runs of an experiment", sorted(names(client.list_runs(experiment_id=shelf.experiment_id))) == ["from file", "from version"])
check("order", names(client.list_runs(sort_by="display_name desc")) == ["from version", "from function", "from file"])
filtered = lambda operation, key, **value: names(client.list_runs(sort_by="display_name", filter=json.dumps(
    {"predicates": [{"operation": operation, "key": key, **value}]})))
check("EQUALS", filtered("EQUALS", "display_name", stringValue="from file") == ["from file"])
check("NOT_EQUALS as a number", filtered(2, "display_name", stringValue="from file") == ["from function", "from version"])
check("IS_SUBSTRING", filtered("IS_SUBSTRING", "display_name", string_value="from f") == ["from file", "from function"])
check("IN", filtered("IN", "display_name", stringValues={"values": ["from file", "x"]}) == ["from file"])
later = (datetime.datetime.utcnow() + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
check("LESS_THAN of a time", len(filtered("LESS_THAN", "created_at", timestampValue=later)) == 3 and
      filtered("GREATER_THAN", "created_at", timestampValue=later) == [])
pages, token = [], ""
while True:
    page = client.list_runs(page_size=2, page_token=token, sort_by="display_name")
    pages.append(names(page))
    token = page.next_page_token
    if not token:
        break
check("pages", pages == [["from file", "from function"], ["from version"]] and page.total_size == 3, pages)
wrong = refusal(400, "not a field", client.list_runs, sort_by="colour")
check("an order by an unknown field is refused", not wrong, wrong)
wrong = refusal(400, "page_token", client.list_runs, page_token="x")
check("a token that was not given out is refused", not wrong, wrong)

# Runs that run.
done = client.wait_for_run_completion(by_function.run_id, 120, sleep_duration=1)
check("wait_for_run_completion", done.state == "SUCCEEDED" and done.finished_at >= done.created_at, done)
tasks = {task.display_name: task for task in client.get_run(by_function.run_id).run_details.task_details}
check("tasks of a run", {"say", "say-2"} <= set(tasks) and tasks["say"].state == "SUCCEEDED" and tasks["say"].pod_name, tasks)


def log_of(run, node):
    path = f"/apis/v1alpha1/runs/{run}/nodes/{node}/log"
    answer = client._run_api.api_client.call_api(path, "GET", {}, [], {}, _preload_content=False, auth_settings=["Bearer"])
    return answer.data.decode()


check("the log of a task", log_of(by_function.run_id, tasks["say-2"].task_id).strip() == "bye", log_of(by_function.run_id, "say-2"))


@dsl.container_component
def command(line: str):
    return dsl.ContainerSpec(image="busybox", command=["sh", "-c"], args=[line])


@dsl.pipeline(name="fails")
def fails():
    command(line="exit 3").set_caching_options(False)


@dsl.pipeline(name="sleeps")
def sleeps():
    command(line="sleep 300").set_caching_options(False)


broken = client.create_run_from_pipeline_func(fails, run_name="broken", experiment_name="Ends")
ended = client.wait_for_run_completion(broken.run_id, 120, sleep_duration=1)
check("a run whose step fails", ended.state == "FAILED" and "command" in ended.error.message, ended)
client.runs.run_service_retry_run(broken.run_id)


def until(run, fits):
    end = time.time() + 60
    while not fits(one := client.get_run(run)) and time.time() < end:
        time.sleep(0.2)
    return one


again = until(broken.run_id, lambda one: [change.state for change in one.state_history or []].count("FAILED") == 2)
check("retry_run runs what failed again", again.state == "FAILED", again.state_history)
asleep = client.create_run_from_pipeline_func(sleeps, run_name="asleep", experiment_name="Ends")
until(asleep.run_id, lambda one: any(task.state == "RUNNING" for task in one.run_details.task_details or []))
client.terminate_run(asleep.run_id)
check("terminate_run", until(asleep.run_id, lambda one: one.state == "CANCELED").state == "CANCELED")
for one in (broken, asleep):
    client.delete_run(one.run_id)

# What is done to runs and experiments.
client.archive_run(by_file.run_id)
check("archive_run", client.get_run(by_file.run_id).storage_state == "ARCHIVED")
client.unarchive_run(by_file.run_id)
check("unarchive_run", client.get_run(by_file.run_id).storage_state == "AVAILABLE")
client.archive_experiment(shelf.experiment_id)
check("archive_experiment takes its runs along", client.get_run(run.run_id).storage_state == "ARCHIVED" and
      client.get_run(by_function.run_id).storage_state == "AVAILABLE")
wrong = refusal(400, "archived", client.run_pipeline, shelf.experiment_id, "late", pipeline_package_path=path)
check("an archived experiment takes no runs", not wrong, wrong)
client.unarchive_experiment(shelf.experiment_id)
client.delete_run(run.run_id)
wrong = refusal(404, "not found", client.get_run, run.run_id)
check("delete_run", not wrong, wrong)

# Recurring runs.
every = client.create_recurring_run(shelf.experiment_id, "hourly", interval_second=3600, pipeline_package_path=path, enabled=False, max_concurrency=2)
nightly = client.create_recurring_run(shelf.experiment_id, "nightly", cron_expression="0 0 3 * * *", pipeline_id=made.pipeline_id,
                                      version_id=second.pipeline_version_id, no_catchup=True, start_time="2030-01-01T00:00:00Z")
check("create_recurring_run", every.mode == "DISABLE" and every.trigger.periodic_schedule.interval_second == "3600", every)
got = client.get_recurring_run(nightly.recurring_run_id)
check("get_recurring_run", got.trigger.cron_schedule.cron == "0 0 3 * * *" and got.no_catchup and got.trigger.cron_schedule.start_time.year == 2030, got)
client.enable_recurring_run(every.recurring_run_id)
check("enable_recurring_run", client.get_recurring_run(every.recurring_run_id).status == "ENABLED")
client.disable_recurring_run(every.recurring_run_id)
often = client.create_recurring_run(shelf.experiment_id, "often", cron_expression="* * * * * *", pipeline_package_path=path, max_concurrency=2)
end = time.time() + 60
while not (made_by := [one for one in client.list_runs(page_size=100).runs if one.recurring_run_id == often.recurring_run_id]) and time.time() < end:
    time.sleep(0.2)
check("a recurring run makes runs", made_by and made_by[0].display_name.startswith("often 20"), made_by)
client.delete_recurring_run(often.recurring_run_id)
check("disable_recurring_run", client.get_recurring_run(every.recurring_run_id).mode == "DISABLE")
check("list_recurring_runs", sorted(one.display_name for one in client.list_recurring_runs(experiment_id=shelf.experiment_id).recurring_runs) ==
      ["hourly", "nightly"])
wrong = refusal(400, "trigger.cronSchedule.cron", client.create_recurring_run, shelf.experiment_id, "x", cron_expression="0 99 * * * *",
                pipeline_package_path=path)
check("a schedule that is none is refused", not wrong, wrong)
client.delete_recurring_run(every.recurring_run_id)
client.delete_recurring_run(nightly.recurring_run_id)
check("delete_recurring_run", not client.list_recurring_runs().recurring_runs)

# The ends of pipelines and versions.
wrong = refusal(400, "version", client.delete_pipeline, made.pipeline_id)
check("a pipeline with versions stays", not wrong, wrong)
client.delete_pipeline_version(made.pipeline_id, first[0].pipeline_version_id)
client.pipelines.pipeline_service_delete_pipeline(made.pipeline_id, cascade=True)
wrong = refusal(404, "not found", client.get_pipeline, made.pipeline_id)
check("delete_pipeline", not wrong, wrong)
client.delete_experiment(shelf.experiment_id)
wrong = refusal(404, "not found", client.get_experiment, shelf.experiment_id)
check("delete_experiment", not wrong, wrong)
