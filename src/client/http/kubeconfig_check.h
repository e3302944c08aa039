// Is a kubeconfig written as one?
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace client {

// Each part that is read has its type; an error names the field and what is there. Parts that are left out, null, or
// not read here are fine.
base::Status check_kubeconfig(const api::Json& config);

// A token without the blanks around it; an error where a header could not carry it, or where there is none.
base::Result<std::string> token_from(std::string_view text);

}  // namespace client
