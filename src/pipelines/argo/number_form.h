// Numbers of withSequence in the form that it names. Inside of argo only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pipelines::argo {

inline constexpr std::string_view kNumberForms = "number in a text, such as %d, step-%03d or 0x%02X";

// Whether the form has one number, as %d, %o, %x or %X, with a width; an empty form is the number alone.
bool is_number_form(std::string_view form);
std::string number_in_form(std::string_view form, std::int64_t number);

}  // namespace pipelines::argo
