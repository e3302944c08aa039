// The meaning of an extender's answers, verb by verb, and what follows where it is ill: docs/spec/scheduler 5.24.
#include <gtest/gtest.h>

#include "base/format.h"
#include "plugin_trial.h"

namespace plugins {
namespace {

using namespace scheduler;

constexpr std::string_view kCluster = R"(
queue default
node n1 cpu=10
node n2 cpu=10
group a/g phase=Running
pod a/old-1 group=g cpu=1 node=n1 uid=u1
pod a/old-2 group=g cpu=1 node=n1 uid=u2
pod a/new group=g cpu=1
pod a/card group=g cpu=1 example.com/card=1
)";

// With every verb, each called as what it is for.
std::string extender(bool ignorable, std::string_view more = "") {
  std::string verbs;
  for (const char* verb : {"onSessionOpen", "predicate", "prioritize", "preemptable", "reclaimable", "queueOverused",
                           "jobEnqueueable", "jobReady", "allocateFunc"})
    verbs += base::format(", extender.{0}Verb: {0}", verb);
  return base::format(
      "{{name: extender, arguments: {{extender.urlPrefix: \"http://e/\", extender.ignorable: {}{}{}}}}}",
      ignorable ? "true" : "false", verbs, more);
}

struct Answer {
  bool ok;
  const char* text;
};

// The result of `ask` after the extender said `answer` to `verb`.
template <class Ask>
auto after(const char* verb, const Answer& answer, bool ignorable, Ask&& ask) {
  PluginTrial trial(extender(ignorable), kCluster);
  trial.answers(verb, answer.ok, answer.text);
  return ask(trial);
}

constexpr Answer kTimeout{false, "timed out"}, kRubbish{true, "<html>"}, kNoObject{true, "[1]"};

TEST(Extender, says_which_nodes_fit) {
  const auto fits = [](PluginTrial& trial) { return trial.fits("a/new"); };
  const auto reasons = [](PluginTrial& trial) { return trial.reasons("a/new"); };
  struct Row {
    Answer answer;
    const char *fits, *reasons;
  };
  for (const Row& row :
       std::initializer_list<Row>{{{true, R"({"status":"","code":0})"}, "n1, n2", ""},
                                  {{true, "{}"}, "n1, n2", ""},
                                  {{true, R"({"status":"no licence","code":2})"}, "", "no licence"},
                                  {{true, R"({"status":"never","code":3})"}, "", "never"},
                                  {{true, R"({"status":"odd","code":0})"}, "", "odd"},
                                  {kTimeout, "", "extender predicate: timed out"},
                                  {kRubbish, "", "extender predicate: the answer is not a JSON object"},
                                  {kNoObject, "", "extender predicate: the answer is not a JSON object"}}) {
    EXPECT_EQ(after("predicate", row.answer, false, fits), row.fits) << row.answer.text;
    EXPECT_EQ(after("predicate", row.answer, false, reasons), row.reasons) << row.answer.text;
  }
  EXPECT_EQ(after("predicate", kTimeout, true, fits), "n1, n2") << "an error that may be ignored";
  EXPECT_EQ(after("predicate", kRubbish, true, fits), "n1, n2");
}

TEST(Extender, only_code_2_leaves_a_node_to_eviction) {
  const auto kept = [](PluginTrial& trial) {
    std::size_t out = 0;
    trial.in_session([&](Session& session) {
      NodeSet nodes = session.model().nodes.known();
      for (const auto& filter : session.ask<Predicate>(session.model().task(trial.task("a/new"))))
        filter->narrow(nodes, Strictness::kEvict, nullptr);
      out = nodes.count();
    });
    return out;
  };
  EXPECT_EQ(after("predicate", {true, R"({"status":"full","code":2})"}, false, kept), 2u);
  EXPECT_EQ(after("predicate", {true, R"({"status":"never","code":3})"}, false, kept), 0u);
  EXPECT_EQ(after("predicate", {true, R"({"status":"odd","code":0})"}, false, kept), 0u);
  EXPECT_EQ(after("predicate", kTimeout, false, kept), 0u);
}

TEST(Extender, scores_nodes) {
  const auto scores = [](PluginTrial& trial) { return trial.scores("a/new"); };
  EXPECT_EQ(after("prioritize", {true, R"({"nodeScore":{"n1":3,"n2":7.5}})"}, false, scores), "n1 3, n2 7.5");
  EXPECT_EQ(after("prioritize", {true, R"({"nodeScore":{"n2":7,"n9":1}})"}, false, scores), "n1 0, n2 7");
  EXPECT_EQ(after("prioritize", {true, R"({"nodeScore":{"n1":"3"}})"}, false, scores), "n1 0, n2 0");
  EXPECT_EQ(after("prioritize", {true, R"({"nodeScore":{"n1":3},"errorMessage":"tired"})"}, true, scores),
            "n1 0, n2 0");
  EXPECT_EQ(after("prioritize", kTimeout, true, scores), "n1 0, n2 0");
}

TEST(Extender, a_pod_that_cannot_be_scored_is_not_placed) {
  const auto placed = [](PluginTrial& trial) {
    std::string out;
    trial.in_session([&](Session& session) {
      const Task& task = session.model().task(trial.task("a/new"));
      std::vector<double> totals(64);
      for (const auto& scorer : session.ask<NodeOrder>(task)) scorer->add_scores(session.model().nodes.known(), totals);
      out = session.ask<TaskPlaced>(task).message;
    });
    return out;
  };
  EXPECT_EQ(after("prioritize", {true, R"({"errorMessage":"tired"})"}, false, placed), "tired");
  EXPECT_EQ(after("prioritize", kTimeout, false, placed), "extender prioritize: timed out");
  EXPECT_EQ(after("prioritize", {true, R"({"errorMessage":"tired"})"}, true, placed), "");
}

TEST(Extender, chooses_victims_among_those_it_was_offered) {
  const auto victims = [](PluginTrial& trial) { return trial.victims<Preemptable>("a/new", {"a/old-1", "a/old-2"}); };
  const auto reclaimed = [](PluginTrial& trial) { return trial.victims<Reclaimable>("a/new", {"a/old-1", "a/old-2"}); };
  const Answer second{true, R"({"status":1,"victims":[{"UID":"u2"},{"UID":"u9"}]})"};
  EXPECT_EQ(after("preemptable", second, false, victims), "a/old-2");
  EXPECT_EQ(after("reclaimable", second, false, reclaimed), "a/old-2");
  EXPECT_EQ(after("preemptable", second, false, reclaimed), "") << "each verb is asked for itself";
  // A victim that is named counts, whatever the vote is, unless it abstains (4.4).
  EXPECT_EQ(after("preemptable", {true, R"({"status":-1,"victims":[{"UID":"u2"}]})"}, false, victims), "a/old-2");
  EXPECT_EQ(after("preemptable", {true, R"({"status":0,"victims":[{"UID":"u2"}]})"}, false, victims), "");
  EXPECT_EQ(after("preemptable", kTimeout, false, victims), "");
  EXPECT_EQ(after("preemptable", kTimeout, true, victims), "");
}

TEST(Extender, votes_on_groups_and_queues) {
  const auto may_enter = [](PluginTrial& trial) { return trial.of_job<JobEnqueueable>("a/g"); };
  struct Row {
    Answer answer;
    bool ignorable;
    bool may_enter;
  };
  for (const Row& row : std::initializer_list<Row>{{{true, R"({"status":1})"}, false, true},
                                                   {{true, R"({"status":-1})"}, false, false},
                                                   {kTimeout, false, false},
                                                   {kTimeout, true, true}})
    EXPECT_EQ(after("jobEnqueueable", row.answer, row.ignorable, may_enter), row.may_enter) << row.answer.text;
  const auto overused = [](PluginTrial& trial) { return trial.of_queue<Overused>("default"); };
  EXPECT_TRUE(after("queueOverused", {true, R"({"overused":true})"}, false, overused));
  EXPECT_FALSE(after("queueOverused", {true, R"({"overused":false})"}, false, overused));
  EXPECT_TRUE(after("queueOverused", kTimeout, false, overused));
  EXPECT_FALSE(after("queueOverused", kTimeout, true, overused));
  const auto ready = [](PluginTrial& trial) { return trial.of_job<JobReady>("a/g"); };
  EXPECT_TRUE(after("jobReady", {true, R"({"status":true})"}, false, ready));
  EXPECT_FALSE(after("jobReady", {true, R"({"status":false})"}, false, ready));
  EXPECT_TRUE(after("jobReady", kTimeout, false, ready));
  EXPECT_FALSE(after("jobReady", kTimeout, true, ready));
}

TEST(Extender, holds_a_group_until_it_has_answered) {
  const auto held = [](PluginTrial& trial) {
    bool out = false;
    trial.in_session([&](Session& session) {
      for (const auto& filter : session.ask<Predicate>(session.model().task(trial.task("a/new")))) filter->fits(0);
      out = session.ask<JobHeld>(trial.job("a/g"));
    });
    return out;
  };
  EXPECT_TRUE(after("nothing", {true, ""}, false, held));
  EXPECT_FALSE(after("predicate", {true, "{}"}, false, held));
  EXPECT_FALSE(after("predicate", kTimeout, false, held)) << "an error is an answer";
}

TEST(Extender, is_asked_about_nothing_in_a_session_that_it_refused) {
  PluginTrial trial(extender(false), kCluster);
  trial.answers("onSessionOpen", false, "not now");
  trial.answers("predicate", true, R"({"status":"no","code":3})");
  EXPECT_EQ(trial.fits("a/new"), "n1, n2");
  PluginTrial ignored(extender(true), kCluster);
  ignored.answers("onSessionOpen", false, "not now");
  ignored.answers("predicate", true, R"({"status":"no","code":3})");
  EXPECT_EQ(ignored.fits("a/new"), "");
}

TEST(Extender, is_asked_only_about_pods_that_want_what_it_manages) {
  PluginTrial trial(extender(false, ", extender.managedResources: [example.com/card]"), kCluster);
  trial.answers("predicate", true, R"({"status":"no card","code":2})");
  EXPECT_EQ(trial.fits("a/new"), "n1, n2");
  EXPECT_EQ(trial.fits("a/card"), "");
}

}  // namespace
}  // namespace plugins
