// The door for launchers: requests below /pipeline/internal/, which carry the token of a pod instead of a user's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rt/http/http.h"

namespace pipelines::rest {

struct TaskRequest {
  std::string method;
  std::string path;   // below /pipeline/internal/, decoded: "tasks/NAMESPACE/POD"
  std::string token;  // of the Authorization header; empty: there is none
  std::string body;   // bounded by the server
};

// Everything on the loop of the server.
class TaskReports {
 public:
  virtual ~TaskReports() = default;
  // `answer` is called once.
  virtual void take(TaskRequest request, std::function<void(rt::HttpResponse)> answer) = 0;
};

}  // namespace pipelines::rest
