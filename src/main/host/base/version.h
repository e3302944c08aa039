// The version all programs name.
#pragma once

namespace volcano_main {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace volcano_main
