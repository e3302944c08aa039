// The environment of each framework's pods, byte for byte (training.md 4, 5).
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/training/mpi_objects.h"
#include "controllers/training/pods.h"

namespace controllers::training {
namespace {

using api::Json;

Json parsed(std::string_view text) {
  auto json = api::parse_json(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *json : Json();
}

// `replicas`: {"Worker": 2}; each has one container of the framework's name, with `container` added.
TrainingJob job_of(std::string_view kind, std::string_view replicas, std::string_view spec = "{}",
                   std::string_view container = "{}", std::string_view version = "v1") {
  const Framework& framework = *find_framework(kind, version);
  Json map = Json::object();
  const Json counts = parsed(replicas);
  for (const Json::Member& member : counts.members()) {
    Json one = parsed(container);
    one.set("name", framework.container);
    one.set("image", "i");
    Json pod = Json::object({{"spec", Json::object({{"containers", Json::array({one})}})}});
    map.set(member.name(), Json::object({{"replicas", member.value}, {"template", pod}}));
  }
  Json whole = parsed(spec);
  whole.set(framework.replica_map, map);
  return read_job(framework,
                  Json::object({{"apiVersion", framework.resource.api_version()},
                                {"kind", kind},
                                {"metadata", Json::object({{"name", "j"}, {"namespace", "ns"}, {"uid", "U"}})},
                                {"spec", whole}}));
}

// "NAME=value" a line, of the first container.
std::string env_of(const TrainingJob& job, std::string_view type, std::int64_t index) {
  const Json pod = pod_for(job, *job.find(type), index, {});
  std::string text;
  for (const Json& one : pod["spec"]["containers"].items()[0]["env"].items())
    text += base::format("{}={}\n", one["name"].as_string(),
                         one.has("value") ? one["value"].str() : one["valueFrom"]["fieldRef"]["fieldPath"].str());
  return text;
}

TEST(PyTorch, tells_ranks_and_the_master) {
  const TrainingJob job = job_of("PyTorchJob", R"({"Worker": 2, "Master": 1})", R"({"nprocPerNode": "2"})");
  EXPECT_EQ(env_of(job, "Worker", 1),
            "PYTHONUNBUFFERED=1\nMASTER_PORT=23456\nPET_MASTER_PORT=23456\nMASTER_ADDR=j-master-0\n"
            "PET_MASTER_ADDR=j-master-0\nWORLD_SIZE=6\nRANK=2\nPET_NODE_RANK=2\nPET_NPROC_PER_NODE=2\nPET_NNODES=3\n");
  EXPECT_EQ(env_of(job, "Master", 0),
            "PYTHONUNBUFFERED=1\nMASTER_PORT=23456\nPET_MASTER_PORT=23456\nMASTER_ADDR=j-master-0\n"
            "PET_MASTER_ADDR=j-master-0\nWORLD_SIZE=6\nRANK=0\nPET_NODE_RANK=0\nPET_NPROC_PER_NODE=2\nPET_NNODES=3\n");
  const TrainingJob many =
      job_of("PyTorchJob", R"({"Worker": 2, "Master": 1})", R"({"nprocPerNode": "9223372036854775807"})");
  EXPECT_NE(env_of(many, "Master", 0).find("WORLD_SIZE=6442450941\n"), std::string::npos);
  const Json worker = pod_for(job, *job.find("Worker"), 0, {.init_tries_max = 7});
  const Json& init = worker["spec"]["initContainers"].items()[0];
  EXPECT_EQ(init["name"].as_string(), "init-pytorch");
  EXPECT_EQ(init["image"].as_string(), "alpine:3.10");
  EXPECT_NE(init["command"].items()[2].as_string().find("nslookup j-master-0"), std::string_view::npos);
  EXPECT_NE(init["command"].items()[2].as_string().find("left=7\n"), std::string_view::npos);
  EXPECT_TRUE(pod_for(job, *job.find("Master"), 0, {})["spec"]["initContainers"].empty());
}

TEST(PyTorch, takes_init_containers_from_a_template) {
  const TrainingJob job = job_of("PyTorchJob", R"({"Worker": 1, "Master": 1})");
  const Json pod = pod_for(
      job, *job.find("Worker"), 0,
      {.init_image = "busybox",
       .init_template =
           "- name: wait\n  image: {{.InitContainerImage}}\n  command: [wait, '{{.MasterAddr}}', '{{.MaxTries}}']\n"});
  EXPECT_EQ(pod["spec"]["initContainers"].dump(),
            R"([{"name":"wait","image":"busybox","command":["wait","j-master-0","100"]}])");
}

TEST(PyTorch, tells_elastic_workers_where_they_meet) {
  const TrainingJob job = job_of("PyTorchJob", R"({"Worker": 2})",
                                 R"({"elasticPolicy": {"maxReplicas": 4, "maxRestarts": 3, "rdzvId": "x",
                                     "rdzvConf": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}],
                                     "standalone": true}})");
  EXPECT_EQ(env_of(job, "Worker", 0),
            "PYTHONUNBUFFERED=1\nPET_NPROC_PER_NODE=auto\nPET_RDZV_ENDPOINT=j-worker-0:23456\nPET_RDZV_BACKEND=c10d\n"
            "PET_NNODES=4:4\nPET_MAX_RESTARTS=3\nPET_RDZV_ID=x\nPET_RDZV_CONF=a=1,b=2\nPET_STANDALONE=\n");
  EXPECT_EQ(env_of(job_of("PyTorchJob", R"({"Worker": 2})", R"({"elasticPolicy": {"nProcPerNode": 8}})"), "Worker", 1),
            "PYTHONUNBUFFERED=1\nPET_RDZV_ENDPOINT=j-worker-0:23456\nPET_RDZV_BACKEND=c10d\nPET_NNODES=2:2\n"
            "PET_NPROC_PER_NODE=8\n");
}

