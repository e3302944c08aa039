// A pipeline is called after its name, and a version after both names, so that each is unique where it must be.
#include "pipelines/rest/catalogue.h"

#include <algorithm>

#include "base/format.h"
#include "pipelines/rest/catalogue_objects.h"
#include "pipelines/rest/listing.h"
#include "pipelines/rest/names.h"
#include "pipelines/rest/objects.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

Json pipeline_shape(const Json& pipeline) {
  Json row = Json::object({{"pipeline_id", api::uid_of(pipeline)},
                           {"display_name", shown_name(pipeline)},
                           {"name", api::name_of(pipeline)},
                           {"description", pipeline["spec"]["description"].as_string()},
                           {"created_at", created_at(pipeline)},
                           {"namespace", api::namespace_of(pipeline)}});
  if (!pipeline["spec"]["tags"].empty()) row.set("tags", pipeline["spec"]["tags"]);
  return row;
}

Json version_shape(const Json& version, const std::string& pipeline_id) {
  const Json& spec = version["spec"];
  const std::string_view own = spec["versionName"].as_string();
  const std::string name(own.empty() ? api::name_of(version) : own);
  const std::string_view shown = spec["displayName"].as_string();
  Json row = Json::object({{"pipeline_id", pipeline_id},
                           {"pipeline_version_id", api::uid_of(version)},
                           {"display_name", shown.empty() ? std::string_view(name) : shown},
                           {"name", name},
                           {"description", spec["description"].as_string()},
                           {"created_at", created_at(version)},
                           {"pipeline_spec", documents_of_version(version).shown()}});
  set_text(row, "code_source_url", spec["codeSourceURL"].as_string());
  if (const std::string_view uri = spec["pipelineSpecURI"].as_string(); !uri.empty())
    row.set("package_url", Json::object({{"pipeline_url", uri}}));
  if (!spec["tags"].empty()) row.set("tags", spec["tags"]);
  return row;
}

// The versions of a pipeline with few of their fields: their documents are large.
base::Result<std::vector<Json>> versions_of(Facts& facts, const Json& pipeline) {
  TRY(std::vector<Json> all, facts.rows(kVersionNoun.resource, std::string(api::namespace_of(pipeline))));
  std::erase_if(all,
                [&](const Json& one) { return one["spec"]["pipelineName"].as_string() != api::name_of(pipeline); });
  return all;
}

// Tags of a query are a JSON object.
base::Result<Json> tags_of(const std::string& given) {
  if (given.empty()) return Json();
  auto tags = api::parse_json(given);
  if (!tags.ok() || !tags->is_object())
    return make_error(Code::kInvalid, base::format("tags: {:?} is not a JSON object", given.substr(0, 60)));
  return tags;
}

// The texts of a pipeline or version: in the query of an upload, or in a body.
base::Result<CatalogueTexts> texts_of_query(const Call& call) {
  TRY(Json tags, tags_of(call.query("tags")));
  CatalogueTexts texts{call.query("name"), call.query("display_name"), call.query("description"), {}, std::move(tags)};
  if (texts.name.empty()) texts.name = texts.display_name;
  if (texts.name.empty() && call.upload) texts.name = call.upload->file_name;
  TRY_VOID(check_texts(texts));
  return texts;
}

base::Result<CatalogueTexts> texts_of_body(const Json& body) {
  CatalogueTexts texts{text(body, "name"), text(body, "display_name"), text(body, "description"),
                       text(body, "code_source_url"), member(body, "tags")};
  if (texts.name.empty()) texts.name = texts.display_name;
  TRY_VOID(check_texts(texts));
  return texts;
}

base::Error name_is_taken(const CatalogueTexts& texts) {
  return make_error(Code::kAlreadyExists,
                    base::format("the name {} already exists; please give a new one", texts.name));
}

