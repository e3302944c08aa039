// The Workflow of a run: a compiled document with the run's parameters, and what the run is called.
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace pipelines::argo {

// Annotations of a Workflow that is a run; each begins so.
inline constexpr std::string_view kRunPrefix = "pipelines.kubeflow.org/run_";
// The account that the SDK writes where a person named none.
inline constexpr std::string_view kAccountOfSdk = "pipeline-runner";

// Names are those of objects in the namespace of the run, but for its own.
struct RunTexts {
  std::string name;  // for people; any text
  std::string description = {};
  std::string experiment = {}, pipeline = {}, version = {}, recurring_run = {};
  std::string scheduled_at = {};   // a time
  std::string storage_state = {};  // AVAILABLE or ARCHIVED; empty: AVAILABLE
};

bool is_workflow(const api::Json& document);
// Whether it is of the part of Argo's Workflows that is run here.
base::Status check_document(const api::Json& document);
// Whether the document has these parameters, texts by name, and no other one lacks a value.
base::Status check_arguments(const api::Json& document, const api::Json& parameters);

// The object, without a name; labels and annotations of the document stay.
api::Json run_workflow(const api::Json& document, const RunTexts& texts, const api::Json& parameters);
// The texts of a run from its Workflow. One that a person made is called as the object is.
RunTexts run_texts(const api::Json& workflow);
// A merge patch.
api::Json stored_as(std::string_view storage_state);

}  // namespace pipelines::argo
