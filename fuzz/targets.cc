// The list of targets, with the canary that always fails: it proves that a find is noticed.
#include "targets.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/format.h"

namespace fuzz {

namespace {

void canary(std::string_view input) {
  promise(input.find("cat") == std::string_view::npos, "the canary found the cat");
}

constexpr std::array kTargets = {
    Target{"json", json},
    Target{"cbor", cbor},
    Target{"protobuf", protobuf},
    Target{"yaml", yaml},
    Target{"quantity", quantity},
    Target{"selector", selector},
    Target{"discovery", discovery},
    Target{"shell_words", shell_words},
    Target{"cron", cron},
    Target{"colocation", colocation_files},
    Target{"patch", patch},
    Target{"patch_limits", patch_limits},
    Target{"cel", cel},
    Target{"policies", policies},
    Target{"devices", devices},
    Target{"plugins", plugins},
    Target{"route", route},
    Target{"http", http},
    Target{"grpc", grpc},
    Target{"http2", http2},
    Target{"http2_server", http2_server},
    Target{"spdy", spdy},
    Target{"connection", connection},
    Target{"keys", keys},
    Target{"definition", definition},
    Target{"scheduler_config", scheduler_config},
    Target{"plugin_arguments", plugin_arguments},
    Target{"sharding", sharding},
    Target{"scheduler_objects", scheduler_objects},
    Target{"workflow", workflow},
    Target{"writes", writes},
    Target{"database", database},
    Target{"termination", termination},
    Target{"image", image},
    Target{"canary", canary},
};

}  // namespace

std::span<const Target> all_targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets)
    if (target.name == name) return &target;
  return nullptr;
}

void promise(bool kept, std::string_view what, std::string_view detail) {
  if (kept) return;
  const std::string text = base::format("broken promise: {}: {}\n", what, detail);
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace fuzz