base::Result<Json> make_pipeline(Facts& facts, const std::string& ns, const CatalogueTexts& texts) {
  auto made = create(facts, kPipelineNoun, ns, pipeline_object(texts));
  if (!made.ok() && made.error().code == Code::kAlreadyExists) return name_is_taken(texts);
  return made;
}

base::Result<Json> make_version(Facts& facts, const Json& pipeline, const CatalogueTexts& texts,
                                const Documents& documents) {
  auto made =
      create(facts, kVersionNoun, std::string(api::namespace_of(pipeline)), version_object(pipeline, texts, documents));
  if (!made.ok() && made.error().code == Code::kAlreadyExists)
    return make_error(Code::kAlreadyExists, base::format("the version {} of {} already exists; please give a new name",
                                                         texts.name, shown_name(pipeline)));
  return made;
}

// The first version of a pipeline that is not there yet. One of that name is what an upload left that was interrupted.
base::Result<Json> first_version(Facts& facts, const Json& pipeline, const CatalogueTexts& texts,
                                 const Documents& documents) {
  const Json wanted = version_object(pipeline, texts, documents);
  const std::string ns(api::namespace_of(pipeline));
  auto made = create(facts, kVersionNoun, ns, wanted);
  if (made.ok() || facts.next() || made.error().code != Code::kAlreadyExists) return made;
  TRY(const Json left, object_named(facts, kVersionNoun, {ns, std::string(api::name_of(wanted))}));
  TRY_VOID(remove(facts, kVersionNoun, left));
  return create(facts, kVersionNoun, ns, wanted);
}

// The version comes first: a server that stops on the way leaves no pipeline without one.
base::Result<Reply> make_both(Facts& facts, const std::string& ns, const CatalogueTexts& texts,
                              const CatalogueTexts& version, const Documents& documents) {
  Json planned = pipeline_object(texts);
  planned.edit("metadata").set("namespace", ns);
  const auto there = object_named(facts, kPipelineNoun, {ns, std::string(api::name_of(planned))});
  if (there.ok()) return name_is_taken(texts);
  if (facts.next() || there.error().code != Code::kNotFound) return there.error();
  TRY(const Json first, first_version(facts, planned, version, documents));
  auto pipeline = make_pipeline(facts, ns, texts);
  if (!pipeline.ok() && facts.next()) return pipeline.take_error();
  if (!pipeline.ok()) {
    const auto removed = remove(facts, kVersionNoun, first);
    return facts.next() ? removed.error() : pipeline.error();
  }
  const Json owners = Json::array({owner_of_version(*pipeline)});
  TRY_VOID(
      patch(facts, kVersionNoun, first, Json::object({{"metadata", Json::object({{"ownerReferences", owners}})}})));
  return Reply{pipeline_shape(*pipeline)};
}

base::Result<Documents> uploaded(const Call& call) {
  if (!call.upload) return make_error(Code::kInvalid, "the body is not a form with a file named uploadfile");
  return read_documents(call.upload->bytes);
}

// The document of a version in a body. Files elsewhere are not fetched: the server has no business there.
base::Result<Documents> given_documents(const Json& version) {
  const Json& spec = member(version, "pipeline_spec");
  if (spec.is_object()) return documents_of(spec);
  const std::string url = text(member(version, "package_url"), "pipeline_url");
  if (!url.empty())
    return make_error(Code::kInvalid, base::format("package_url: {:?} is not fetched by this server; please upload the "
                                                   "file itself",
                                                   url.substr(0, 200)));
  return make_error(Code::kInvalid, "pipeline_spec: a version needs one");
}

base::Result<Json> version_of_path(const Call& call, Facts& facts) {
  TRY(const Json pipeline, object_of(facts, kPipelineNoun, call.names[0]));
  TRY(Json version, object_of(facts, kVersionNoun, call.names[1]));
  if (version["spec"]["pipelineName"].as_string() != api::name_of(pipeline) ||
      api::namespace_of(version) != api::namespace_of(pipeline))
    return not_found(kVersionNoun, call.names[1]);
  return version;
}

