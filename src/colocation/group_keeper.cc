// How values of control groups are made and written.
#include "colocation/group_keeper.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "colocation/policy/words.h"

namespace colocation {

using api::Json;

namespace {

constexpr std::size_t kRecordedMax = 1024;

}  // namespace

GroupKeeper::GroupKeeper(const AgentMeans& means, const NodeView& view, const ConfigKeeper& config, AgentEvents& events,
                         Journal& journal)
    : means_(means), view_(view), config_(config), events_(events), journal_(journal) {}

void GroupKeeper::start() {
  const std::string& folder = means_.options.state_folder;
  writer_ = std::make_shared<GroupWriter>(means_.options.tree, folder.empty() ? folder : folder + "/groups.json");
}

void GroupKeeper::begin_anew() {
  throttle_ = {};
  throttle_value_.reset();
}

std::vector<GroupValue> GroupKeeper::values_of_pods(const MachineReading& look) {
  std::vector<GroupValue> values;
  std::set<std::string> problems;
  for (const auto& [uid, pod] : view_.pods()) {
    const auto groups = look.groups.find(uid);
    if (groups == look.groups.end() || pod.ended) continue;
    GroupValues desired = values_of_pod(means_.options.tree, means_.supported, config_.config(), pod, groups->second);
    values.insert(values.end(), desired.values.begin(), desired.values.end());
    report_pod(pod, desired.problems);
    problems.insert(desired.problems.begin(), desired.problems.end());
  }
  pod_problems_ = std::move(problems);
  return values;
}

void GroupKeeper::report_pod(const PodFacts& pod, const std::vector<std::string>& problems) {
  const Json about =
      Json::object({{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", Json::object({{"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}})}});
  for (const std::string& problem : problems)
    if (!pod_problems_.contains(problem)) events_.record(about, "Warning", "ColocationConfigParseFailed", problem);
}

void GroupKeeper::add_throttle(const Measured& measured, std::vector<GroupValue>& values) {
  const GroupTree& tree = means_.options.tree;
  if (!config_.is_active(Feature::kCpuThrottle) || tree.driver == GroupDriver::kOwn) return;
  const NodeAmounts whole = allocatable_of(*view_.node());
  if (measured.has_cpu && whole.cpu_milli > 0)
    if (const auto milli = next_throttle(config_.config(), whole.cpu_milli, measured.pods.cpu_milli, throttle_))
      throttle_value_ = throttle_value(tree, *milli);
  if (throttle_value_) values.push_back(*throttle_value_);
}

void GroupKeeper::write(const MachineReading& look, const Measured& measured, rt::Worker& files) {
  auto values = std::make_shared<std::vector<GroupValue>>(values_of_pods(look));
  add_throttle(measured, *values);
  auto report = std::make_shared<WriteReport>();
  files.run([writer = writer_, values, report, now = means_.env.now()] { *report = writer->apply(*values, now, true); },
            means_.guard.while_alive([this, report] {
              if (!stopped_) written(*report);
            }));
}

void GroupKeeper::take_back(rt::Worker& files, std::function<void()> done) {
  files.run([writer = writer_, now = means_.env.now()] { writer->apply({}, now, true); }, std::move(done));
}

void GroupKeeper::written(const WriteReport& report) {
  failed_writes_ = report.failed;
  trouble_ = report.trouble;
  if (!report.trouble.empty())
    events_.warn_once("book", "ColocationStateNotKept",
                      base::format("what groups had before cannot be kept: {}", report.trouble));
  for (const JournalEntry& entry : report.entries) {
    if (!entry.error.empty())
      events_.warn_once("write " + entry.error, "ColocationWriteFailed",
                        base::format("{}: {}", entry.feature, entry.error));
    journal_.add(entry);
  }
  events_.bound(kRecordedMax);
}

}  // namespace colocation
