// The rules of each kind, as hooks.cc lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admission/rules/hooks.h"
#include "api/admission.h"
#include "api/schema/schema.h"

namespace admission {

using api::AdmissionAnswer;
using api::AdmissionRequest;
using api::Json;
using api::ObjectReader;

AdmissionAnswer refuse(std::string message);
AdmissionAnswer changed(Json object);

AdmissionAnswer default_job(const AdmissionRequest& request, const Options& options);
// An update of a Job in this process: what creation fills in stays filled in.
AdmissionAnswer default_job_again(const AdmissionRequest& request);
AdmissionAnswer check_job(const AdmissionRequest& request, const ObjectReader& objects, const Options& options);
AdmissionAnswer default_queue(const AdmissionRequest& request);
AdmissionAnswer check_queue(const AdmissionRequest& request, const ObjectReader& objects, const Options& options);
AdmissionAnswer default_podgroup(const AdmissionRequest& request, const ObjectReader& objects);
AdmissionAnswer check_podgroup(const AdmissionRequest& request, const ObjectReader& objects);
AdmissionAnswer check_hypernode(const AdmissionRequest& request);
AdmissionAnswer check_cronjob(const AdmissionRequest& request, const ObjectReader& objects, const Options& options);
AdmissionAnswer check_jobflow(const AdmissionRequest& request, const ObjectReader& objects);
AdmissionAnswer check_jobtemplate(const AdmissionRequest& request, const ObjectReader& objects, const Options& options);
AdmissionAnswer check_workflow(const AdmissionRequest& request);
AdmissionAnswer check_training_job(const AdmissionRequest& request);
AdmissionAnswer check_mpi_job(const AdmissionRequest& request, std::string_view version_run);
AdmissionAnswer default_pod(const AdmissionRequest& request, const Options& options);
AdmissionAnswer check_pod(const AdmissionRequest& request, const Options& options);

// Said nothing: absent, or empty text, or the number 0. A value of another type is said, and the schema refuses it.
bool is_unset_text(const Json& value);
bool is_unset_number(const Json& value);
// "CREATE" and so on.
std::string_view word(api::Operation operation);
// How the API server words a missing queue.
std::string queue_not_found(std::string_view name);
// Both tier fields are set.
bool has_both_tiers(const Json& network_topology);

// job_policies.cc: the problems of a policy list in multierror form, empty if there are none.
std::string check_policies(const Json& policies, std::string_view path);
std::string policy_vocabulary();

// pod_template.cc: every problem, each with its path below `path` ("template").
// `pod_level`: its spec.resources is judged, too.
std::vector<std::string> check_pod_template(const Json& pod_template, const std::string& path, bool pod_level);

// job_defaults.cc: fills in what the author of a Job left out (webhooks.md 4).
void default_job_spec(Json& spec, std::string_view scheduler_name);

// job_rules.cc: the problems of a new Job, but for its queue; and those of its queue that no Job of a template gets by.
std::string check_job_itself(const Json& job, const Options& options);
std::string check_queue_of_template(const Json& spec, const ObjectReader& objects);

// made_names.cc: the names that the pods and services of a Job will have.
std::string check_made_names(const Json& job);
// The problems of the Job that a template makes, each with its path below `path`.
std::string check_job_template(const std::string& job_name, const Json& ns, const Json& given, const std::string& path,
                               const ObjectReader& objects, const Options& options);

// job_update.cc
std::string check_job_update(const Json& old_job, const Json& job);
std::string check_partition(const Json& task, std::string_view job_name);

// Equal as Kubernetes compares objects: absent and empty collections are the same, quantities and durations compare by
// value, and members that the schema does not know do not count.
bool semantically_equal(const api::Schema& schema, const Json& a, const Json& b);

}  // namespace admission