TEST(TensorFlow, tells_the_cluster) {
  EXPECT_EQ(env_of(job_of("TFJob", R"({"Worker": 2, "Ps": 1, "Chief": 1})"), "Worker", 1),
            R"(TF_CONFIG={"cluster":{"chief":["j-chief-0.ns.svc:2222"],"ps":["j-ps-0.ns.svc:2222"],)"
            R"("worker":["j-worker-0.ns.svc:2222","j-worker-1.ns.svc:2222"]},)"
            R"("task":{"type":"worker","index":1},"environment":"cloud"})"
            "\n");
  EXPECT_EQ(env_of(job_of("TFJob", R"({"Worker": 1})"), "Worker", 0), "");
  const TrainingJob sparse = job_of("TFJob", R"({"Worker": 2, "PS": 1})", R"({"enableDynamicWorker": true})",
                                    R"({"ports": [{"name": "tfjob-port", "containerPort": 9}]})");
  EXPECT_EQ(env_of(sparse, "Worker", 1),
            R"(TF_CONFIG={"cluster":{"worker":{"1":"j-worker-1.ns.svc:9"},"ps":["j-ps-0.ns.svc:9"]},)"
            R"("task":{"type":"worker","index":1}})"
            "\n");
  EXPECT_EQ(env_of(sparse, "PS", 0),
            R"(TF_CONFIG={"cluster":{"worker":{},"ps":["j-ps-0.ns.svc:9"]},"task":{"type":"ps","index":0}})"
            "\n");
}

TEST(XGBoost, tells_ranks_and_workers) {
  EXPECT_EQ(env_of(job_of("XGBoostJob", R"({"Master": 1, "Worker": 2})"), "Worker", 1),
            "MASTER_PORT=9999\nMASTER_ADDR=j-master-0\nWORLD_SIZE=3\nRANK=2\nPYTHONUNBUFFERED=1\nWORKER_PORT=9999\n"
            "WORKER_ADDRS=j-worker-0,j-worker-1\n");
  EXPECT_EQ(env_of(job_of("XGBoostJob", R"({"Master": 1})"), "Master", 0),
            "MASTER_PORT=9999\nMASTER_ADDR=j-master-0\nWORLD_SIZE=1\nRANK=0\nPYTHONUNBUFFERED=1\n");
}

