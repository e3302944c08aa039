// Reading plugins' messages (protocol buffers) with suspicion: errors name the field and the value.
#pragma once

#include <functional>
#include <string_view>

#include "base/protobuf_wire.h"
#include "base/result.h"

namespace node {

// Calls `use` for each field, until one is an error.
base::Status each_field(std::string_view message, const std::function<base::Status(const base::WireField&)>& use);

base::Error wrong_field(std::string_view field, std::string_view value, std::string_view why);

// UTF-8 of at most `max` bytes without control characters.
bool is_plain_text(std::string_view text, std::size_t max);

// "vendor.com/class=name".
base::Status check_cdi_name(std::string_view field, std::string_view name);

}  // namespace node
