// The texts of `kubectl explain` about Kubernetes' own types and their fields.
#pragma once

#include <map>
#include <string_view>
#include <utility>

namespace apiserver {

// By type and field; the field is empty for the type itself, and "&" for the type that other fields' texts are taken
// from.
using CoreTexts = std::map<std::pair<std::string_view, std::string_view>, std::string_view>;

// The rows of the tables (core_texts_*.inc), as written there.
const CoreTexts& core_texts();

// The text of a type by its short name ("core.v1.Container"), or of a field of it; `field` is empty for the type
// itself. Empty where there is none. The texts live as long as the program. Any thread.
std::string_view core_text(std::string_view type, std::string_view field);

}  // namespace apiserver
