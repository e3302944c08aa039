// Texts of a Workflow with {{names}} in them, and the values that the names stand for.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace pipelines::argo {

// Values by name: "inputs.parameters.x", "tasks.a.outputs.parameters.y", "item", "workflow.name".
class Variables {
 public:
  void set(std::string name, std::string value) { values_.insert_or_assign(std::move(name), std::move(value)); }
  const std::string* find(std::string_view name) const;
  // The entries of `other` whose name begins with `prefix`.
  void take(const Variables& other, std::string_view prefix);

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

// The names in a text, blanks around them cut off. An error names a tag that is not closed, or an expression
// ({{=...}}).
base::Result<std::vector<std::string>> names_in(std::string_view text);

// The text with values in place of names. An error names the first name without a value. Tags inside of
// a value are plain text. At most kTextBytesMax come out.
inline constexpr std::size_t kTextBytesMax = 1 << 20;
base::Result<std::string> fill(std::string_view text, const Variables& variables);

// The same for every text in a value, keys excepted.
base::Result<api::Json> fill_all(const api::Json& value, const Variables& variables);

// A value as the text that stands for it: a text as it is, anything else as JSON.
std::string text_of(const api::Json& value);

}  // namespace pipelines::argo
