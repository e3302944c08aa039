// The gangs of a loop: pods of a step that start together, over all turns of the loop, where the step's annotation
// volcano.sh/loop-gang is "true".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/quantity.h"
#include "base/result.h"
#include "controllers/pipelines/run_look.h"

namespace controllers::pipelines {

inline constexpr std::string_view kLoopGang = "volcano.sh/loop-gang";
inline constexpr const char* kGroupAnnotation = "scheduling.k8s.io/group-name";

// Paths of the loop's steps that are gangs in their order, behind that of a turn: ".train", ".condition-2.train", or ""
// where the turn itself is the step. Loops inside of it have gangs of their own.
std::vector<std::string> gang_steps(const ::pipelines::Pipeline& pipeline, const ::pipelines::Component& turn);

// The group that the pod of a step belongs to; empty: none. `loop`: the path of the innermost loop around it,
// empty where there is none.
base::Result<std::string> group_of_step(const RunFacts& facts, const ::pipelines::Executor& executor,
                                        std::string_view loop, std::string_view path);

// The path of a step behind that of its turn.
std::string_view step_in_turn(std::string_view loop, std::string_view path);

// How a loop stands in one look.
struct LoopLook {
  const std::string& path;
  const std::vector<std::string>& gang_steps;
  const std::vector<Standing>& turns;  // those behind the last one have not begun
  std::size_t items = 0;
};
// Makes the groups of the loop's gangs, and lowers how many pods each waits for when a turn ends without its step: it
// was skipped, cached, or came to nothing.
void hold_gangs(RunLook& look, const LoopLook& loop);

}  // namespace controllers::pipelines
