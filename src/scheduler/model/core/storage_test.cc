// Do the model's small containers hold what was put into them, and share what they say they share?
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "scheduler/model/core/id_table.h"
#include "scheduler/model/core/optional_value.h"
#include "scheduler/model/core/shared.h"
#include "scheduler/model/core/text.h"
#include "scheduler/model/model.h"
#include "scheduler/model/nodes/node_group.h"

namespace scheduler {
namespace {

TEST(Text, reads_as_what_was_written) {
  const Text empty, a("pod-a"), b("pod-b");
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(empty, "");
  EXPECT_EQ(empty, Text(""));
  EXPECT_EQ(a, "pod-a");
  EXPECT_EQ(a.str() + "/x", "pod-a/x");
  EXPECT_TRUE(a < b && empty < a && a != b);
  Text changed = a;
  changed = "other";
  EXPECT_EQ(a, "pod-a") << "a copy's change is its own";
  changed = std::string_view();
  EXPECT_TRUE(changed.empty());
}

TEST(Text, copies_share_one_body_and_outlive_each_other) {
  Text copy;
  {
    const Text first("tasks in gang are ready to be scheduled");
    copy = first;
    EXPECT_EQ(copy.view().data(), first.view().data());
  }
  EXPECT_EQ(copy, "tasks in gang are ready to be scheduled");
  const Text moved = std::move(copy);
  EXPECT_EQ(moved, "tasks in gang are ready to be scheduled");
}

TEST(SharedTexts, equal_texts_share_until_their_place_is_taken) {
  SharedTexts texts;
  const Text first = texts.share("Unschedulable");
  EXPECT_EQ(texts.share("Unschedulable").view().data(), first.view().data());
  for (int i = 0; i < 100'000; ++i) EXPECT_EQ(texts.share(std::to_string(i)), std::to_string(i));
  EXPECT_EQ(texts.share("Unschedulable"), first);
}

TEST(OptionalValue, copies_what_it_holds) {
  OptionalValue<std::string> empty, box;
  box = std::string("a");
  OptionalValue<std::string> copy = box;
  copy.edit() += "b";
  EXPECT_EQ(*box, "a");
  EXPECT_EQ(*copy, "ab");
  copy = empty;
  EXPECT_FALSE(copy);
}

// Random names come and go; hashes are cut to a few bits, so that most share their place with others.
TEST(IdTable, finds_what_a_map_finds) {
  base::Random random(7);
  for (const std::uint32_t hashes : {1u, 5u, 64u, 0xffff'ffffu}) {
    IdTable<TaskId> table;
    std::map<std::uint32_t, bool> present;
    const auto hash_of = [&](std::uint32_t id) { return IdTable<TaskId>::hash_of(std::to_string(id)) % hashes; };
    for (int step = 0; step < 4'000; ++step) {
      const auto id = static_cast<std::uint32_t>(random.below(300));
      if (!present[id])
        table.insert(hash_of(id), TaskId{id});
      else
        table.erase(hash_of(id), TaskId{id});
      present[id] = !present[id];
      const auto asked = static_cast<std::uint32_t>(random.below(300));
      const TaskId found = table.find(hash_of(asked), [&](TaskId one) { return one.index == asked; });
      EXPECT_EQ(found.is_set(), present[asked]);
      EXPECT_TRUE(!found.is_set() || found.index == asked);
    }
    std::size_t count = 0;
    for (const auto& [id, there] : present) count += there ? 1 : 0;
    EXPECT_EQ(table.size(), count);
  }
}

TEST(NodeGroup, is_the_set_of_its_nodes_few_or_many) {
  base::Random random(11);
  constexpr std::size_t kNodes = 256;
  for (const std::uint64_t members : {1, 8, 9, 60}) {
    NodeGroup group;
    NodeSet same(kNodes), others(kNodes);
    for (int step = 0; step < 400; ++step) {
      const auto n = static_cast<std::uint32_t>(random.below(members) * 4);
      if (same.has(n))
        group.remove(n), same.remove(n);
      else
        group.add(n), same.add(n);
      others.add(static_cast<std::uint32_t>(random.below(kNodes)));
      NodeSet either = others, both = others;
      either |= group;
      both &= group;
      EXPECT_EQ(either.words(), (NodeSet(others) |= same).words());
      EXPECT_EQ(both.words(), (NodeSet(others) &= same).words());
      EXPECT_EQ(group.empty(), same.empty());
      if (step % 40 == 39) others.clear();
    }
  }
}

// Groups come, go and come again under the ids of others: the model lists them by their keys all the same.
TEST(SortedJobs, are_all_jobs_by_their_keys) {
  base::Random random(3);
  Model model;
  std::map<std::string, bool> present;
  for (int step = 0; step < 3'000; ++step) {
    const std::uint64_t number = random.below(60);
    const std::string key = (number % 3 == 0 ? "ns/of-one-long-name-" : "ns/") + std::to_string(number);
    if (!present[key]) {
      model.find_or_add_job(key);
    } else {
      model.remove_job_if_empty(model.find_job(key));
    }
    present[key] = !present[key];
    EXPECT_EQ(model.find_job(key).is_set(), present[key]);
    if (random.below(10) != 0) continue;
    std::vector<std::string> expected, listed;
    for (const auto& [name, there] : present) {
      if (there) expected.push_back(name);
    }
    model.for_each_job([&](const Job& job) { listed.push_back(job.key.str()); });
    EXPECT_EQ(listed, expected);
  }
}

TEST(Sums, count_named_dimensions_apart_from_their_amounts) {
  Dimensions dimensions;
  const Dim gpu = *dimensions.dim_of("a.b/gpu");
  Request plain, with_gpu;
  plain.add(kPods, 1);
  with_gpu.add(gpu, 0);
  Sums sums;
  EXPECT_TRUE(sums.has(kCpu) && !sums.has(kPods) && !sums.has(gpu));
  sums.add(plain, 1);
  sums.add(with_gpu, 1);
  EXPECT_TRUE(sums.has(kPods) && sums.has(gpu));
  EXPECT_EQ(sums.get(kPods), 1);
  EXPECT_EQ(sums.get(gpu), 0);
  const Sums copy = sums;
  sums.add(plain, -1);
  sums.add(with_gpu, -1);
  EXPECT_TRUE(!sums.has(kPods) && !sums.has(gpu) && copy.has(gpu));
}

TEST(Storage, equal_values_are_one_until_somebody_edits_his) {
  SharedValues<std::string> values;
  Shared<std::string> a = values.share("x", 1), b = values.share("x", 1);
  EXPECT_EQ(&*a, &*b);
  a.edit() = "y";
  EXPECT_EQ(*b, "x");
  EXPECT_EQ(*values.share("x", 1), "x") << "the place keeps its own";
  EXPECT_EQ(*values.share("z", 1), "z") << "another value of the same digest";
  EXPECT_EQ(*b, "x");
  Shared<std::string> none;
  EXPECT_FALSE(none);
  none.edit() = "w";
  EXPECT_EQ(*none, "w");
}

}  // namespace
}  // namespace scheduler
