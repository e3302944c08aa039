// One function per check; all.cc has the names.
#pragma once

#include <memory>

#include "sim/world/pieces.h"

namespace sim {

std::unique_ptr<Check> make_artifacts_follow(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_crons_keep_apart(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_evictions_help(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_flows_in_order(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_gangs_are_atomic(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_hyper_nodes_follow(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_jobs_finish(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_ledger_agrees(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_no_node_overcommitted(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_notebooks_follow(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_pipelines_run_once(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_queues_within_capability(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_refusals_cure(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_shards_are_apart(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_single_pods_end(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_training_jobs_end(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_views_agree(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Check> make_waits_have_reasons(World& world, Settings& settings, base::Random& dice);

}  // namespace sim
