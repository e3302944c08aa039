// Whether a node's targets have passed its probe, as far as is known, and what has to be asked to know more
// (COMPAT(jobflow-probes)).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/framework/controller.h"
#include "controllers/framework/plan.h"
#include "controllers/jobflow/flow.h"

namespace controllers::jobflow {

// The probes of one node that waits.
struct Probing {
  std::set<std::string> passed = {};  // "uid of the pod:port/path" of questions that were answered
  base::Duration pause = {};          // before the next questions, after some were not
  base::Time next = {};               // when they may be asked
};

struct Question {
  std::string key;  // as in Probing::passed
  Probe probe;
};

struct Verdict {
  bool passed = false;
  std::string impossible = {};           // why it can never pass; empty: it can
  std::vector<Question> questions = {};  // not asked yet, or not answered; a bounded number
};

// The verdict of `probe` about `target`, a Job that has not completed. Pods are found by name, and only those that the
// Job controls are asked, at their own addresses.
Verdict judge(const View& view, const api::Json& probe, const std::vector<const api::Json*>& targets,
              const Probing& before);

// The answers that came, or did not.
void record_answers(const std::vector<std::string>& keys, const std::vector<bool>& answered, base::Time now,
                    Probing& probing);

}  // namespace controllers::jobflow
