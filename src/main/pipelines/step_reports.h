// The outputs of steps that are larger than what nodes keep of them: a step's launcher sends them here, and they are
// put down at its pod.
#pragma once

#include <memory>
#include <string_view>

#include "client/client.h"
#include "main/pipelines/pipeline_callers.h"
#include "rt/http/http.h"

namespace volcano_main {

// Everything on the loop of `client`. POST /pipeline/internal/tasks/NAMESPACE/POD, with the token of that pod.
class StepReports {
 public:
  StepReports(client::Client& client, PipelineCallers& callers) : client_(client), callers_(callers) {}

  static bool has(std::string_view path);
  void take(rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange);

 private:
  client::Client& client_;
  PipelineCallers& callers_;
};

}  // namespace volcano_main
