// Sets of labels come and go: ids are used again, and each label leads to those that carry it.
#include "scheduler/model/pods/label_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "scheduler/model/pods/affinity.h"
#include "scheduler/model/pods/workloads.h"

namespace scheduler {
namespace {

std::set<std::uint32_t> with(LabelSets& sets, std::uint64_t label) {
  std::set<std::uint32_t> out;
  sets.for_each_with(label, [&](LabelSetId id) { EXPECT_TRUE(out.insert(id.index).second); });
  return out;
}

TEST(LabelSets, AreFoundByEachOfTheirLabelsWhileTheyAreUsed) {
  LabelSets sets;
  std::mt19937 random(7);
  std::map<std::pair<std::uint32_t, Labels>, LabelSetId> used;
  for (int step = 0; step < 20'000; ++step) {
    if (!used.empty() && random() % 2 == 0) {
      const auto one = std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
      sets.use(one->second, -1);
      used.erase(one);
      continue;
    }
    const Symbol ns{static_cast<std::uint32_t>(random() % 3)};
    Labels labels;
    for (std::uint32_t key = 0; key < random() % 4; ++key)
      labels.emplace_back(Symbol{key}, Symbol{static_cast<std::uint32_t>(random() % 12)});
    if (used.contains({ns.index, labels})) {
      EXPECT_EQ(sets.find(ns, labels), used.at({ns.index, labels}));
      continue;
    }
    if (sets.has_many_unused()) sets.give_back();
    if (step == 5'000) with(sets, 1);  // the first question
    LabelSetId id = sets.find(ns, labels);
    if (!id.is_set()) id = sets.add(ns, labels);
    sets.use(id, 1);
    used.emplace(std::pair{ns.index, labels}, id);
  }
  sets.give_back();
  EXPECT_EQ(sets.size(), used.size());
  std::map<std::uint64_t, std::set<std::uint32_t>> expected;
  for (const auto& [what, id] : used) {
    EXPECT_EQ(sets.find(Symbol{what.first}, what.second), id);
    for (const auto& [key, value] : what.second) expected[LabelSets::label_key(key, value)].insert(id.index);
  }
  for (std::uint32_t key = 0; key < 4; ++key) {
    for (std::uint32_t value = 0; value < 12; ++value) {
      const std::uint64_t label = LabelSets::label_key(Symbol{key}, Symbol{value});
      EXPECT_EQ(with(sets, label), expected[label]) << key << "=" << value;
    }
  }
}

TEST(LabelSets, ALabelThatIsSaidTwiceLinksOnce) {
  LabelSets sets;
  const Labels labels{{Symbol{1}, Symbol{2}}, {Symbol{1}, Symbol{2}}};
  const LabelSetId id = sets.add(Symbol{0}, labels);
  EXPECT_EQ(with(sets, LabelSets::label_key(Symbol{1}, Symbol{2})), std::set<std::uint32_t>{id.index});
  EXPECT_TRUE(sets.give_back());
  EXPECT_EQ(with(sets, LabelSets::label_key(Symbol{1}, Symbol{2})), std::set<std::uint32_t>{});
}

PodSelector chooses(Symbol ns, Symbol key, Symbol value) {
  PodSelector out;
  out.namespaces = {ns};
  out.labels.present = true;
  out.labels.requirements.push_back({key, Requirement::Op::kIn, {value}, 0});
  return out;
}

TEST(PodAffinity, LabelsOfJobsThatWentLeaveNothingBehind) {
  Symbols symbols;
  PodAffinity pods(symbols);
  const Symbol ns = symbols.intern("team"), key = symbols.intern("job");
  const MatcherId matcher = pods.matcher_for({chooses(ns, key, symbols.intern("job-9999"))});
  for (int i = 0; i < 10'000; ++i) {
    const Symbol value = symbols.intern("job-" + std::to_string(i));
    const LabelSetId id = pods.label_set_for(ns, Labels{{key, value}});
    pods.use_labels(id, 1);
    EXPECT_EQ(pods.matches(matcher, id), i == 9999) << i;
    pods.use_labels(id, -1);
  }
  EXPECT_LE(pods.label_sets().capacity(), 512u);
}

// Each of these chooses every pod: one after the other they would leave a list of matchers for each, of each length.
TEST(PodAffinity, MatchersThatAreGatheredChooseWhatTheyWouldOneByOne) {
  Symbols symbols;
  PodAffinity pods(symbols);
  const Symbol ns = symbols.intern("team"), app = symbols.intern("app");
  std::vector<LabelSetId> sets;
  for (int i = 0; i < 200; ++i) {
    sets.push_back(pods.label_set_for(ns, Labels{{app, symbols.intern(std::to_string(i))}}));
    pods.use_labels(sets.back(), 1);
  }
  for (int round = 0; round < 20; ++round) {
    pods.gather_matchers();
    std::vector<MatcherId> made;
    for (int i = 0; i < 500; ++i) {
      PodSelector lacks = chooses(ns, symbols.intern("k" + std::to_string(round * 500 + i)), Symbol());
      lacks.labels.requirements[0] = {lacks.labels.requirements[0].key, Requirement::Op::kDoesNotExist, {}, 0};
      made.push_back(pods.matcher_for({lacks}));
      pods.use_matcher(made.back(), 1);
    }
    const MatcherId one = pods.matcher_for({chooses(ns, app, symbols.intern("7"))});
    pods.use_matcher(one, 1);
    pods.sign_gathered();
    for (const LabelSetId set : sets) {
      EXPECT_EQ(pods.matches(one, set), set == sets[7]);
      EXPECT_TRUE(pods.matches(made.front(), set) && pods.matches(made.back(), set));
    }
    if (round % 2 == 0) continue;
    for (const MatcherId id : made) pods.use_matcher(id, -1);
    pods.give_back_matchers();
    EXPECT_EQ(pods.matchers_of(sets[0]).size(), static_cast<std::size_t>(round / 2 + 1) * 500);
  }
}

TEST(PodAffinity, EqualLabelsOfAnObjectAreKnownOnlyWhileTheirSetIs) {
  Symbols symbols;
  PodAffinity pods(symbols);
  const Symbol ns = symbols.intern("team");
  const api::Json first = api::Json::object({{"job", "first"}});
  pods.label_set_for(ns, first);
  for (int i = 0; i < 1'000; ++i) {
    const LabelSetId id = pods.label_set_for(ns, Labels{{symbols.intern("n"), symbols.intern(std::to_string(i))}});
    pods.use_labels(id, 1);
  }
  const LabelSet& again = pods.label_set(pods.label_set_for(ns, first));
  EXPECT_EQ(again.labels, labels_from(first, symbols));
}

TEST(Workloads, AnIdThatComesToMeanOtherLabelsIsAskedAnew) {
  Symbols symbols;
  PodAffinity pods(symbols);
  Workloads workloads;
  const Symbol ns = symbols.intern("team"), key = symbols.intern("app");
  const auto labels = [&](int i) { return Labels{{key, symbols.intern("app-" + std::to_string(i))}}; };
  LabelSelector selector;
  selector.present = true;
  selector.requirements.push_back({key, Requirement::Op::kIn, {symbols.intern("app-0")}, 0});
  workloads.set("", "team/front", selector);
  const LabelSetId first = pods.label_set_for(ns, labels(0));
  EXPECT_TRUE(workloads.default_matcher(TaskId{0}, first, pods, symbols).is_set());
  bool came_again = false;
  for (int i = 1; i < 1'000; ++i) {
    const LabelSetId id = pods.label_set_for(ns, labels(i));
    came_again |= id == first;
    EXPECT_FALSE(workloads.default_matcher(TaskId{1}, id, pods, symbols).is_set()) << i;
  }
  EXPECT_TRUE(came_again);
}

}  // namespace
}  // namespace scheduler
