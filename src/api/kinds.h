// Every kind the program serves: one row each. Discovery, storage, tables, OpenAPI, CRDs and the command line follow
// from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "api/schema/schema.h"

namespace api {

// One printer column. `path` is a dotted path, or "age" paths of type date; computed columns have their own printer.
struct Column {
  std::string_view name;
  std::string_view path;             // ".status.state.phase"
  std::string_view type = "string";  // string, integer, date
  int priority = 0;                  // 1: shown with -o wide only
};

// The paths of the numbers of the subresource scale.
struct ScalePaths {
  std::string_view replicas;         // ".spec.replicas"
  std::string_view status_replicas;  // ".status.replicas"
  std::string_view selector;         // ".status.selector": a selector as text, or as LabelSelector or map of labels
};

struct KindInfo {
  ResourceId resource;
  std::string kind;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  bool custom = false;  // a custom resource: CRD rules of pruning, defaulting and patching
  bool status_subresource = false;
  bool has_generation = false;            // spec changes count up metadata.generation
  std::vector<std::string> subresources;  // beside status: "binding", "log", ...
  const Schema* schema = nullptr;
  std::vector<Column> columns;  // of custom resources
  ScalePaths scale = {};        // where `subresources` has "scale"

  std::string list_kind() const { return kind + "List"; }
};

std::span<const KindInfo> all_kinds();
const KindInfo* find_kind(std::string_view group, std::string_view version, std::string_view plural);
const KindInfo* find_kind(const ResourceId& id);
// By apiVersion and kind, as objects name themselves.
const KindInfo* find_kind_named(std::string_view api_version, std::string_view kind);
// For messages: "queues.scheduling.volcano.sh", "pods".
std::string qualified_plural(const KindInfo& kind);

}  // namespace api
