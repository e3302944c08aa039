// A PyTorchJob trains with torch.distributed; an elastic one may grow and shrink.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct ElasticPolicy {
  std::optional<std::int32_t> min_replicas;
  std::optional<std::int32_t> max_replicas;
  std::string rdzv_backend;
  std::optional<std::int32_t> rdzv_port;
  std::string rdzv_host;
  std::string rdzv_id;
  std::vector<KeyAndValue> rdzv_conf;
  std::optional<bool> standalone;
  std::optional<std::int32_t> processes_per_node;
  std::optional<std::int32_t> max_restarts;
  std::vector<Json> metrics;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ElasticPolicy";
  static constexpr auto fields() {
    using E = ElasticPolicy;
    return rows(field<&E::min_replicas>("minReplicas", "Fewest workers that can train."),
                field<&E::max_replicas>("maxReplicas", "Most workers that can train."),
                field<&E::rdzv_backend>("rdzvBackend", "How workers meet: c10d (the default), etcd or etcd-v2."),
                field<&E::rdzv_port>("rdzvPort", "Port where they meet."),
                field<&E::rdzv_host>("rdzvHost", "Host where they meet; absent: the first worker."),
                field<&E::rdzv_id>("rdzvId", "Name of the meeting."),
                field<&E::rdzv_conf>("rdzvConf", "Further settings of the meeting."),
                field<&E::standalone>("standalone", "Whether each node meets alone."),
                field<&E::processes_per_node>("nProcPerNode", "Deprecated: nprocPerNode of the job."),
                field<&E::max_restarts>("maxRestarts", "Restarts of a group of workers."),
                field<&E::metrics>("metrics", "What the number of workers follows (autoscaling/v2)."));
  }
};

struct PyTorchJobSpec {
  std::optional<TrainingRunPolicy> run_policy;
  TrainingReplicas replicas;
  std::optional<ElasticPolicy> elastic_policy;
  std::string processes_per_node;
  std::string scheduler_name;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PyTorchJobSpec";
  static constexpr auto fields() {
    using J = PyTorchJobSpec;
    return rows(field<&J::run_policy>("runPolicy", "How the job is run."),
                field<&J::replicas>("pytorchReplicaSpecs", {.required = true}, "Replicas by type: Master, Worker."),
                field<&J::elastic_policy>("elasticPolicy", "How the number of workers may change."),
                field<&J::processes_per_node>("nprocPerNode", "Processes a node: auto, cpu, gpu or a number."),
                // COMPAT(training-scheduler-name)
                field<&J::scheduler_name>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct PyTorchJob {
  ObjectMeta metadata;
  PyTorchJobSpec spec;
  TrainingJobStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PyTorchJob";
  static constexpr auto fields() {
    using J = PyTorchJob;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "What to train, and with what."), field<&J::status>("status", "How it goes."));
  }
};

}  // namespace api
