// Ids of jobs are used again: what was remembered of the one that is gone must not count for the one that came.
#include <gtest/gtest.h>

#include "scheduler/model/model.h"

namespace scheduler {
namespace {

TEST(Model, a_job_with_the_id_of_one_that_is_gone_has_changed_since) {
  Model model;
  const JobId first = model.find_or_add_job("a/g1");
  const std::uint64_t changes = model.job(first).changes;
  model.remove_job_if_empty(first);
  const JobId second = model.find_or_add_job("a/g2");
  ASSERT_EQ(second.index, first.index);
  EXPECT_GT(model.job(second).changes, changes);
}

}  // namespace
}  // namespace scheduler
