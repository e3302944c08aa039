// A cycle with one action: the question.
#include "plugin_trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "base/format.h"
#include "objects.h"
#include "scheduler/framework/action.h"
#include "scheduler/plugins/all.h"
#include "scheduler/search/node_evaluators.h"

namespace plugins {

using scheduler::NodeId;
using scheduler::NodeScorer;
using scheduler::NodeSet;
using scheduler::Session;

namespace {

const std::function<void(Session&)>* question = nullptr;  // of the cycle that runs

class Ask final : public scheduler::Action {
 public:
  void run(Session& session) override {
    if (question != nullptr) (*question)(session);
  }
};

// Hours in configurations are local ones.
const bool kIsUtc = (setenv("TZ", "UTC", 1), tzset(), true);

constexpr scheduler::ActionFactory kActions[] = {
    {"ask", [] { return std::unique_ptr<scheduler::Action>(std::make_unique<Ask>()); }}};

constexpr std::string_view kNoPlugins = "actions: \"ask\"\ntiers:\n- plugins: []\n";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void set(scheduler::Intake& intake, std::string_view cluster) {
  std::vector<scenario::Line> lines;
  for (std::string_view text : lines_of(cluster)) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) continue;
    if (text.starts_with('+')) {
      auto patch = api::parse_json(text.substr(1));
      ASSERT_TRUE(patch.ok() && !lines.empty()) << text;
      lines.back().patch = *patch;
      continue;
    }
    auto line = scenario::parse_line(text, static_cast<int>(lines.size()) + 1);
    ASSERT_TRUE(line.ok()) << line.error().message;
    lines.push_back(*line);
  }
  std::int64_t order = 0;
  for (const scenario::Line& line : lines)
    for (const std::string& name : scenario::expand(line.name)) {
      const auto made = scenario::object_for(line, name, ++order);
      ASSERT_TRUE(made.ok() && made->has_value()) << line.verb << " " << name;
      intake.set((*made)->resource, (*made)->object);
    }
}

double add_up(NodeScorer& scorer, const NodeSet& nodes, std::uint32_t node) {
  using Normalise = NodeScorer::Normalise;
  if (scorer.normalise() == Normalise::kNone) return scorer.weight() * scorer.score(node);
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  nodes.for_each([&](std::uint32_t n) {
    low = std::min(low, scorer.raw(n));
    high = std::max(high, scorer.raw(n));
  });
  const std::int64_t raw = scorer.raw(node);
  std::int64_t score = 0;
  if (scorer.normalise() == Normalise::kMax) score = high > 0 ? 100 * raw / high : 0;
  if (scorer.normalise() == Normalise::kReverseMax) score = high > 0 ? 100 - 100 * raw / high : 100;
  if (scorer.normalise() == Normalise::kMinMax) score = high > low ? 100 * (raw - low) / (high - low) : 0;
  return scorer.weight() * static_cast<double>(score);
}

}  // namespace

PluginTrial::PluginTrial(std::string_view listed, std::string_view cluster, base::Time now)
    : intake_(model_, ledger_, {}),
      decider_(model_, ledger_, {scheduler::all_plugins(), kActions, kNoPlugins}, 1, "volcano"),
      now_(now) {
  set(intake_, cluster);
  const base::Status status = decider_.configure(base::format("actions: \"ask\"\ntiers:\n- plugins: [{}]\n", listed));
  EXPECT_TRUE(status.ok() && kIsUtc) << (status.ok() ? "" : status.error().message);
}

void PluginTrial::measure(const std::string& node, double cpu, double memory) {
  model_.usage.by_node[node] = {cpu, memory, now_};
  ++model_.usage.generation;
}

void PluginTrial::answers(const std::string& verb, bool ok, std::string text) {
  answers_[verb] = {ok, std::move(text), now_};
}

void PluginTrial::in_session(const std::function<void(Session&)>& ask) {
  question = &ask;
  decider_.run_cycle(now_);
  bool answered = false;
  for (const scheduler::ExternalQuestion& asked : model_.outside.take_questions()) {
    const auto found = answers_.find(asked.url.substr(asked.url.rfind('/') + 1));
    if (found == answers_.end()) continue;
    model_.outside.put(asked, found->second);
    answered = true;
  }
  if (answered) decider_.run_cycle(now_);
  question = nullptr;
}

const scheduler::Job& PluginTrial::job(std::string_view key) const {
  const scheduler::JobId id = model_.find_job(key);
  EXPECT_TRUE(id.is_set()) << key;
  return model_.job(id);
}

const scheduler::Queue& PluginTrial::queue(std::string_view name) const {
  const scheduler::QueueId id = model_.find_queue(name);
  EXPECT_TRUE(id.is_set()) << name;
  return model_.queue(id);
}

scheduler::TaskId PluginTrial::task(std::string_view key) const {
  const scheduler::TaskId id = model_.find_task(key);
  EXPECT_TRUE(id.is_set()) << key;
  return id;
}

std::vector<scheduler::TaskId> PluginTrial::tasks(const std::vector<std::string>& keys) const {
  std::vector<scheduler::TaskId> out;
  for (const std::string& key : keys) out.push_back(task(key));
  return out;
}

std::string PluginTrial::by_node(const std::function<std::string(NodeId)>& text) const {
  std::vector<std::string> parts;
  model_.nodes.known().for_each([&](std::uint32_t n) {
    if (std::string part = text(NodeId{n}); !part.empty()) parts.push_back(std::move(part));
  });
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string PluginTrial::scores(std::string_view pod) {
  std::string out;
  in_session([&](Session& session) {
    const auto scorers = session.ask<scheduler::NodeOrder>(model_.task(task(pod)));
    const NodeSet all = model_.nodes.known();
    std::vector<double> totals(all.words().size() * 64);
    for (const auto& scorer : scorers) {
      if (scorer->normalise() == NodeScorer::Normalise::kWhole)
        scorer->add_scores(all, totals);
      else
        all.for_each([&](std::uint32_t n) { totals[n] += add_up(*scorer, all, n); });
    }
    out = by_node([&](NodeId node) {
      return base::format("{} {}", model_.nodes[node].name, std::round(totals[node.index] * 100) / 100);
    });
  });
  return out;
}

std::string PluginTrial::fits(std::string_view pod) {
  std::string out;
  in_session([&](Session& session) {
    const scheduler::Task& one = model_.task(task(pod));
    if (session.ask<scheduler::PrePredicate>(one)) return;
    const auto filters = session.ask<scheduler::Predicate>(one);
    out = by_node([&](NodeId node) {
      const bool fits = std::all_of(filters.begin(), filters.end(), [&](const auto& f) { return f->fits(node.index); });
      return fits ? std::string(model_.nodes[node].name) : std::string();
    });
  });
  return out;
}

std::string PluginTrial::reasons(std::string_view pod) {
  std::string out;
  in_session([&](Session& session) {
    out.clear();
    const scheduler::Task& one = model_.task(task(pod));
    if (const scheduler::Refusal refusal = session.ask<scheduler::PrePredicate>(one)) {
      out = refusal.message;
      return;
    }
    scheduler::FitErrors errors;
    NodeSet nodes = model_.nodes.known();
    for (const auto& filter : session.ask<scheduler::Predicate>(one))
      filter->narrow(nodes, scheduler::Strictness::kPlace, &errors);
    for (const auto& [reason, count] : errors.reasons()) out += (out.empty() ? "" : ", ") + reason;
  });
  return out;
}

}  // namespace plugins
