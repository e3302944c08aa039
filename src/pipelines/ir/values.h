// Values of parameters: whether they fit a type, and what they become in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "pipelines/ir/pipeline.h"

namespace pipelines {

// The value as the type has it: whole numbers without a fraction, lists and structs also from their JSON text, and
// texts of whatever is not a text. An error says what does not fit.
base::Result<api::Json> fit(const api::Json& value, ParameterType type);
// The same for the text of an output file.
base::Result<api::Json> fit_text(std::string_view text, ParameterType type);
// Whether values of one type can be given where the other one is expected.
bool may_fit(ParameterType given, ParameterType expected);
// The value is one of the literals, if there are any.
base::Status check_literals(const api::Json& value, const std::vector<api::Json>& literals);

// "parseJson(string_value)["a"][0]" as the members that lead into the value.
base::Result<std::vector<api::Json>> read_selector(std::string_view text);
base::Result<api::Json> select_members(const api::Json& value, const std::vector<api::Json>& members);

}  // namespace pipelines
