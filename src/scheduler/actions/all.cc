// Which actions exist? To add one, add its file and a line here.
#include "scheduler/actions/all.h"

#include "scheduler/framework/action.h"

namespace scheduler {

std::unique_ptr<Action> make_enqueue();
std::unique_ptr<Action> make_allocate();
std::unique_ptr<Action> make_allocate_single_pods();
std::unique_ptr<Action> make_backfill();
std::unique_ptr<Action> make_gangpreempt();
std::unique_ptr<Action> make_gangreclaim();
std::unique_ptr<Action> make_preempt();
std::unique_ptr<Action> make_reclaim();
std::unique_ptr<Action> make_shuffle();

namespace {
constexpr ActionFactory kActions[] = {
    {"enqueue", make_enqueue},         {"allocate", make_allocate},       {"backfill", make_backfill},
    {"gangpreempt", make_gangpreempt}, {"gangreclaim", make_gangreclaim}, {"preempt", make_preempt},
    {"reclaim", make_reclaim},         {"shuffle", make_shuffle},
};

constexpr ActionFactory kSinglePodActions[] = {{"allocate", make_allocate_single_pods}};
}  // namespace

std::span<const ActionFactory> all_actions() { return kActions; }
std::span<const ActionFactory> single_pod_actions() { return kSinglePodActions; }

}  // namespace scheduler
