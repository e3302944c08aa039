// The rules of one kind of Kubernetes: everything that differs from kind to kind when objects are made and changed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "api/schema/field_errors.h"
#include "apiserver/kinds/context.h"
#include "base/result.h"
#include "base/time.h"

namespace apiserver {

// A field that keeps its value, and the words for a change of it.
struct FixedField {
  std::string_view path, why;
  bool is_forbidden = false;  // how it is refused; else "Invalid value"
  bool may_be_given = false;  // once, where there was nothing
};

// How a kind is shown in tables.
struct KindTable {
  std::span<const api::Column> columns = {};  // after the name; paths are unused
  std::vector<api::Json> (*cells)(const api::Json& object, base::Time now) = nullptr;
};

// The names that objects may have: subdomains, single labels, or words of paths such as "system:discovery".
enum class Naming : std::uint8_t { kSubdomain, kLabel, kPath };

// A row (all.cc) stands at the end of its kind's file. Functions may be null. Kinds that definitions add have no row;
// the rules of our own kinds are in src/admission.
struct KindRules {
  std::string_view kind;  // among Kubernetes' kinds the name is enough
  Naming naming = Naming::kSubdomain;
  bool hands_annotations_on = false;  // to the objects that it makes: a change of them counts as one of the spec
  bool judges_subresources = false;   // check_update is asked of them, too
  // Defaults that no table can say. They come before types are checked: a value of another type stays, for validation
  // to name.
  void (*defaults)(api::Json& object) = nullptr;
  // Before a create, when the object has its uid: its first status, and what the server adds. `spec` and `status` are
  // objects or absent.
  base::Status (*prepare)(const Context& context, api::Json& object, api::FieldErrors& errors) = nullptr;
  // Before an update is checked: what the server keeps, takes back or adds. `object` has its new defaults.
  void (*prepare_update)(const Context& context, std::string_view subresource, const api::Json& old_object,
                         api::Json& object, api::FieldErrors& errors) = nullptr;
  // Problems of an object as it is; `stored` is null at a create. An update is refused for new ones alone.
  void (*check)(const api::Json& stored, const api::Json& object, api::FieldErrors& errors) = nullptr;
  // Further problems of a new object, and of a change.
  void (*check_create)(const api::Json& object, api::FieldErrors& errors) = nullptr;
  void (*check_update)(const api::Json& old_object, const api::Json& object, api::FieldErrors& errors) = nullptr;
  std::span<const FixedField> fixed = {};
  KindTable table = {};                               // without cells: the age alone
  std::span<const std::string_view> selectable = {};  // fields that lists can be selected by, beside name and namespace
};

// The empty row where there are no rules.
const KindRules& rules_of(const api::KindInfo& kind);

}  // namespace apiserver
