// Compiled documents, from the bytes of a file: YAML or JSON, or an archive with one such file.
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace pipelines::rest {

struct Documents {
  api::Json pipeline;       // the IR, or a Workflow, as version 1 of the SDK compiles it
  api::Json platform = {};  // its part for platforms; null: there is none

  // As the REST API shows both: the IR alone, or an object with the two of them.
  api::Json shown() const;
};

// Reads a file, and checks it as a whole: a refusal names the task and the field.
base::Result<Documents> read_documents(std::string_view file);
// The same of a body: the IR, or an object with pipeline_spec and platform_spec.
base::Result<Documents> documents_of(const api::Json& given);
base::Status check_documents(const Documents& documents);

// The one YAML or JSON file of a zip or tar.gz; other bytes are returned as they are. kInvalid for archives with
// several such files or none, kTooLarge where what is packed is larger than a document may be.
base::Result<std::string> unpacked(std::string_view file);

}  // namespace pipelines::rest
