// The selectors of a list or watch, parsed once and then asked of many objects.
#pragma once

#include <string>
#include <vector>

#include "api/selector.h"
#include "apiserver/pipeline/request.h"
#include "store/store.h"

namespace apiserver {

class Selection {
 public:
  // Refuses selectors that do not parse and fields that the kind cannot be selected by.
  static base::Result<Selection> parse(const api::KindInfo& kind, const std::string& labels, const std::string& fields);

  bool everything() const { return labels_.requirements.empty() && fields_.empty(); }
  // Matching looks at names only, not into objects.
  bool by_names() const { return by_metadata_only_; }
  bool matches(const store::Object& object) const;

 private:
  api::LabelSelector labels_;
  std::vector<api::FieldTerm> fields_;
  bool by_metadata_only_ = true;  // name and namespace need no parsing
};

}  // namespace apiserver