TEST(Paddle, tells_where_the_first_one_is) {
  constexpr std::string_view kHead = "PYTHONUNBUFFERED=1\nPADDLE_JOB_ID=j\nPADDLE_NNODES=2\n";
  const TrainingJob collective = job_of("PaddleJob", R"({"Worker": 2})");
  EXPECT_EQ(env_of(collective, "Worker", 0),
            base::format("{}POD_IP_DUMMY=status.podIP\nPADDLE_MASTER=$(POD_IP_DUMMY):36543\n", kHead));
  EXPECT_EQ(env_of(collective, "Worker", 1), base::format("{}PADDLE_MASTER=j-worker-0:36543\n", kHead));
  const TrainingJob servers = job_of("PaddleJob", R"({"Worker": 1, "Master": 1})");
  EXPECT_EQ(
      env_of(servers, "Master", 0),
      base::format("{}POD_IP_DUMMY=status.podIP\nPADDLE_MASTER=$(POD_IP_DUMMY):36543\nPADDLE_SERVER_NUM=1\n", kHead));
  EXPECT_EQ(env_of(servers, "Worker", 0),
            base::format("{}PADDLE_MASTER=j-master-0:36543\nPADDLE_TRAINER_NUM=1\n", kHead));
}

TEST(Jax, tells_the_coordinator) {
  EXPECT_EQ(
      env_of(job_of("JAXJob", R"({"Worker": 2})"), "Worker", 1),
      "PYTHONUNBUFFERED=1\nCOORDINATOR_PORT=6666\nCOORDINATOR_ADDRESS=j-worker-0\nNUM_PROCESSES=2\nPROCESS_ID=1\n");
}

TEST(Mpi, has_a_launcher_that_reaches_workers) {
  const TrainingJob job =
      job_of("MPIJob", R"({"Launcher": 1, "Worker": 2})", R"({"slotsPerWorker": 3, "mainContainer": "m"})",
             R"({"env": [{"name": "I_MPI_HYDRA_BOOTSTRAP", "value": "ssh"}]})");
  EXPECT_EQ(env_of(job, "Launcher", 0),
            "I_MPI_HYDRA_BOOTSTRAP=ssh\nOMPI_MCA_plm_rsh_agent=/etc/mpi/kubexec.sh\n"
            "OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile\nNVIDIA_VISIBLE_DEVICES=\nNVIDIA_DRIVER_CAPABILITIES=\n"
            "I_MPI_HYDRA_BOOTSTRAP_EXEC=/etc/mpi/kubexec.sh\n");
  const Json launcher = pod_for(job, *job.find("Launcher"), 0, {});
  EXPECT_EQ(api::name_of(launcher), "j-launcher");
  EXPECT_FALSE(launcher["metadata"]["labels"].has(kReplicaIndex));
  EXPECT_EQ(launcher["spec"]["serviceAccountName"].as_string(), "j-launcher");
  const Json worker = pod_for(job, *job.find("Worker"), 1, {});
  EXPECT_EQ(worker["spec"]["containers"].items()[0]["command"].dump(), R"(["sleep"])");
  EXPECT_EQ(worker["spec"]["containers"].items()[0]["args"].dump(), R"(["365d"])");
  const auto objects = mpi_objects(job, {"j-worker-1"}, {});
  ASSERT_EQ(objects.size(), 4u);
  EXPECT_EQ(objects[1].object["data"]["hostfile"].as_string(), "j-worker-0 slots=3\nj-worker-1 slots=3\n");
  EXPECT_EQ(objects[1].object["data"]["discover_hosts.sh"].as_string(), "#!/bin/sh\necho j-worker-1:3\n");
  EXPECT_NE(objects[1].object["data"]["kubexec.sh"].as_string().find(
                "/opt/kube/kubectl exec ${POD_NAME} --container m -- /bin/sh -c \"$*\""),
            std::string_view::npos);
  EXPECT_EQ(objects[2].object["rules"].items()[1]["resourceNames"].dump(), R"(["j-worker-0","j-worker-1"])");
  // No names would be all names.
  const Json alone = mpi_objects(job_of("MPIJob", R"({"Launcher": 1})"), {}, {})[2].object["rules"];
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone.items()[0]["resources"].dump(), R"(["pods"])");
}

