// A run of a compiled document in a small world, in which pods end as a test says.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/framework/world_for_tests.h"
#include "controllers/pipelines/options.h"

namespace controllers::pipelines {

class Trial {
 public:
  Trial();

  // PipelineRun ns/r of a document in tests/pipelines/compiled.
  void run(const std::string& document, std::string_view parameters = "{}", std::string_view more = "");
  void run_document(const api::Json& spec, const api::Json& platform, std::string_view parameters,
                    std::string_view more, std::string_view name = "r");
  // Steps until nothing is written any more.
  void settle();
  void restart();
  // Ends pods that have not ended, round after round: `outcome` gives the launcher's report for a path, or an exit code
  // as "!3"; an empty one leaves the pod as it is.
  using Outcome = std::function<std::string(const std::string& path)>;
  void play(const Outcome& outcome);
  void end_pod(const std::string& path, const std::string& outcome);

  std::string state(std::string_view name = "r");
  std::string error();
  const api::Json& task(const std::string& path);
  std::string task_state(const std::string& path) { return task(path)["status"]["state"].str(); }
  // The pod of the task's newest attempt; null: none.
  const api::Json* pod(const std::string& path);
  // "path=STATE" of each task, in order of paths.
  std::vector<std::string> states();
  // The words of the command behind the launcher's.
  std::vector<std::string> command(const std::string& path);

  TestWorld world;
  std::unique_ptr<Controller> controller;
  std::vector<std::string> started;  // paths of the pods that play() ended, in their order
};

// A report with one text a parameter.
std::string report_of(const std::vector<std::string>& parameters, const std::string& metadata = {});
std::vector<api::Json> compiled(const std::string& document);

}  // namespace controllers::pipelines
