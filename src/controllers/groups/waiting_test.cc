// The reason that keeps a group waiting, by its conditions and its phase.
#include "controllers/groups/waiting.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace controllers {
namespace {

using api::Json;

Json condition(std::string_view type, std::string_view status, std::string_view time) {
  return Json::object({{"type", type},
                       {"status", status},
                       {"message", base::format("{}. and more", type)},
                       {"lastTransitionTime", base::format("2026-01-01T00:00:{}Z", time)}});
}

TEST(Waiting, the_newest_condition_that_holds_counts) {
  struct Row {
    std::string_view phase;
    std::vector<Json> conditions;
    std::string_view sentence;
  };
  const Json scheduled = condition("Scheduled", "True", "05");
  const Row rows[] = {
      {"Pending", {}, ""},
      {"Inqueue", {condition("Unschedulable", "True", "05")}, "Unschedulable"},
      {"Inqueue", {condition("Unschedulable", "False", "05")}, ""},
      {"Unknown", {scheduled, condition("Unschedulable", "True", "06")}, "Unschedulable"},
      {"Running", {scheduled, condition("Unschedulable", "True", "04")}, ""},
      // A pod that went and came again within a second leaves two of one time.
      {"Unknown", {scheduled, condition("Unschedulable", "True", "05")}, "Unschedulable"},
      {"Running", {scheduled, condition("Unschedulable", "True", "05")}, ""},
      {"Completed", {condition("Unschedulable", "True", "05"), scheduled}, ""},
  };
  for (const Row& row : rows) {
    const Json group =
        Json::object({{"status", Json::object({{"phase", row.phase}, {"conditions", Json::array(row.conditions)}})}});
    EXPECT_EQ(waiting_sentence(trouble_of_group(group)), row.sentence) << group.dump();
  }
}

}  // namespace
}  // namespace controllers