// Names, descriptions and tags; what a body does not name stays.
Json changes_of(const Json& body) {
  Json spec = Json::object();
  for (const auto& [name, field] : {std::pair("display_name", "displayName"), std::pair("description", "description")})
    if (const Json& value = member(body, name); value.is_string()) spec.set(field, value);
  return Json::object({{"spec", std::move(spec)}});
}

// A merge patch that makes the tags those of the body.
base::Status change_tags(const Json& body, const Json& object, Json& changes) {
  const Json& tags = member(body, "tags");
  if (!tags.is_object()) return {};
  TRY_VOID(check_tags(tags));
  Json merged = tags;
  for (const Json::Member& one : object["spec"]["tags"].members())
    if (!merged.has(one.name())) merged.set(one.name(), Json());
  changes.edit("spec").set("tags", std::move(merged));
  return {};
}

}  // namespace

base::Result<Reply> create_pipeline(const Call& call, Facts& facts) {
  TRY(const CatalogueTexts texts, texts_of_body(call.body));
  const std::string ns = text(call.body, "namespace");
  TRY(const Json made, make_pipeline(facts, ns.empty() ? call.ns() : ns, texts));
  return Reply{pipeline_shape(made)};
}

base::Result<Reply> create_pipeline_and_version(const Call& call, Facts& facts) {
  const Json& given = member(call.body, "pipeline");
  const Json& version = member(call.body, "pipeline_version");
  TRY(const CatalogueTexts texts, texts_of_body(given));
  CatalogueTexts of_version = texts;
  if (!text(version, "name").empty() || !text(version, "display_name").empty()) {
    TRY(of_version, texts_of_body(version));
  }
  TRY(const Documents documents, given_documents(version));
  const std::string ns = text(given, "namespace");
  return make_both(facts, ns.empty() ? call.ns() : ns, texts, of_version, documents);
}

base::Result<Reply> upload_pipeline(const Call& call, Facts& facts) {
  TRY(const CatalogueTexts texts, texts_of_query(call));
  TRY(const Documents documents, uploaded(call));
  return make_both(facts, call.ns(), texts, texts, documents);
}

base::Result<Reply> get_pipeline(const Call& call, Facts& facts) {
  TRY(const Json pipeline, object_of(facts, kPipelineNoun, call.names[0]));
  return Reply{pipeline_shape(pipeline)};
}

base::Result<Reply> get_pipeline_by_name(const Call& call, Facts& facts) {
  auto pipeline = object_named(facts, kPipelineNoun, {call.ns(), object_name(call.names[0])});
  if (!pipeline.ok() && pipeline.error().code == Code::kNotFound) return not_found(kPipelineNoun, call.names[0]);
  if (!pipeline.ok()) return pipeline.take_error();
  return Reply{pipeline_shape(*pipeline)};
}

base::Result<Reply> list_pipelines(const Call& call, Facts& facts) {
  TRY(std::vector<Json> pipelines, facts.rows(kPipelineNoun.resource, call.ns()));
  return listed_objects(
      call, facts, {"pipelines", "pipeline_id", {"display_name", "name", "description", "created_at", "namespace"}},
      {kPipelineNoun, std::move(pipelines), pipeline_shape});
}

base::Result<Reply> update_pipeline(const Call& call, Facts& facts) {
  TRY(const Json pipeline, object_of(facts, kPipelineNoun, call.names[0]));
  Json changes = changes_of(call.body);
  TRY_VOID(change_tags(call.body, pipeline, changes));
  TRY(const Json changed, patch(facts, kPipelineNoun, pipeline, std::move(changes)));
  return Reply{pipeline_shape(changed)};
}

