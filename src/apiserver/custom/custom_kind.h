// A kind as a stranger defined it: one version of a CustomResourceDefinition, ready to be served.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "api/cel/structural_rules.h"
#include "api/json/json_path.h"
#include "api/kinds.h"
#include "api/schema/structural/structural.h"
#include "store/store.h"

namespace apiserver {

// One additional printer column.
struct CustomColumn {
  api::JsonPath path;
  std::string type;
  std::string format;
  std::string description;
};

// Immutable; any thread. A request of the kind holds it for as long as it takes.
struct CustomKind : api::KindInfo {
  std::string definition;  // the name of the CustomResourceDefinition
  std::string list_name;
  std::string storage_version;       // of the definition
  bool deleting = false;             // the definition is: objects go, none come
  bool needs_converter = false;      // of another version than what is stored, by a webhook
  bool converts_by_webhook = false;  // between versions of the definition
  std::string warning = {};          // to whoever uses the version; empty: it is not deprecated
  // Objects that were written up to this revision may be of another version or of an older schema.
  std::int64_t written_anew_after = 0;
  std::shared_ptr<const api::Structural> structure;        // versions with one schema share it
  std::shared_ptr<const api::cel::StructuralRules> rules;  // of `structure`
  std::vector<CustomColumn> cells;                         // of `columns`, in the same order
  std::vector<std::string> selectable;                     // "spec.size": beside names, what a list can be selected by
  api::Json open_api;                                      // the schema as it was given
  std::deque<std::string> texts;                           // what the views in KindInfo look at
  api::SchemaCopy copy;                                    // what KindInfo::schema is part of

  // An object as this version has it: the stored one itself where that is the same.
  store::ObjectPtr read(const store::ObjectPtr& stored) const;
  // Whether read() may have to make another.
  bool may_differ(const store::Object& stored) const;
  // An object of another version as this one has it, by strategy None.
  api::Json convert(api::Json object) const;
  // As it is stored: in the version in which it was written, with which its text begins. Defaults of another version
  // are filled in when that reads it.
  api::Json to_storage(api::Json object) const;
};

// Null for one of the program's own kinds. Every KindInfo outside of api::all_kinds() is the base of a CustomKind.
const CustomKind* custom_kind(const api::KindInfo& kind);
// "WidgetList".
std::string list_kind_of(const api::KindInfo& kind);
// The object as `kind` has it; null stays null. Any kind.
store::ObjectPtr read_as(const api::KindInfo& kind, store::ObjectPtr stored);

// The pipeline's treatment of an object of any kind: by the schema of the program, or by that of a stranger.
void prune_object(const api::KindInfo& kind, api::Json& object, std::vector<std::string>* removed);
void fill_object(const api::KindInfo& kind, api::Json& object);
// `before` is null for a new object. False: the rules of the schema cost more than `cost_max`, and were not all asked.
bool validate_object(const api::KindInfo& kind, const api::Json& object, const api::Json& before,
                     std::uint64_t cost_max, std::vector<base::Cause>& causes);

}  // namespace apiserver
