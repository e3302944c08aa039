// The files that the agent of co-location reads: any text gives a figure in range or none, no name leads out of the
// groups, and a configuration that is taken keeps every rule.
#include "colocation/files/group_tree.h"
#include "colocation/files/kernel_text.h"
#include "colocation/policy/config.h"
#include "colocation/policy/group_values.h"
#include "colocation/policy/history.h"
#include "targets.h"

namespace fuzz {

namespace {

void numbers(std::string_view input) {
  for (const auto& figure : {colocation::parse_amount(input), colocation::stat_value(input, "usage_usec"),
                             colocation::busy_ticks(input), colocation::group_memory(input)})
    promise(!figure || *figure >= 0, "a figure is not negative", input);
  const auto memory = colocation::machine_memory(input);
  promise(!memory || (memory->total_bytes > 0 && memory->available_bytes >= 0 &&
                      memory->available_bytes <= memory->total_bytes),
          "what is available is a part of the total", input);
  const auto pressure = colocation::parse_pressure(input);
  promise(!pressure || (pressure->some_us >= 0 && pressure->full_us >= 0), "time does not run backwards", input);
}

void names(std::string_view input) {
  for (const auto driver :
       {colocation::GroupDriver::kCgroupfs, colocation::GroupDriver::kSystemd, colocation::GroupDriver::kOwn}) {
    const colocation::GroupTree tree{.driver = driver};
    const auto pod = colocation::pod_path(tree, colocation::QosClass::kBurstable, input);
    promise(!pod || (pod->find("..") == std::string::npos || input.find("..") != std::string_view::npos),
            "a path stays below the root", input);
    promise(!pod || input.find('/') == std::string_view::npos, "a uid is one part of a path", input);
    const auto container = colocation::container_group(tree, input);
    promise(!container || container->find('/') == std::string::npos, "a container is one part of a path", input);
  }
}

}  // namespace

void colocation_files(std::string_view input) {
  numbers(input);
  names(input);
  const auto counter = colocation::counter_value(input);
  promise(!counter || *counter >= 0, "a counter is never negative", input);
  for (const auto& [name, bytes] : colocation::received_bytes(input))
    promise(colocation::is_interface_name(name) && bytes >= 0, "an interface receives no less than nothing", input);
  const std::string uplink = colocation::default_route_interface(input);
  promise(uplink.empty() || colocation::is_interface_name(uplink), "a route leads over an interface", input);
  const std::string driver = colocation::named_driver(input);
  promise(driver.empty() || driver == "systemd" || driver == "cgroupfs", "a driver is one of two", input);
  (void)colocation::config_path(input);
  (void)colocation::cpu_manager_policy(input);
  const auto config = colocation::config_for(input, api::Json());
  promise(!config.ok() || colocation::check_config(*config).ok(), "a configuration that is taken keeps the rules",
          input);
  promise(config.ok() || !config.error().message.empty(), "a refusal says why", input);
  const auto completed = colocation::completed_config_text(input);
  promise(!completed.ok() || completed->empty() || colocation::completed_config_text(*completed).ok(),
          "a completed text is complete", input);
  colocation::UsageHistory history;
  if (history.read(input)) promise(history.text() == input, "a history is written as it was read", input);
  promise(colocation::has_value("memory.max", input, input), "a file has the value that it has", input);
  const int level = colocation::qos_level(input);
  promise(level >= -1 && level <= 2, "a level is between -1 and 2", input);
}

}  // namespace fuzz