TEST(Mpi, counts_a_launcher_with_devices) {
  const TrainingJob job =
      job_of("MPIJob", R"({"Launcher": 1, "Worker": 1})", "{}", R"({"resources": {"limits": {"nvidia.com/gpu": 1}}})");
  EXPECT_EQ(env_of(job, "Launcher", 0).find("NVIDIA"), std::string::npos);
  EXPECT_EQ(mpi_objects(job, {}, {})[1].object["data"]["hostfile"].as_string(),
            "j-launcher slots=1\nj-worker-0 slots=1\n");
}

TrainingJob ssh_job(std::string_view spec) {
  return job_of("MPIJob", R"({"Launcher": 1, "Worker": 2})", spec, "{}", "v2beta1");
}

TEST(SshMpi, tells_each_implementation_where_the_hosts_are) {
  const std::string hidden = "NVIDIA_VISIBLE_DEVICES=\nNVIDIA_DRIVER_CAPABILITIES=\n";
  EXPECT_EQ(env_of(ssh_job(R"({"slotsPerWorker": 2})"), "Launcher", 0),
            "K_MPI_JOB_ROLE=launcher\nOMPI_MCA_orte_keep_fqdn_hostnames=true\n"
            "OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile\nOMPI_MCA_plm_rsh_args=-o ConnectionAttempts=10\n"
            "OMPI_MCA_orte_set_default_slots=2\n" +
                hidden);
  EXPECT_EQ(env_of(ssh_job(R"({"slotsPerWorker": 2, "mpiImplementation": "Intel"})"), "Launcher", 0),
            "K_MPI_JOB_ROLE=launcher\nI_MPI_HYDRA_HOST_FILE=/etc/mpi/hostfile\nI_MPI_PERHOST=2\n" + hidden);
  EXPECT_EQ(env_of(ssh_job(R"({"mpiImplementation": "MPICH", "runLauncherAsWorker": true})"), "Launcher", 0),
            "K_MPI_JOB_ROLE=launcher\nHYDRA_HOST_FILE=/etc/mpi/hostfile\n");
  EXPECT_EQ(env_of(ssh_job("{}"), "Worker", 1), "K_MPI_JOB_ROLE=worker\n");
}

TEST(SshMpi, lists_hosts_as_each_implementation_reads_them) {
  const auto hosts = [](std::string_view spec) {
    return mpi_ssh_objects(ssh_job(spec), {}, {})[1].object["data"]["hostfile"].str();
  };
  EXPECT_EQ(hosts(R"({"slotsPerWorker": 3})"), "j-worker-0.j.ns.svc slots=3\nj-worker-1.j.ns.svc slots=3\n");
  EXPECT_EQ(hosts(R"({"mpiImplementation": "Intel", "runLauncherAsWorker": true})"),
            "j-launcher.j.ns.svc:1\nj-worker-0.j.ns.svc:1\nj-worker-1.j.ns.svc:1\n");
}

TEST(SshMpi, has_keys_and_names_in_its_pods) {
  const TrainingJob job = ssh_job("{}");
  const Json worker = pod_for(job, *job.find("Worker"), 1, {});
  EXPECT_EQ(worker["metadata"]["labels"].dump(),
            R"({"training.kubeflow.org/operator-name":"mpi-operator","training.kubeflow.org/job-name":"j",)"
            R"("training.kubeflow.org/replica-type":"worker","training.kubeflow.org/replica-index":"1",)"
            R"("training.kubeflow.org/job-role":"worker"})");
  EXPECT_EQ(worker["spec"]["hostname"].as_string(), "j-worker-1");
  EXPECT_EQ(worker["spec"]["subdomain"].as_string(), "j");
  EXPECT_EQ(worker["spec"]["dnsConfig"].dump(), R"({"searches":["j.ns.svc.cluster.local"]})");
  EXPECT_EQ(worker["spec"]["containers"].items()[0]["command"].dump(), R"(["/usr/sbin/sshd"])");
  EXPECT_EQ(worker["spec"]["containers"].items()[0]["args"].dump(), R"(["-De"])");
  EXPECT_EQ(worker["spec"]["volumes"].dump(),
            R"([{"name":"ssh-auth","secret":{"secretName":"j-ssh","items":[{"key":"ssh-privatekey","path":"id_rsa"},)"
            R"({"key":"ssh-publickey","path":"id_rsa.pub"},{"key":"ssh-publickey","path":"authorized_keys"}],)"
            R"("defaultMode":384}}])");
  EXPECT_EQ(worker["spec"]["restartPolicy"].as_string(), "Never");
  const TrainingJob other = ssh_job(R"({"sshAuthMountPath": "/home/mpi/.ssh", "runLauncherAsWorker": true})");
  const Json launcher = pod_for(other, *other.find("Launcher"), 0, {});
  EXPECT_EQ(launcher["spec"]["containers"].items()[0]["volumeMounts"].dump(),
            R"([{"name":"mpi-job-config","mountPath":"/etc/mpi"},{"name":"ssh-auth","mountPath":"/home/mpi/.ssh"}])");
  EXPECT_FALSE(launcher["spec"]["volumes"].items()[1]["secret"].has("defaultMode"));
  EXPECT_EQ(launcher["spec"]["restartPolicy"].as_string(), "OnFailure");
  EXPECT_EQ(api::label_of(launcher, kReplicaIndex), "0");
  EXPECT_EQ(api::label_of(pod_for(other, *other.find("Worker"), 0, {}), kReplicaIndex), "1");
}

