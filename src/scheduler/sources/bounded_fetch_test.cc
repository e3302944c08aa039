// The result of another program's answer: a body, or why there is none; questions asked once, answers put into the
// book.
#include "scheduler/sources/bounded_fetch.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <vector>

#include "base/await_for_tests.h"
#include "base/format.h"
#include "rt/http/server/http_server.h"
#include "scheduler/sources/outside_asker.h"

namespace scheduler {
namespace {

// A server that does whatever its path says.
class Bounded : public testing::Test {
 protected:
  Bounded() {
    auto listening = rt::listen_http({}, [this](rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange) {
      if (request.target == "/tell") {
        const std::lock_guard<std::mutex> lock(mutex_);
        notifications_ += request.body + " ";
        if (request.body == "19") all_notified_.set_value();
        exchange->respond({.status = 200, .headers = {}, .body = ""});
      } else if (request.target == "/hang") {
        const std::lock_guard<std::mutex> lock(mutex_);
        hanging_.push_back(std::move(exchange));
      } else if (request.target == "/refuse") {
        exchange->respond({.status = 503, .headers = {}, .body = "busy"});
      } else {
        exchange->respond({.status = 200, .headers = {}, .body = request.target + " " + request.body});
      }
    });
    EXPECT_TRUE(listening.ok());
    server_ = *std::move(listening);
    env_ = rt::make_real_env("test");
  }

  ~Bounded() override {
    on_loop([this] { fetch_.reset(); });
    env_->stop();
  }

  template <class Work>
  void on_loop(Work work) {
    std::promise<void> done;
    env_->loop().post([&] {
      work();
      done.set_value();
    });
    base::await(done);
  }

  std::string url(const std::string& path) const {
    return base::format("http://127.0.0.1:{}{}", server_->port(), path);
  }

  std::string ask(FetchRequest request) {
    std::promise<std::string> answered;
    env_->loop().post([&] {
      if (!fetch_) fetch_ = std::make_unique<BoundedFetch>(*env_);
      fetch_->fetch(std::move(request), [&](base::Result<std::string> result) {
        answered.set_value(result.ok() ? *result : "error: " + result.error().message);
      });
    });
    return base::await(answered);
  }

  std::unique_ptr<rt::RealEnv> env_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<rt::HttpExchange>> hanging_;
  std::string notifications_;
  std::promise<void> all_notified_;
  std::unique_ptr<rt::HttpServer> server_;
  std::unique_ptr<BoundedFetch> fetch_;
};

TEST_F(Bounded, the_body_of_a_200_is_the_answer) {
  EXPECT_EQ(ask({.method = "POST", .url = url("/echo"), .body = "{}", .timeout = base::seconds(20)}), "/echo {}");
}

TEST_F(Bounded, whatever_else_comes_is_an_error_that_says_what) {
  EXPECT_EQ(ask({.url = url("/refuse"), .timeout = base::seconds(20)}), "error: status 503");
  EXPECT_EQ(ask({.url = url("/hang"), .timeout = base::milliseconds(20)}), "error: no answer in time");
  EXPECT_EQ(ask({.url = url("/echo"), .body = "0123456789", .timeout = base::seconds(20), .bytes_max = 4}),
            "error: the answer is longer than 4 bytes");
  EXPECT_EQ(ask({.url = "ftp://x"}), "error: \"ftp://x\": the scheme must be https or http");
  EXPECT_EQ(ask({.url = "http://"}), "error: \"http://\": names no host");
  EXPECT_EQ(ask({.url = "http://h:port/"}), "error: \"http://h:port/\": is not a URL like https://host:port");
  EXPECT_EQ(ask({.url = "http://127.0.0.1:1/x", .timeout = base::seconds(20)}).substr(0, 6), "error:");
}

TEST_F(Bounded, questions_of_a_cycle_are_asked_once_and_answered_in_the_book) {
  ExternalAnswers book;
  std::unique_ptr<OutsideAsker> asker;
  std::promise<void> answered;
  int answers = 0;
  const ExternalQuestion good{url("/a"), "{}", base::seconds(20)}, bad{url("/refuse"), "{}", base::seconds(20)};
  on_loop([&] {
    asker = std::make_unique<OutsideAsker>(*env_, book, [&] {
      if (++answers == 2) answered.set_value();
    });
    book.open(env_->now());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(book.ask(good), nullptr);
      EXPECT_EQ(book.ask(bad), nullptr);
    }
    std::vector<ExternalQuestion> questions = book.take_questions();
    EXPECT_EQ(questions.size(), 2u);
    asker->ask(questions);
    asker->ask(questions);  // under way already
  });
  base::await(answered);
  on_loop([&] {
    book.open(env_->now());
    ASSERT_NE(book.ask(good), nullptr);
    EXPECT_TRUE(book.ask(good)->ok);
    EXPECT_EQ(book.ask(good)->text, "/a {}");
    ASSERT_NE(book.ask(bad), nullptr);
    EXPECT_FALSE(book.ask(bad)->ok);
    EXPECT_EQ(answers, 2);
    asker.reset();
  });
}

TEST_F(Bounded, what_is_told_arrives_in_its_order) {
  ExternalAnswers book;
  std::unique_ptr<OutsideAsker> asker;
  std::string expected;
  on_loop([&] {
    asker = std::make_unique<OutsideAsker>(*env_, book, [] {});
    book.open(env_->now());
    for (int i = 0; i < 20; ++i) {
      book.notify({url("/tell"), std::to_string(i), base::seconds(20)});
      expected += std::to_string(i) + " ";
    }
    asker->ask(book.take_questions());
  });
  base::await(all_notified_);
  EXPECT_EQ(notifications_, expected);
  on_loop([&] { asker.reset(); });
}

TEST(ExternalAnswers, forgets_old_answers_and_asks_again_for_stale_ones) {
  ExternalAnswers book;
  const base::Time begin{1'000'000'000'000};
  const ExternalQuestion question{"u", "b"};
  book.open(begin);
  EXPECT_EQ(book.ask(question), nullptr);
  EXPECT_EQ(book.take_questions().size(), 1u);
  book.put(question, {true, "yes", begin});
  book.open(begin + base::seconds(1));
  EXPECT_NE(book.ask(question), nullptr);
  EXPECT_TRUE(book.take_questions().empty());
  book.open(begin + base::seconds(2));
  EXPECT_NE(book.ask(question), nullptr);
  EXPECT_EQ(book.take_questions().size(), 1u);
  book.open(begin + base::seconds(11));
  EXPECT_EQ(book.ask(question), nullptr);
}

TEST(ExternalAnswers, bounds_what_one_cycle_asks) {
  ExternalAnswers book;
  book.open(base::Time{1});
  for (std::size_t i = 0; i < 2 * ExternalAnswers::kQuestionsMax; ++i) book.ask({"u", std::to_string(i)});
  EXPECT_EQ(book.take_questions().size(), ExternalAnswers::kQuestionsMax);
}

}  // namespace
}  // namespace scheduler
