// Objects of pipelines and versions, from what a person says of them and from their documents.
#pragma once

#include <span>
#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "pipelines/rest/documents.h"

namespace pipelines::rest {

struct CatalogueTexts {
  std::string name;               // not empty
  std::string display_name = {};  // empty: the name
  std::string description = {};
  std::string code_source_url = {};
  api::Json tags = {};  // texts by name, or null
};

base::Status check_texts(const CatalogueTexts& texts);
base::Status check_tags(const api::Json& tags);

api::Json pipeline_object(const CatalogueTexts& texts);
// `pipeline`: its object, which owns the version where it has an id already.
api::Json version_object(const api::Json& pipeline, const CatalogueTexts& texts, const Documents& documents);
// The owner reference of the versions of a pipeline.
api::Json owner_of_version(const api::Json& pipeline);
// The one that was made last; null where there is none. Versions of one second are told apart by their names.
const api::Json* newest_version(std::span<const api::Json> versions);

}  // namespace pipelines::rest
