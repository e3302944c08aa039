// Questions as they come over HTTP, and the turns of those who ask.
#include "main/host/rehearsal/rehearsal_desk.h"

#include <gtest/gtest.h>

#include <deque>
#include <future>

#include "base/format.h"
#include "main/host/rehearsal/question.h"
#include "rt/http/kept_exchange_for_tests.h"

namespace volcano_main {
namespace {

using api::Json;

std::string job(std::string_view name, std::string_view ns = "team") {
  return base::format(
      R"({{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{{"name":"{}"{}}},"spec":{{"schedulerName":"volcano","minAvailable":1,"queue":"default","tasks":[{{"name":"a","replicas":1,"template":{{"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}}}}]}}}})",
      name, ns.empty() ? "" : base::format(R"(,"namespace":"{}")", ns));
}
std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return R"({"apiVersion":"v1","kind":"List","items":[)" + text + "]}";
}
constexpr std::string_view kClaim =
    R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"d","namespace":"team"}})";

TEST(RehearsalQuestion, names_what_is_wrong) {
  const struct {
    std::string body;
    std::string_view problem;
  } rows[] = {
      {"", "invalid JSON"},
      {"[1]", "kind"},
      {list({}), "items: no workload is among them"},
      {list({std::string(kClaim)}), "items: no workload is among them"},
      {list(std::vector<std::string>(51, job("a"))), "items: more than 50 objects"},
      {job("a", ""), "metadata.namespace of the Job: required"},
      {R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"team"}})",
       "kind: Secret of v1 is not rehearsed"},
      {job("a", "../../kube-system"), "kube-system"},
  };
  for (const auto& row : rows) {
    const auto question = read_question(row.body);
    ASSERT_FALSE(question.ok()) << row.body;
    EXPECT_NE(question.error().message.find(row.problem), std::string::npos) << question.error().message;
    if (row.problem != "kube-system") {
      EXPECT_FALSE(read_completed(row.body).ok()) << row.body;
    }
  }
}

TEST(RehearsalQuestion, is_completed_by_dry_runs_one_after_the_other) {
  std::deque<std::pair<rt::HttpRequest, std::shared_ptr<rt::HttpExchange>>> sent;
  base::Result<RehearsedObjects> result = base::make_error(base::Code::kInternal, "no answer");
  const auto ask = [&] {
    auto question = read_question(list({job("one"), std::string(kClaim), job("two")}));
    ASSERT_TRUE(question.ok()) << question.error().message;
    dry_run(
        *std::move(question),
        [&](rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange) {
          sent.emplace_back(std::move(request), std::move(exchange));
        },
        [&](base::Result<RehearsedObjects> objects) { result = std::move(objects); });
  };
  const auto answer = [&](int status, std::string body) {
    const auto exchange = sent.front().second;
    sent.pop_front();
    exchange->respond({status, {{"Content-Type", "application/json"}}, std::move(body), {}});
  };
  ask();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent.front().first.method, "POST");
  EXPECT_NE(sent.front().first.target.find("/namespaces/team/jobs?"), std::string::npos);
  EXPECT_NE(sent.front().first.target.find("dryRun=All"), std::string::npos);
  answer(201, job("completed-one"));
  ASSERT_EQ(sent.size(), 1U);
  answer(201, job("completed-two"));
  ASSERT_TRUE(result.ok()) << result.error().message;
  // A scheduler reads the same objects.
  const auto read = read_completed(text_of(*result));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->workloads.size(), 2U);
  EXPECT_EQ(read->workloads[0]["metadata"]["name"].as_string(), "completed-one");
  EXPECT_EQ(read->workloads[1]["metadata"]["name"].as_string(), "completed-two");
  ASSERT_EQ(read->claims.size(), 1U);
  // The first refusal is the result, and nothing is sent after it.
  ask();
  answer(403, R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"jobs are forbidden","code":403})");
  EXPECT_TRUE(sent.empty());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, base::Code::kForbidden);
}

class DeskTest : public testing::Test {
 protected:
  std::shared_ptr<RehearsalDesk> desk(base::Duration pause = {}) {
    return std::make_shared<RehearsalDesk>(
        [this](std::function<void(base::Result<std::string>)> done) { asked_.push_back(std::move(done)); },
        scheduler::Options(), pause);
  }
  static std::shared_ptr<rt::HttpExchange> kept(rt::HttpResponse& answer) {
    return std::make_shared<rt::KeptExchange>(answer);
  }
  static RehearsedObjects one_job() { return *read_completed(job("a")); }

  std::vector<std::function<void(base::Result<std::string>)>> asked_;
};

TEST_F(DeskTest, takes_one_question_at_a_time) {
  rt::HttpResponse first, second, third;
  const auto desk = this->desk();
  auto turn = desk->begin(kept(first));
  ASSERT_TRUE(turn);
  EXPECT_FALSE(desk->begin(kept(second)));
  EXPECT_EQ(second.status, 429);
  desk->rehearse(std::move(turn), one_job());
  ASSERT_EQ(asked_.size(), 1U);
  asked_[0](base::make_error(base::Code::kTooLarge, "the cluster has more pods than are rehearsed"));
  EXPECT_EQ(first.status, 413);
  EXPECT_NE(first.body.find("more pods"), std::string::npos);
  EXPECT_TRUE(desk->begin(kept(third)));
}

TEST_F(DeskTest, lets_a_pause_pass_between_questions_where_anybody_may_ask) {
  rt::HttpResponse first, second;
  const auto desk = this->desk(base::hours(1));
  desk->rehearse(desk->begin(kept(first)), base::make_error(base::Code::kInvalid, "items: no workload is among them"));
  EXPECT_EQ(first.status, 422);
  EXPECT_FALSE(desk->begin(kept(second)));
  EXPECT_EQ(second.status, 429);
}

TEST_F(DeskTest, answers_what_is_under_way_when_it_stops) {
  rt::HttpResponse answer;
  const auto desk = this->desk();
  desk->rehearse(desk->begin(kept(answer)), one_job());
  desk->stop();
  asked_.front()(std::string("{}"));
  asked_.clear();
  EXPECT_EQ(answer.status, 503);
}

}  // namespace
}  // namespace volcano_main
