// Drivers of Dynamic Resource Allocation that are made up: they note what they are asked, and fail on demand.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>

#include "base/format.h"
#include "node/dra/drivers.h"
#include "rt/env.h"

namespace node {

class FakeDrivers : public DraDrivers {
 public:
  explicit FakeDrivers(rt::Env& env) : env_(env) {}

  std::string log;                            // "gpu.org prepares a b; gpu.org takes back a b; "
  std::map<std::string, std::string> errors;  // by driver: why each claim fails
  std::set<std::string> skipping;             // drivers that say nothing of the last claim
  bool silent = false;                        // answers wait for answer()
  News news;

  void come(const std::string& driver) {
    there_.insert(driver);
    if (news.came) news.came(driver);
  }
  void go(const std::string& driver) {
    there_.erase(driver);
    if (news.gone) news.gone(driver);
  }
  void answer() {
    while (!held_.empty()) {
      env_.loop().post(std::move(held_.front()));
      held_.pop_front();
    }
  }

  void start(News update) override { news = std::move(update); }
  void stop() override {}
  bool has(const std::string& driver) const override { return there_.contains(driver); }
  void prepare(const std::string& driver, const std::vector<ClaimKey>& claims, OnAnswers done) override {
    ask(driver, "prepares", claims, std::move(done));
  }
  void unprepare(const std::string& driver, const std::vector<ClaimKey>& claims, OnAnswers done) override {
    ask(driver, "takes back", claims, std::move(done));
  }

 private:
  void ask(const std::string& driver, const char* what, const std::vector<ClaimKey>& claims, OnAnswers done) {
    log += base::format("{} {}", driver, what);
    ClaimAnswers answers;
    for (const ClaimKey& claim : claims) {
      log += " " + claim.name;
      const auto error = errors.find(driver);
      answers[claim.uid] = {{{{}, "pool", "device", {base::format("{}/dev={}", driver, claim.name)}}},
                            error == errors.end() ? std::string() : error->second};
    }
    log += "; ";
    if (skipping.contains(driver)) answers.erase(claims.back().uid);
    held_.push_back([done = std::move(done), answers = std::move(answers)] { done(answers); });
    if (!silent) answer();
  }

  rt::Env& env_;
  std::set<std::string> there_;
  std::deque<rt::Task> held_;
};

}  // namespace node