TEST(SshMpi, has_a_gang_without_a_launcher_that_waits_for_it) {
  const PriorityOf none = [](std::string_view) { return 0; };
  const TrainingJob job = ssh_job(R"({"launcherCreationPolicy": "WaitForWorkersReady"})");
  EXPECT_EQ(group_for(job, {}, none)["spec"].dump(), R"({"minMember":2})");
  const TrainingJob other = ssh_job(R"({"launcherCreationPolicy": "WaitForWorkersReady",
                                        "runPolicy": {"schedulingPolicy": {"minAvailable": 3}}})");
  EXPECT_EQ(group_for(other, {}, none)["spec"].dump(), R"({"minMember":2})");
}

TEST(SshMpi, names_queue_and_class_of_its_group) {
  const PriorityOf none = [](std::string_view) { return 0; };
  TrainingJob job = ssh_job("{}");
  EXPECT_EQ(group_for(job, {}, none)["spec"].dump(), R"({"minMember":3})");
  job.object.edit_path({"metadata", "annotations"}).set("scheduling.volcano.sh/queue-name", "q");
  job.replicas[1].pod_template.edit("spec").set("priorityClassName", "high");
  const Json group = group_for(job, {}, none);
  EXPECT_EQ(group["spec"].dump(), R"({"minMember":3,"queue":"q","priorityClassName":"high"})");
  EXPECT_FALSE(group_patch(job, {}, group, none));
  // The gang is one scheduler's, whatever the template says.
  job.replicas[1].pod_template.edit("spec").set("schedulerName", "other");
  EXPECT_EQ(pod_for(job, job.replicas[1], 0, {})["spec"]["schedulerName"].as_string(), "volcano");
  EXPECT_FALSE(names_other_scheduler(job, {}));
}

TEST(SshMpi, is_not_run_when_it_makes_no_sense) {
  const auto problem = [](std::string_view replicas, std::string_view spec) {
    return problem_of(job_of("MPIJob", replicas, spec, "{}", "v2beta1"));
  };
  const std::string_view both = R"({"Launcher": 1, "Worker": 2})";
  EXPECT_EQ(problem(both, "{}"), "");
  EXPECT_EQ(problem("{}", "{}"), "spec.mpiReplicaSpecs: Required value: must have MPI replica specs");
  EXPECT_EQ(problem(R"({"Worker": 2})", "{}"),
            "spec.mpiReplicaSpecs[Launcher]: Required value: must have Launcher replica spec");
  EXPECT_EQ(problem(R"({"Launcher": 2})", "{}"),
            "spec.mpiReplicaSpecs[Launcher].replicas: Invalid value: 2: must be 1");
  EXPECT_EQ(problem(R"({"Launcher": 1, "Worker": 0})", "{}"),
            "spec.mpiReplicaSpecs[Worker].replicas: Invalid value: 0: must be greater than or equal to 1");
  EXPECT_EQ(problem(R"({"Launcher": 1, "Chief": 1})", "{}"),
            "spec.mpiReplicaSpecs[Chief]: Unsupported value: \"Chief\": supported values: \"Launcher\", \"Worker\"");
  EXPECT_EQ(problem(both, R"({"mpiImplementation": "LAM"})"),
            "spec.mpiImplementation: Unsupported value: \"LAM\": supported values: \"OpenMPI\", \"Intel\", \"MPICH\"");
  EXPECT_EQ(
      problem(both, R"({"runPolicy": {"cleanPodPolicy": "Some"}})"),
      "spec.runPolicy.cleanPodPolicy: Unsupported value: \"Some\": supported values: \"None\", \"Running\", \"All\"");
  EXPECT_EQ(problem(both, R"({"runPolicy": {"backoffLimit": -1}})"),
            "spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(problem(both, R"({"runPolicy": {"managedBy": "me"}})").substr(0, 54),
            "spec.runPolicy.managedBy: Unsupported value: \"me\": sup");
}

