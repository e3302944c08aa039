// The handlers of v2beta1 do the work; names of members are changed on the way in and out.
#include "pipelines/rest/v1beta1/catalogue.h"

#include "base/format.h"
#include "pipelines/rest/catalogue.h"
#include "pipelines/rest/experiments.h"
#include "pipelines/rest/objects.h"
#include "pipelines/rest/v1beta1/references.h"

namespace pipelines::rest::v1beta1 {

using api::Json;
using base::Code;
using base::make_error;

namespace {

using Shape = base::Result<Json> (*)(const Json& row, Facts& facts);

base::Result<Json> experiment_shape(const Json& row, Facts&) {
  return Json::object(
      {{"id", row["experiment_id"]},
       {"name", row["display_name"]},
       {"description", row["description"]},
       {"created_at", row["created_at"]},
       {"storage_state", "STORAGESTATE_" + row["storage_state"].str()},
       {"resource_references", Json::array({reference("NAMESPACE", row["namespace"].as_string(), "OWNER")})}});
}

Json parameters_of(const Json& document) {
  Json parameters = Json::array();
  for (const Json& one : document["spec"]["arguments"]["parameters"].items()) {
    Json parameter = Json::object({{"name", one["name"]}});
    set_text(parameter, "value", one["value"].as_string());
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Json version_shape(const Json& version, std::string_view pipeline_id) {
  const Json& spec = version["spec"];
  Json row =
      Json::object({{"id", api::uid_of(version)},
                    {"name", shown_name(version)},
                    {"description", spec["description"].as_string()},
                    {"created_at", created_at(version)},
                    {"parameters", parameters_of(spec["pipelineSpec"])},
                    {"resource_references",
                     Json::array({reference("PIPELINE", pipeline_id, "OWNER", spec["pipelineName"].as_string())})}});
  set_text(row, "code_source_url", spec["codeSourceURL"].as_string());
  return row;
}

// A pipeline without a version, as version 2 of the API makes them, is shown without one.
base::Result<Json> pipeline_shape(const Json& row, Facts& facts) {
  Json out = Json::object(
      {{"id", row["pipeline_id"]},
       {"name", row["display_name"]},
       {"description", row["description"]},
       {"created_at", row["created_at"]},
       {"resource_references", Json::array({reference("NAMESPACE", row["namespace"].as_string(), "OWNER")})}});
  TRY(const Json pipeline, object_of(facts, kPipelineNoun, row["pipeline_id"].str()));
  const auto version = default_version_of(facts, pipeline);
  if (facts.next()) return version.error();
  if (!version.ok()) return out;
  Json shown = version_shape(*version, api::uid_of(pipeline));
  out.set("parameters", shown["parameters"]);
  out.set("default_version", std::move(shown));
  return out;
}

base::Result<Reply> with_shape(base::Result<Reply> reply, Shape shape, Facts& facts) {
  if (!reply.ok()) return reply;
  TRY(Json body, shape(reply->body, facts));
  return Reply{std::move(body)};
}

base::Result<Reply> with_rows(base::Result<Reply> reply, std::string_view rows, Shape shape, Facts& facts) {
  if (!reply.ok()) return reply;
  Json shown = Json::array();
  for (const Json& row : reply->body[rows].items()) {
    TRY(Json one, shape(row, facts));
    shown.push_back(std::move(one));
  }
  reply->body.set(rows, std::move(shown));
  return reply;
}

// The list of what is in the namespace that the query refers to. A name is the one for people, which v2beta1 calls the
// display name.
Call inner_list(Call call) {
  call.own_namespace = namespace_of(references_in_query(call), call);
  for (auto& [name, value] : call.target.query) {
    if (name == "sort_by" && (value == "name" || value.starts_with("name "))) value = "display_" + value;
    if (name != "filter") continue;
    auto filter = api::parse_json(value);
    if (!filter.ok() || !(*filter)["predicates"].is_array()) continue;
    Json predicates = Json::array();
    for (Json one : (*filter)["predicates"].items()) {
      if (one["key"].as_string() == "name") one.set("key", "display_name");
      predicates.push_back(std::move(one));
    }
    filter->set("predicates", std::move(predicates));
    value = filter->dump();
  }
  return call;
}

struct VersionOf {
  Json pipeline, version;
};

// Paths of v1beta1 name a version without its pipeline.
base::Result<VersionOf> version_of_path(Facts& facts, const std::string& id) {
  TRY(Json version, object_of(facts, kVersionNoun, id));
  TRY(Json pipeline, object_named(facts, kPipelineNoun,
                                  {std::string(api::namespace_of(version)), version["spec"]["pipelineName"].str()}));
  return VersionOf{std::move(pipeline), std::move(version)};
}

Reply template_reply(const Json& version) {
  return Reply{Json::object({{"template", documents_of_version(version).shown().dump()}})};
}

base::Error no_file(std::string_view name) {
  return make_error(Code::kInvalid,
                    base::format("{}: files elsewhere are not fetched by this server; please upload the "
                                 "file itself",
                                 name));
}

// The row of v2beta1 of a version that was just made.
base::Result<Reply> made_version(base::Result<Reply> reply, Facts& facts) {
  if (!reply.ok()) return reply;
  TRY(const Json version, object_of(facts, kVersionNoun, reply->body["pipeline_version_id"].str()));
  return Reply{version_shape(version, reply->body["pipeline_id"].as_string())};
}

}  // namespace

base::Result<Reply> create_experiment(const Call& call, Facts& facts) {
  Call inner = call;
  const std::string name = text(call.body, "name");
  if (name.empty()) return make_error(Code::kInvalid, "name: an experiment needs one");
  inner.body = Json::object({{"display_name", name},
                             {"description", text(call.body, "description")},
                             {"namespace", namespace_of(references_in(call.body), call)}});
  return with_shape(rest::create_experiment(inner, facts), experiment_shape, facts);
}

base::Result<Reply> get_experiment(const Call& call, Facts& facts) {
  return with_shape(rest::get_experiment(call, facts), experiment_shape, facts);
}

base::Result<Reply> list_experiments(const Call& call, Facts& facts) {
  return with_rows(rest::list_experiments(inner_list(call), facts), "experiments", experiment_shape, facts);
}

base::Result<Reply> create_pipeline(const Call&, Facts&) { return no_file("url"); }

base::Result<Reply> upload_pipeline(const Call& call, Facts& facts) {
  return with_shape(rest::upload_pipeline(call, facts), pipeline_shape, facts);
}

base::Result<Reply> get_pipeline(const Call& call, Facts& facts) {
  return with_shape(rest::get_pipeline(call, facts), pipeline_shape, facts);
}

base::Result<Reply> list_pipelines(const Call& call, Facts& facts) {
  return with_rows(rest::list_pipelines(inner_list(call), facts), "pipelines", pipeline_shape, facts);
}

// Its versions go with it, as they did in this version of the API.
base::Result<Reply> delete_pipeline(const Call& call, Facts& facts) {
  Call inner = call;
  inner.target.query.emplace_back("cascade", "true");
  return rest::delete_pipeline(inner, facts);
}

base::Result<Reply> get_pipeline_template(const Call& call, Facts& facts) {
  TRY(const Json version, version_for(facts, call.names[0], {}));
  return template_reply(version);
}

base::Result<Reply> set_default_version(const Call& call, Facts& facts) {
  TRY(const VersionOf found, version_of_path(facts, call.names[1]));
  if (api::uid_of(found.pipeline) != call.names[0]) return not_found(kVersionNoun, call.names[1]);
  const Json annotations = Json::object({{kDefaultVersionAnnotation, call.names[1]}});
  TRY_VOID(patch(facts, kPipelineNoun, found.pipeline,
                 Json::object({{"metadata", Json::object({{"annotations", annotations}})}})));
  return Reply();
}

base::Result<Reply> create_version(const Call&, Facts&) { return no_file("package_url"); }

base::Result<Reply> upload_version(const Call& call, Facts& facts) {
  return made_version(rest::upload_version(call, facts), facts);
}

base::Result<Reply> get_version(const Call& call, Facts& facts) {
  TRY(const VersionOf found, version_of_path(facts, call.names[0]));
  return Reply{version_shape(found.version, api::uid_of(found.pipeline))};
}

base::Result<Reply> list_versions(const Call& call, Facts& facts) {
  const std::string id = call.query("resource_key.id");
  if (call.query("resource_key.type") != "PIPELINE" || id.empty())
    return make_error(Code::kInvalid, "resource_key: versions are listed by their pipeline, as PIPELINE and its id");
  Call inner = inner_list(call);
  inner.names = {id};
  auto reply = rest::list_versions(inner, facts);
  if (!reply.ok()) return reply;
  Json versions = Json::array();
  for (const Json& row : reply->body["pipeline_versions"].items()) {
    TRY(const Json version, object_of(facts, kVersionNoun, row["pipeline_version_id"].str()));
    versions.push_back(version_shape(version, id));
  }
  reply->body.erase("pipeline_versions");
  reply->body.set("versions", std::move(versions));
  return reply;
}

base::Result<Reply> delete_version(const Call& call, Facts& facts) {
  TRY(const Json version, object_of(facts, kVersionNoun, call.names[0]));
  return remove(facts, kVersionNoun, version);
}

base::Result<Reply> get_version_template(const Call& call, Facts& facts) {
  TRY(const Json version, object_of(facts, kVersionNoun, call.names[0]));
  return template_reply(version);
}

}  // namespace pipelines::rest::v1beta1
