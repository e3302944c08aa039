// Files of manifests: their objects, and the pods in them as an API server would fill them in.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/server/review.h"
#include "api/json/json.h"
#include "base/result.h"

namespace volcano_main {

// The documents of a file or folder: YAML, JSON, one object a line, and the items of lists.
base::Result<std::vector<api::Json>> read_documents(const std::string& path);

// Fills in what an API server fills into pods from files, by the code of the embedded one.
class PodCompletion {
 public:
  // Remembers the PriorityClasses, RuntimeClasses and LimitRanges in a file's text. Others, and what cannot be read,
  // are left to whoever reads the file for its own sake.
  void look_at(const std::string& name, std::string_view text);
  void complete(api::Json& pod);
  // Pods that a server would refuse, and why; for standard error.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  bool is_needed(const api::Json& pod) const;

  admission::ObjectSet objects_;
  bool has_limit_ranges_ = false, has_default_class_ = false;
  std::vector<std::string> remarks_;
  std::set<std::string> remarked_;
};

}  // namespace volcano_main