TEST(Pods, carry_what_others_select_by) {
  const TrainingJob job = job_of("PyTorchJob", R"({"Worker": 2})");
  const Json pod = pod_for(job, *job.find("Worker"), 0, {});
  EXPECT_EQ(pod["metadata"]["labels"].dump(),
            R"({"training.kubeflow.org/operator-name":"pytorchjob-controller","training.kubeflow.org/job-name":"j",)"
            R"("training.kubeflow.org/replica-type":"worker","training.kubeflow.org/replica-index":"0",)"
            R"("training.kubeflow.org/job-role":"master"})");
  EXPECT_EQ(pod["metadata"]["annotations"].dump(),
            R"({"scheduling.k8s.io/group-name":"j","volcano.sh/task-spec":"worker"})");
  EXPECT_EQ(pod["spec"]["schedulerName"].as_string(), "volcano");
  EXPECT_EQ(pod["spec"]["restartPolicy"].as_string(), "OnFailure");
  EXPECT_FALSE(pod_for(job, *job.find("Worker"), 1, {})["metadata"]["labels"].has("training.kubeflow.org/job-role"));
  EXPECT_TRUE(pod_for(job, *job.find("Worker"), 1, {.gang = false})["metadata"]["annotations"].is_null());
  const Json service = service_for(job, *job.find("Worker"), 1);
  EXPECT_EQ(service["spec"]["ports"].dump(), R"([{"port":23456,"name":"pytorchjob-port"}])");
  EXPECT_EQ(service["spec"]["clusterIP"].as_string(), "None");
  EXPECT_EQ(service["spec"]["selector"], service["metadata"]["labels"]);
  EXPECT_EQ(selector_of(job, *job.find("Worker")),
            "training.kubeflow.org/job-name=j,training.kubeflow.org/operator-name=pytorchjob-controller,"
            "training.kubeflow.org/replica-type=worker");
}

TEST(Group, asks_for_what_the_gang_needs) {
  // The document's example: parameter servers without resources, workers with a limit.
  TrainingJob job = job_of("TFJob", R"({"PS": 2, "Worker": 4})");
  job.replicas[1]
      .pod_template.edit_path({"spec", "containers"})
      .edit(std::size_t{0})
      .set("resources", parsed(R"({"limits": {"nvidia.com/gpu": 1}})"));
  const PriorityOf none = [](std::string_view) { return 0; };
  const Json group = group_for(job, {}, none);
  EXPECT_EQ(group["spec"].dump(), R"({"minMember":6,"queue":"default","minResources":{"nvidia.com/gpu":"4"}})");
  EXPECT_FALSE(group_patch(job, {}, group, none));
  job.object.edit_path({"spec", "runPolicy", "schedulingPolicy"}).set("minAvailable", 3);
  EXPECT_EQ(group_for(job, {}, none)["spec"]["minResources"].dump(), R"({"nvidia.com/gpu":"1"})");
  EXPECT_EQ(group_patch(job, {}, group, none)->dump(),
            R"([{"op":"add","path":"/spec/minMember","value":3},)"
            R"({"op":"add","path":"/spec/minResources","value":{"nvidia.com/gpu":"1"}}])");
  // A class of higher priority is counted first.
  job.replicas[1].pod_template.edit("spec").set("priorityClassName", "high");
  EXPECT_EQ(group_for(job, {}, [](std::string_view) { return 9; })["spec"]["minResources"].dump(),
            R"({"nvidia.com/gpu":"3"})");
}