base::Result<Reply> delete_pipeline(const Call& call, Facts& facts) {
  TRY(const Json pipeline, object_of(facts, kPipelineNoun, call.names[0]));
  TRY(const std::vector<Json> versions, versions_of(facts, pipeline));
  if (!versions.empty() && !call.is_on("cascade"))
    return make_error(Code::kGone, base::format("the pipeline {} still has {} version(s): delete them first, or give "
                                                "cascade=true",
                                                shown_name(pipeline), versions.size()));
  for (const Json& one : versions) {
    auto removed = remove(facts, kVersionNoun, one);
    if (!removed.ok() && (facts.next() || removed.error().code != Code::kNotFound)) return removed;
  }
  return remove(facts, kPipelineNoun, pipeline);
}

base::Result<Reply> create_version(const Call& call, Facts& facts) {
  TRY(const CatalogueTexts texts, texts_of_body(call.body));
  TRY(const Documents documents, given_documents(call.body));
  TRY(const Json pipeline, object_of(facts, kPipelineNoun, call.names[0]));
  TRY(const Json version, make_version(facts, pipeline, texts, documents));
  return Reply{version_shape(version, std::string(api::uid_of(pipeline)))};
}

base::Result<Reply> upload_version(const Call& call, Facts& facts) {
  TRY(const CatalogueTexts texts, texts_of_query(call));
  TRY(const Documents documents, uploaded(call));
  TRY(const Json pipeline, object_of(facts, kPipelineNoun, call.query("pipelineid")));
  TRY(const Json version, make_version(facts, pipeline, texts, documents));
  return Reply{version_shape(version, std::string(api::uid_of(pipeline)))};
}

base::Result<Reply> get_version(const Call& call, Facts& facts) {
  TRY(const Json version, version_of_path(call, facts));
  return Reply{version_shape(version, call.names[0])};
}

base::Result<Reply> list_versions(const Call& call, Facts& facts) {
  TRY(const Json pipeline, object_of(facts, kPipelineNoun, call.names[0]));
  TRY(std::vector<Json> versions, versions_of(facts, pipeline));
  return listed_objects(
      call, facts, {"pipeline_versions", "pipeline_version_id", {"display_name", "name", "description", "created_at"}},
      {kVersionNoun, std::move(versions), [&call](const Json& one) { return version_shape(one, call.names[0]); }});
}

base::Result<Reply> update_version(const Call& call, Facts& facts) {
  TRY(const Json version, version_of_path(call, facts));
  Json changes = changes_of(call.body);
  TRY_VOID(change_tags(call.body, version, changes));
  TRY(const Json changed, patch(facts, kVersionNoun, version, std::move(changes)));
  return Reply{version_shape(changed, call.names[0])};
}

base::Result<Reply> delete_version(const Call& call, Facts& facts) {
  TRY(const Json version, version_of_path(call, facts));
  return remove(facts, kVersionNoun, version);
}

base::Result<Json> version_for(Facts& facts, const std::string& pipeline_id, const std::string& version_id) {
  if (!version_id.empty()) return object_of(facts, kVersionNoun, version_id);
  TRY(const Json pipeline, object_of(facts, kPipelineNoun, pipeline_id));
  return default_version_of(facts, pipeline);
}

base::Result<Json> default_version_of(Facts& facts, const Json& pipeline) {
  TRY(const std::vector<Json> versions, versions_of(facts, pipeline));
  if (versions.empty())
    return make_error(Code::kInvalid, base::format("the pipeline {} has no version", shown_name(pipeline)));
  const Json& chosen = pipeline["metadata"]["annotations"][kDefaultVersionAnnotation];
  const auto is_chosen = [&chosen](const Json& one) { return api::uid_of(one) == chosen.as_string(); };
  const auto found = std::ranges::find_if(versions, is_chosen);
  return object_of(facts, kVersionNoun,
                   std::string(api::uid_of(found == versions.end() ? *newest_version(versions) : *found)));
}

Documents documents_of_version(const Json& version) {
  return {version["spec"]["pipelineSpec"], version["spec"]["platformSpec"]};
}

}  // namespace pipelines::rest
