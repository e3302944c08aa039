// The selectors of a list or watch, parsed once and then asked of many objects.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/selector.h"
#include "apiserver/pipeline/request/request.h"
#include "store/store.h"

namespace apiserver {

// Objects read once, for as long as this remembers them.
class DecodedObjects {
 public:
  const api::Json& of(const store::ObjectPtr& object);
  void clear() { objects_.clear(); }

 private:
  std::unordered_map<store::ObjectPtr, api::Json> objects_;
};

class Selection {
 public:
  // Refuses selectors that do not parse and fields that the kind cannot be selected by.
  static base::Result<Selection> parse(const api::KindInfo& kind, const std::string& labels, const std::string& fields);

  bool everything() const { return labels_.requirements.empty() && fields_.empty(); }
  // Matching looks at names only, not into objects.
  bool by_names() const { return by_metadata_only_; }
  bool matches(const store::Object& object) const;
  bool matches(const store::ObjectPtr& object, DecodedObjects& decoded) const;

 private:
  // The answer of names alone, if they have one.
  std::optional<bool> matches_by_names(const store::Object& object) const;
  bool matches(const api::Json& object) const;

  api::LabelSelector labels_;
  std::vector<api::FieldTerm> fields_;
  bool none_is_zero_ = false;     // a status that does not count has counted none
  bool by_metadata_only_ = true;  // name and namespace need no parsing
};

}  // namespace apiserver
