// Rows of fields that have the same way out.
#include "pipelines/argo/unsupported_fields.h"

#include <algorithm>
#include <span>

#include "base/format.h"

namespace pipelines::argo {

namespace {

struct Row {
  std::string_view instead;  // ends the sentence
  std::string_view fields[16];
};

constexpr Row kRows[] = {
    {"the templates stand in the Workflow itself: copy them into spec.templates",
     {"templateRef", "workflowTemplateRef", "inline", "templateDefaults"}},
    {"steps take turns by parallelism, or by the queue of their pods", {"synchronization", "priority", "podPriority"}},
    {"every step runs anew: leave it out", {"memoize"}},
    {"spec.onExit names a template for the end of the whole", {"hooks", "onExit"}},
    {"fields of pods stand in container, podMetadata and the fields of the template", {"podSpecPatch", "executor"}},
    {"nothing goes on behind the end of its step: make it a sidecar, or a Deployment by a resource template",
     {"daemon"}},
    {"a container or a script does it", {"http", "data", "plugin", "containerSet"}},
    {"the command of a container fetches it, or a raw artifact has it",
     {"git", "gcs", "oss", "azure", "hdfs", "artifactory", "url", "mode", "recurseMode"}},
    {"artifacts lie in the store of the namespace, where only their key is named: leave it out",
     {"bucket", "endpoint", "region", "insecure", "accessKeySecret", "secretKeySecret", "useSDKCreds", "roleARN",
      "artifactRepositoryRef", "archiveLocation", "archiveLogs", "artifactGC", "zip", "deleted", "artifactPaths"}},
    {"outputs are handed on by arguments, such as {{tasks.NAME.outputs.parameters.NAME}}",
     {"globalName", "fromExpression"}},
    {"the environment of a container may come from a ConfigMap or Secret",
     {"valueFrom", "configMapKeyRef", "supplied", "event"}},
    {"limit and retryPolicy decide", {"expression", "affinity"}},
    {"the manifest stands in the template", {"manifestFrom", "flags", "mergeStrategy"}},
    {"jsonPath reads it", {"jqFilter"}},
    {"leave it out",
     {"workflowMetadata", "podDisruptionBudget", "metrics", "labelSelector", "labelsFrom", "archiveStrategy",
      "failFast", "withArtifactTemplate"}},
};

}  // namespace

std::string why_unsupported(std::string_view field) {
  for (const Row& row : kRows)
    if (std::ranges::find(row.fields, field) != std::end(row.fields))
      return base::format("this field of Workflows is not supported here; {}", row.instead);
  return "Workflows have no such field here";
}

}  // namespace pipelines::argo
