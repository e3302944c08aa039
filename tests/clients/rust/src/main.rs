//! kube-rs as it is, against the cluster of $KUBECONFIG: a watch, a command in a pod, a forwarded port, a log.
use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, ApiResource, AttachParams, DynamicObject, LogParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::runtime::wait::{await_condition, conditions::is_pod_running};
use kube::Client;
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn check(name: &str, ok: bool, more: impl std::fmt::Debug) {
    if ok {
        println!("ok clients: kube-rs {name}");
    } else {
        println!("FAIL clients: kube-rs {name}: {more:?}");
    }
}

async fn page(pods: &Api<Pod>, port: u16) -> Outcome<String> {
    let mut forward = pods.portforward("kube-rs", &[port]).await?;
    let mut stream = forward.take_stream(port).ok_or("there is no stream")?;
    stream.write_all(b"GET / HTTP/1.0\r\nHost: x\r\n\r\n").await?;
    let mut text = String::new();
    timeout(Duration::from_secs(20), stream.read_to_string(&mut text)).await??;
    drop(stream);
    Ok(text)
}

async fn run_command(pods: &Api<Pod>) -> Outcome<(String, String, String)> {
    let params = AttachParams::default().stdout(true).stderr(true);
    let mut process = pods.exec("kube-rs", ["sh", "-c", "echo reached; echo aside >&2; exit 3"], &params).await?;
    let (mut out, mut err) = (String::new(), String::new());
    process.stdout().ok_or("no stdout")?.read_to_string(&mut out).await?;
    process.stderr().ok_or("no stderr")?.read_to_string(&mut err).await?;
    let status = process.take_status().ok_or("no status")?.await.ok_or("no status came")?;
    let code = status.details.and_then(|d| d.causes).and_then(|c| c.into_iter().next()).and_then(|c| c.message);
    Ok((out, err, code.unwrap_or_default()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let client = Client::try_default().await?;
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let server: Pod = serde_json::from_value(json!({"metadata": {"name": "kube-rs"}, "spec": {"terminationGracePeriodSeconds": 1,
        "containers": [{"name": "c", "image": "nginx:latest", "command": ["python3", "-m", "http.server", "--bind", "127.0.0.1", "8000"]}]}}))?;
    pods.create(&PostParams::default(), &server).await?;
    let running = timeout(Duration::from_secs(60), await_condition(pods.clone(), "kube-rs", is_pod_running())).await??;
    check("waits until a pod runs", running.is_some(), ());

    let said = run_command(&pods).await?;
    check("runs a command in a pod", said == ("reached\n".into(), "aside\n".into(), "3".into()), &said);
    let mut text = String::new();
    for _ in 0..50 {
        text = page(&pods, 8000).await.unwrap_or_default();
        if text.contains("200 OK") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let second = page(&pods, 8000).await?;
    check("forwards a port, twice", text.contains("200 OK") && second.contains("Directory listing"), (text, second));

    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job"));
    let jobs: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &kind);
    let job: DynamicObject = serde_json::from_value(json!({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "kube-rs"},
        "spec": {"minAvailable": 1, "tasks": [{"name": "main", "replicas": 1, "template": {"spec": {"restartPolicy": "Never",
            "containers": [{"name": "c", "image": "nginx:latest", "command": ["sh", "-c", "echo done"]}]}}}]}}))?;
    jobs.create(&PostParams::default(), &job).await?;
    let completed = |one: Option<&DynamicObject>| one.is_some_and(|j| j.data["status"]["state"]["phase"] == "Completed");
    let done = timeout(Duration::from_secs(60), await_condition(jobs, "kube-rs", completed)).await??;
    check("watches a job to its end", done.is_some(), ());
    let log = pods.logs("kube-rs-main-0", &LogParams::default()).await?;
    check("reads a log", log == "done\n", &log);

    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let apply = PatchParams::apply("kube-rs");
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-rs"}, "data": {"a": "1"}});
    let applied = maps.patch("kube-rs", &apply, &Patch::Apply(&map)).await?;
    check("applies an object", applied.data.is_some_and(|d| d["a"] == "1"), ());
    let mut events = kube::runtime::watcher(maps, Default::default()).boxed();
    let first = timeout(Duration::from_secs(20), events.next()).await?;
    check("begins a watch", first.is_some_and(|e| e.is_ok()), ());
    Ok(())
}