TEST(Jobs, have_each_type_once_whatever_its_spelling) {
  const TrainingJob job = job_of("TFJob", R"({"Foo": 5, "foo": 2, "worker": 1})");
  ASSERT_EQ(job.replicas.size(), 2u);
  EXPECT_EQ(job.find("Foo")->count, 5);
  EXPECT_EQ(job.find("foo"), nullptr);
}

TEST(Group, takes_a_limit_for_a_request_as_its_operator_does) {
  const std::string_view container =
      R"({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "4", "nvidia.com/gpu": 8}}})";
  const PriorityOf none = [](std::string_view) { return 0; };
  for (const auto& [version, needed] :
       {std::pair{"v1", R"({"cpu":"4"})"}, std::pair{"v2beta1", R"({"cpu":"4","nvidia.com/gpu":"16"})"}}) {
    const TrainingJob job = job_of("MPIJob", R"({"Launcher": 1, "Worker": 1})", "{}", container, version);
    EXPECT_EQ(group_for(job, {}, none)["spec"]["minResources"].dump(), needed) << version;
  }
}

TEST(PyTorch, waits_as_the_template_of_its_operator_says) {
  // As it is published: without quotes it is YAML only when it is filled in.
  Options options{.init_image = "alpine:3.10", .init_tries_max = 7};
  options.init_template =
      "- name: init\n  image: {{.InitContainerImage}}\n  command: ['sh', '-c', 'nslookup "
      "{{.MasterAddr}} || [ {{.MaxTries}} -gt 0 ]']\n";
  const auto containers = containers_of_template(options, "j-master-0");
  ASSERT_TRUE(containers.ok()) << containers.error().message;
  EXPECT_EQ(containers->dump(), R"([{"name":"init","image":"alpine:3.10","command":["sh","-c","nslookup j-master-0 )"
                                R"(|| [ 7 -gt 0 ]"]}])");
  const TrainingJob job = job_of("PyTorchJob", R"({"Master": 1, "Worker": 1})");
  EXPECT_EQ(pod_for(job, *job.find("Worker"), 0, options)["spec"]["initContainers"], *containers);
  for (const char* wrong : {"name: init", "- {{", "text"}) {
    options.init_template = wrong;
    EXPECT_FALSE(containers_of_template(options, "j").ok()) << wrong;
  }
}

TEST(Jobs, are_not_run_when_no_pod_can_be_made) {
  const auto problem = [](const TrainingJob& job) { return problem_of(job); };
  EXPECT_EQ(problem(job_of("TFJob", R"({"Worker": 2})")), "");
  EXPECT_EQ(problem(job_of("TFJob", "{}")), "spec.tfReplicaSpecs: Required value: must be required");
  EXPECT_EQ(problem(job_of("TFJob", R"({"Worker": 2000000})")),
            "spec.tfReplicaSpecs: 2000000 replicas are more than 20000");
  EXPECT_EQ(problem(job_of("TFJob", R"({"Work/er": 1})")), "");
  std::string types;
  for (int i = 0; i < 101; ++i) types += base::format("{}\"t{}\": 1", i == 0 ? "" : ", ", i);
  EXPECT_EQ(problem(job_of("TFJob", "{" + types + "}")),
            "spec.tfReplicaSpecs: 101 types of replicas are more than 100");
  TrainingJob longer = job_of("JAXJob", R"({"Worker": 11})");
  longer.name = std::string(54, 'a');
  EXPECT_EQ(problem(longer).substr(0, 66), "spec.jaxReplicaSpecs[Worker]: the name of a pod, aaaaaaaaaaaaaaaaa");
  EXPECT_EQ(problem(job_of("MPIJob", R"({"Worker": 1})")),
            "MPIReplicaSpec is not valid: Master ReplicaSpec must be present");
  EXPECT_EQ(problem(job_of("MPIJob", R"({"Launcher": 2})")),
            "MPIReplicaSpec is not valid: There must be only 1 launcher replica");
  EXPECT_EQ(problem(job_of("MPIJob", R"({"Launcher": 1, "Chief": 1})")),
            "MPIReplicaType is Chief but must be one of [Launcher Worker]");
}

}  // namespace
}  // namespace controllers::training
