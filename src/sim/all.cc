// The lists of workloads, faults and checks.
#include "sim/checks/all.h"

#include <array>

#include "sim/faults/all.h"
#include "sim/workloads/all.h"

namespace sim {

namespace {

constexpr std::array kWorkloads = {
    PieceKind<Workload>{"crons", make_crons},
    PieceKind<Workload>{"flows", make_flows},
    PieceKind<Workload>{"counters", make_counters},
    PieceKind<Workload>{"gang-jobs", make_gang_jobs},
    PieceKind<Workload>{"job-churn", make_job_churn},
    PieceKind<Workload>{"notebooks", make_notebooks},
    PieceKind<Workload>{"pipeline-runs", make_pipeline_runs},
    PieceKind<Workload>{"pod-monkey", make_pod_monkey},
    PieceKind<Workload>{"queue-churn", make_queue_churn},
    PieceKind<Workload>{"single-pods", make_single_pods},
    PieceKind<Workload>{"topology-churn", make_topology_churn},
    PieceKind<Workload>{"training-jobs", make_training_jobs},
};

constexpr std::array kFaults = {
    PieceKind<Fault>{"conflict", make_conflict},         PieceKind<Fault>{"cut-watch", make_cut_watch},
    PieceKind<Fault>{"disk-error", make_disk_error},     PieceKind<Fault>{"drop-answer", make_drop_answer},
    PieceKind<Fault>{"drop-request", make_drop_request}, PieceKind<Fault>{"refuse", make_refuse},
    PieceKind<Fault>{"restart", make_restart},           PieceKind<Fault>{"slow-network", make_slow_network},
};

// Lost writes and holes in watches (sim/world/truth.h), cycles that break what must hold (sim/world/decisions.h) and
// writes at rest (sim/world/world.cc) are looked for in every world.
constexpr std::array kChecks = {
    PieceKind<Check>{"artifacts-follow", make_artifacts_follow},
    PieceKind<Check>{"crons-keep-apart", make_crons_keep_apart},
    PieceKind<Check>{"evictions-help", make_evictions_help},
    PieceKind<Check>{"flows-in-order", make_flows_in_order},
    PieceKind<Check>{"gangs-are-atomic", make_gangs_are_atomic},
    PieceKind<Check>{"hyper-nodes-follow", make_hyper_nodes_follow},
    PieceKind<Check>{"jobs-finish", make_jobs_finish},
    PieceKind<Check>{"ledger-agrees", make_ledger_agrees},
    PieceKind<Check>{"no-node-overcommitted", make_no_node_overcommitted},
    PieceKind<Check>{"notebooks-follow", make_notebooks_follow},
    PieceKind<Check>{"pipelines-run-once", make_pipelines_run_once},
    PieceKind<Check>{"queues-within-capability", make_queues_within_capability},
    PieceKind<Check>{"refusals-cure", make_refusals_cure},
    PieceKind<Check>{"shards-are-apart", make_shards_are_apart},
    PieceKind<Check>{"single-pods-end", make_single_pods_end},
    PieceKind<Check>{"training-jobs-end", make_training_jobs_end},
    PieceKind<Check>{"views-agree", make_views_agree},
    PieceKind<Check>{"waits-have-reasons", make_waits_have_reasons},
};

}  // namespace

std::span<const PieceKind<Workload>> all_workloads() { return kWorkloads; }
std::span<const PieceKind<Fault>> all_faults() { return kFaults; }
std::span<const PieceKind<Check>> all_checks() { return kChecks; }

}  // namespace sim
