// The owner of versions is their pipeline, so that they go with it.
#include "pipelines/rest/catalogue_objects.h"

#include <algorithm>
#include <tuple>

#include "api/meta/resource.h"
#include "base/format.h"
#include "pipelines/rest/names.h"
#include "pipelines/rest/objects.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kTagsMax = 20, kTagNameMax = 63, kTagValueMax = 253, kNameMax = 253, kDescriptionMax = 4096;

Json spec_of(const CatalogueTexts& texts) {
  Json spec = Json::object({{"displayName", texts.display_name.empty() ? texts.name : texts.display_name}});
  set_text(spec, "description", texts.description);
  if (!texts.tags.empty()) spec.set("tags", texts.tags);
  return spec;
}

}  // namespace

base::Status check_tags(const Json& tags) {
  if (tags.is_null()) return {};
  if (!tags.is_object()) return make_error(Code::kInvalid, "tags: they are texts by name");
  if (tags.size() > kTagsMax)
    return make_error(Code::kInvalid, base::format("tags: {} are given, and {} are the most", tags.size(), kTagsMax));
  for (const Json::Member& one : tags.members()) {
    if (!one.value.is_string()) return make_error(Code::kInvalid, base::format("tags.{}: not a text", one.name()));
    if (one.name().empty() || one.name().size() > kTagNameMax || one.value.as_string().size() > kTagValueMax)
      return make_error(Code::kInvalid, base::format("tags: a name has 1 to {} bytes, and a value {} at most: {:?}",
                                                     kTagNameMax, kTagValueMax, one.name().substr(0, kTagNameMax)));
  }
  return {};
}

base::Status check_texts(const CatalogueTexts& texts) {
  if (texts.name.empty()) return make_error(Code::kInvalid, "name: a pipeline or version needs one");
  if (texts.name.size() > kNameMax || texts.display_name.size() > kNameMax)
    return make_error(Code::kInvalid, base::format("name: more than {} bytes", kNameMax));
  if (texts.description.size() > kDescriptionMax)
    return make_error(Code::kInvalid, base::format("description: more than {} bytes", kDescriptionMax));
  return check_tags(texts.tags);
}

Json pipeline_object(const CatalogueTexts& texts) {
  return new_object("Pipeline", object_name(texts.name), spec_of(texts));
}

Json version_object(const Json& pipeline, const CatalogueTexts& texts, const Documents& documents) {
  Json spec = spec_of(texts);
  spec.set("pipelineName", api::name_of(pipeline));
  spec.set("versionName", object_name(texts.name));
  set_text(spec, "codeSourceURL", texts.code_source_url);
  spec.set("pipelineSpec", documents.pipeline);
  if (!documents.platform.is_null()) spec.set("platformSpec", documents.platform);
  Json version =
      new_object("PipelineVersion", version_object_name(api::name_of(pipeline), texts.name), std::move(spec));
  if (!api::uid_of(pipeline).empty())
    version.edit("metadata").set("ownerReferences", Json::array({owner_of_version(pipeline)}));
  return version;
}

Json owner_of_version(const Json& pipeline) {
  return Json::object({{"apiVersion", "pipelines.kubeflow.org/v2beta1"},
                       {"kind", "Pipeline"},
                       {"name", api::name_of(pipeline)},
                       {"uid", api::uid_of(pipeline)}});
}

const Json* newest_version(std::span<const Json> versions) {
  const auto age = [](const Json& one) {
    return std::tuple(one["metadata"]["creationTimestamp"].str(), std::string(api::name_of(one)));
  };
  const auto found = std::ranges::max_element(versions, {}, age);
  return found == versions.end() ? nullptr : &*found;
}

}  // namespace pipelines::rest
