// One function per workload; all.cc has the names.
#pragma once

#include <memory>

#include "sim/world/pieces.h"

namespace sim {

std::unique_ptr<Workload> make_counters(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_crons(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_flows(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_gang_jobs(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_job_churn(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_notebooks(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_pipeline_runs(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_pod_monkey(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_queue_churn(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_single_pods(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_topology_churn(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Workload> make_training_jobs(World& world, Settings& settings, base::Random& dice);

}  // namespace sim
