// How large an answer's warnings and a refusal may be, whatever was asked.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace apiserver {

// At most 64. Kubernetes' own: all of them together at most 4,096 bytes (it counts characters); beyond that each is cut
// to 256, and those that still do not fit are left out. Equal ones are told once.
void bound_warnings(std::vector<std::string>& warnings);
// At most api::kProblemsMax causes and 16 KiB of message; what is left out is counted in the message.
void bound_error(base::Error& error);

}  // namespace apiserver
