// An experiment is called after its display name, which so is unique in its namespace.
#include "pipelines/rest/experiments.h"

#include "base/format.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/rest/listing.h"
#include "pipelines/rest/names.h"
#include "pipelines/rest/objects.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::string_view kDefault = "Default";

Json shape(const Json& experiment) {
  Json row = Json::object({{"experiment_id", api::uid_of(experiment)},
                           {"display_name", shown_name(experiment)},
                           {"description", experiment["spec"]["description"].as_string()},
                           {"created_at", created_at(experiment)},
                           {"namespace", api::namespace_of(experiment)},
                           {"storage_state", storage_state(experiment)},
                           {"last_run_created_at", time_or_epoch(experiment["status"]["lastRunCreatedAt"])}});
  return row;
}

base::Result<Json> make(Facts& facts, const std::string& ns, const std::string& name, const std::string& description) {
  Json spec = Json::object({{"displayName", name}});
  set_text(spec, "description", description);
  return create(facts, kExperimentNoun, ns, new_object("Experiment", object_name(name), std::move(spec)));
}

// The object is read again, because the index may be behind.
base::Status change(Facts& facts, const Noun& noun, const Json& row, Json changes) {
  auto object = object_of(facts, noun, std::string(api::uid_of(row)));
  if (!object.ok() && !facts.next() && object.error().code == Code::kNotFound) return {};
  if (!object.ok()) return object.take_error();
  TRY_VOID(patch(facts, noun, *object, std::move(changes)));
  return {};
}

Json stored_as(std::string_view state) { return Json::object({{"spec", Json::object({{"storageState", state}})}}); }

}  // namespace

base::Result<Reply> create_experiment(const Call& call, Facts& facts) {
  const std::string name = text(call.body, "display_name"), ns = text(call.body, "namespace");
  if (name.empty()) return make_error(Code::kInvalid, "display_name: an experiment needs one");
  auto made = make(facts, ns.empty() ? call.ns() : ns, name, text(call.body, "description"));
  if (!made.ok() && made.error().code == Code::kAlreadyExists)
    return make_error(Code::kAlreadyExists, base::format("an experiment with the name {} already exists", name));
  if (!made.ok()) return made.take_error();
  return Reply{shape(*made)};
}

base::Result<Reply> get_experiment(const Call& call, Facts& facts) {
  TRY(const Json experiment, object_of(facts, kExperimentNoun, call.names[0]));
  return Reply{shape(experiment)};
}

base::Result<Reply> list_experiments(const Call& call, Facts& facts) {
  TRY(std::vector<Json> experiments, facts.rows(kExperimentNoun.resource, call.ns()));
  return listed_objects(
      call, facts,
      {"experiments",
       "experiment_id",
       {"display_name", "description", "created_at", "namespace", "storage_state", "last_run_created_at"}},
      {kExperimentNoun, std::move(experiments), shape});
}

// Runs and recurring runs go with their experiment, one after the other: a server that stops on the way has archived
// the experiment, which takes no new ones then.
base::Result<Reply> archive_experiment(const Call& call, Facts& facts) {
  TRY(const Json experiment, object_of(facts, kExperimentNoun, call.names[0]));
  if (storage_state(experiment) != "ARCHIVED")
    TRY_VOID(patch(facts, kExperimentNoun, experiment, stored_as("ARCHIVED")));
  const std::string ns(api::namespace_of(experiment));
  const auto is_its_own = [&experiment](const Json& one) {
    return one["spec"]["experimentName"].as_string("default") == api::name_of(experiment);
  };
  TRY(const std::vector<Json> recurring, facts.rows(kRecurringNoun.resource, ns));
  for (const Json& one : recurring)
    if (is_its_own(one) && one["spec"]["mode"].as_string() != "DISABLE")
      TRY_VOID(change(facts, kRecurringNoun, one, Json::object({{"spec", Json::object({{"mode", "DISABLE"}})}})));
  TRY(const std::vector<Json> runs, facts.rows(kRunNoun.resource, ns));
  for (const Json& one : runs)
    if (is_its_own(one) && storage_state(one) != "ARCHIVED")
      TRY_VOID(change(facts, kRunNoun, one, stored_as("ARCHIVED")));
  TRY(const std::vector<Json> workflows, facts.rows(kWorkflowNoun.resource, ns));
  for (const Json& one : workflows)
    if (const argo::RunTexts texts = argo::run_texts(one);
        texts.experiment == api::name_of(experiment) && texts.storage_state != "ARCHIVED")
      TRY_VOID(change(facts, kWorkflowNoun, one, argo::stored_as("ARCHIVED")));
  return Reply();
}

// Its runs stay where they are, as the API says of it.
base::Result<Reply> unarchive_experiment(const Call& call, Facts& facts) {
  TRY(const Json experiment, object_of(facts, kExperimentNoun, call.names[0]));
  TRY_VOID(patch(facts, kExperimentNoun, experiment, stored_as("AVAILABLE")));
  return Reply();
}

base::Result<Reply> delete_experiment(const Call& call, Facts& facts) {
  TRY(const Json experiment, object_of(facts, kExperimentNoun, call.names[0]));
  return remove(facts, kExperimentNoun, experiment);
}

base::Result<Json> experiment_for(Facts& facts, const std::string& id, const std::string& ns) {
  if (!id.empty()) {
    TRY(Json experiment, object_of(facts, kExperimentNoun, id));
    if (storage_state(experiment) != "AVAILABLE")
      return make_error(Code::kInvalid,
                        base::format("the experiment {} is archived, and takes no runs", shown_name(experiment)));
    return experiment;
  }
  const ObjectKey key{ns, object_name(kDefault)};
  auto found = object_named(facts, kExperimentNoun, key);
  if (found.ok() || facts.next() || found.error().code != Code::kNotFound) return found;
  auto made = make(facts, ns, std::string(kDefault), "");
  // Another request may have made it meanwhile.
  if (!made.ok() && made.error().code == Code::kAlreadyExists) return object_named(facts, kExperimentNoun, key);
  return made;
}

}  // namespace pipelines::rest
