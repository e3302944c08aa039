// A PyTorchJob trains with torch.distributed; an elastic one may grow and shrink.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct ElasticPolicy {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ElasticPolicy";
  static constexpr auto fields() {
    return rows(field<std::int32_t>("minReplicas", "Fewest workers that can train."),
                field<std::int32_t>("maxReplicas", "Most workers that can train."),
                field<Text>("rdzvBackend", "How workers meet: c10d (the default), etcd or etcd-v2."),
                field<std::int32_t>("rdzvPort", "Port where they meet."),
                field<Text>("rdzvHost", "Host where they meet; absent: the first worker."),
                field<Text>("rdzvId", "Name of the meeting."),
                field<List<KeyAndValue>>("rdzvConf", "Further settings of the meeting."),
                field<bool>("standalone", "Whether each node meets alone."),
                field<std::int32_t>("nProcPerNode", "Deprecated: nprocPerNode of the job."),
                field<std::int32_t>("maxRestarts", "Restarts of a group of workers."),
                field<List<Json>>("metrics", "What the number of workers follows (autoscaling/v2)."));
  }
};

struct PyTorchJobSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PyTorchJobSpec";
  static constexpr auto fields() {
    return rows(field<TrainingRunPolicy>("runPolicy", "How the job is run."),
                field<TrainingReplicas>("pytorchReplicaSpecs", {.required = true}, "Replicas by type: Master, Worker."),
                field<ElasticPolicy>("elasticPolicy", "How the number of workers may change."),
                field<Text>("nprocPerNode", "Processes a node: auto, cpu, gpu or a number."),
                // COMPAT(training-scheduler-name)
                field<Text>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct PyTorchJob {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PyTorchJob";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<PyTorchJobSpec>("spec", "What to train, and with what."),
                field<TrainingJobStatus>("status", "How it goes."));
  }
};

}  // namespace api
