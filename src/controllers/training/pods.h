// The pods, services and the group of a training job (training.md 4, 8).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "controllers/training/framework.h"

namespace controllers::training {

inline constexpr std::string_view kJobName = "training.kubeflow.org/job-name";
inline constexpr std::string_view kOperatorName = "training.kubeflow.org/operator-name";
inline constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";
inline constexpr std::string_view kReplicaIndex = "training.kubeflow.org/replica-index";
inline constexpr std::string_view kJobRole = "training.kubeflow.org/job-role";

// The groups of scheduler-plugins.
inline const api::ResourceId kPluginGroups{"scheduling.x-k8s.io", "v1alpha1", "podgroups"};
inline const api::ResourceId kAutoscalers{"autoscaling", "v2", "horizontalpodautoscalers"};

// Whether the launcher is a Job on this server, or one of v2beta1 that is a pod like others.
bool has_launcher_job(const TrainingJob& job, const Options& options);
bool has_launcher_pods(const TrainingJob& job, const Options& options);
// For MPIJobs of v2beta1 whose workers run on: pods without their group would count for no queue (kubeflow.md 7).
bool keeps_group(const TrainingJob& job);

api::Json pod_for(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options);
api::Json service_for(const TrainingJob& job, const Replica& replica, std::int64_t index);
// The containers that the file of Options::init_template has for a master of this name; an error says why it is not a
// list of containers.
base::Result<api::Json> containers_of_template(const Options& options, const std::string& master);
// "key=value,...", in the order of keys: the pods of one type.
std::string selector_of(const TrainingJob& job, const Replica& replica);
// metadata of an object that goes with the job.
api::Json owned_metadata(const TrainingJob& job, std::string_view name);

// The newest condition of a pod, if it is not met; null: nothing troubles it.
const api::Json* trouble_of(const api::Json& pod_status);

// The value of the label operator-name.
std::string_view operator_of(const Framework& framework);
// The number on a pod's label of its first replica: the launcher that works is 0, and its workers follow.
std::int64_t first_index(const TrainingJob& job, const Replica& replica);

const api::ResourceId& group_resource(const Options& options);
// The scheduler of the gangs.
std::string_view gang_scheduler(const Options& options);

using PriorityOf = std::function<std::int64_t(std::string_view priority_class)>;
api::Json group_for(const TrainingJob& job, const Options& options, const PriorityOf& priority_of);
// A JSON patch that makes `group` what it should be; unset: it is.
std::optional<api::Json> group_patch(const TrainingJob& job, const Options& options, const api::Json& group,
                                     const PriorityOf& priority_of);

bool names_other_scheduler(const TrainingJob& job, const Options& options);

}  // namespace controllers::training
