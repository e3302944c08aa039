// How a job stands: its conditions, and what its pods make of them (training.md 6).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/training/job.h"

namespace controllers::training {

// The list of conditions, under the rules by which it changes.
class Conditions {
 public:
  Conditions(const api::Json& list, base::Time now)
      : now_(now), given_(list), list_(list.items().begin(), list.items().end()) {}

  bool is_true(std::string_view type) const;
  bool has(std::string_view type) const { return find(type) != nullptr; }
  // Empty where there is no such condition.
  std::string_view message(std::string_view type) const;
  bool is_finished() const { return is_true("Succeeded") || is_true("Failed"); }
  // Whether the list is another one now.
  bool set(std::string_view type, bool status, const std::string& reason, const std::string& message);
  // A condition that is there as long as it is true, with the words of now.
  bool record(std::string_view type, const std::string& message);
  void remove(std::string_view type);
  api::Json json() const { return api::Json::array(list_); }

 private:
  const api::Json* find(std::string_view type) const;

  base::Time now_;
  api::Json given_;  // as it was
  std::vector<api::Json> list_;
};

// The pods of one type of replica.
struct Counts {
  std::int64_t active = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
};

using CountsByType = std::map<std::string, Counts, std::less<>>;

struct Reported {
  std::string type;
  std::string reason;
  std::string message;
};

// The findings of a framework's judge, and its messages.
class Verdict {
 public:
  Verdict(const TrainingJob& job, Conditions& conditions, const CountsByType& counts)
      : job_(job), conditions_(conditions), counts_(counts) {}

  const TrainingJob& job() const { return job_; }
  const Counts& counts(const Replica& replica) const;
  bool was_restarting() const { return was_restarting_; }
  std::string launcher_failure;       // of a launcher that is a Job: what the Job says
  bool first_worker_is_done = false;  // its key container ended with 0, and the pod succeeded

  void begin_judgement() { was_restarting_ = conditions_.is_true("Restarting"); }
  void running(const std::string& message);
  void succeeded(const std::string& message);
  void restarting(const std::string& message, std::string_view event_type = "Warning");
  void failed(const std::string& message, std::string_view event_type = "Normal");
  void report(std::string type, std::string reason, std::string message);

  const std::vector<Reported>& reported() const { return reported_; }
  bool has_succeeded() const { return has_succeeded_; }
  bool has_failed() const { return has_failed_; }

 private:
  std::string reason(std::string_view word) const;

  const TrainingJob& job_;
  Conditions& conditions_;
  const CountsByType& counts_;
  std::vector<Reported> reported_;
  bool was_restarting_ = false;
  bool has_succeeded_ = false;
  bool has_failed_ = false;
};

// The rule that several frameworks share: of replicas that failed, and are not made up for by others, the restart
// policy says what becomes of the job.
void judge_failures(Verdict& verdict, const Replica& replica);

}  // namespace controllers::training
