// The pods, services and the group of a training job (training.md 4, 8).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "controllers/training/framework.h"

namespace controllers::training {

inline constexpr std::string_view kJobName = "training.kubeflow.org/job-name";
inline constexpr std::string_view kOperatorName = "training.kubeflow.org/operator-name";
inline constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";
inline constexpr std::string_view kReplicaIndex = "training.kubeflow.org/replica-index";

api::Json pod_for(const TrainingJob& job, const Replica& replica, std::int64_t index, const Options& options);
api::Json service_for(const TrainingJob& job, const Replica& replica, std::int64_t index);
// "key=value,...", in the order of keys: the pods of one type.
std::string selector_of(const TrainingJob& job, const Replica& replica);
// metadata of an object that goes with the job.
api::Json owned_metadata(const TrainingJob& job, std::string_view name);

using PriorityOf = std::function<std::int64_t(std::string_view priority_class)>;
api::Json group_for(const TrainingJob& job, const PriorityOf& priority_of);
// A JSON patch that makes `group` what it should be; unset: it is.
std::optional<api::Json> group_patch(const TrainingJob& job, const api::Json& group, const PriorityOf& priority_of);

bool names_other_scheduler(const TrainingJob& job);

}  // namespace controllers::training
