// Which plugins may a Job name in spec.plugins? Admission refuses others; the job controller has one for each.
#pragma once

#include <array>
#include <string_view>

namespace api {

// In the order in which they edit pods.
inline constexpr std::array<std::string_view, 8> kJobPlugins = {"svc",     "ssh", "env", "tensorflow",
                                                                "pytorch", "mpi", "ray", "hcclrank"};

}  // namespace api
