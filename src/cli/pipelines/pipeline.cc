// The table of commands.
#include "cli/pipelines/pipeline.h"

#include "cli/table.h"

namespace cli {
namespace {

using enum Flag::Type;

std::vector<Flag> in_namespace(std::vector<Flag> more = {}) {
  std::vector<Flag> flags = {{"namespace", 'n', kText, "default", "the namespace"}};
  flags.insert(flags.end(), more.begin(), more.end());
  return with_connection(std::move(flags));
}

Command of_run(std::string_view name, std::string_view summary, std::string_view failure,
               base::Status (*run)(World&, const Values&), std::vector<Flag> more = {}) {
  std::vector<Flag> flags = {{"run", 'r', kText, "", "the run; also the argument"}};
  flags.insert(flags.end(), more.begin(), more.end());
  return {.name = name,
          .summary = summary,
          .flags = in_namespace(std::move(flags)),
          .run = run,
          .first_argument = "run",
          .failure = failure};
}

Command upload_command() {
  return {.name = "upload",
          .summary = "make a pipeline, or a new version of one, from a file",
          .flags = in_namespace({{"file", 'f', kText, "", "YAML, JSON, zip or tar.gz; also the argument"},
                                 {"name", 'N', kText, "", "the pipeline (default: as the file says)"},
                                 {"version", 'V', kText, "", "the version's name (default: v1, v2, ...)"},
                                 {"description", 'd', kText, "", "for people"}}),
          .run = upload_pipeline,
          .first_argument = "file",
          .failure = "upload"};
}

Command run_command_row() {
  return {.name = "run",
          .summary = "run a pipeline or a file, and show its steps as they go",
          .flags = in_namespace({{"pipeline", 'p', kText, "", "a pipeline or a file; also the argument"},
                                 {"version", 'V', kText, "", "the version's name (default: the newest)"},
                                 {.name = "param", .letter = 'P', .help = "NAME=VALUE", .is_many = true},
                                 {"name", 'N', kText, "", "the run's name for people"},
                                 {"experiment", 'e', kText, "Default", "the experiment"},
                                 {"service-account", 0, kText, "", "the account of its pods"},
                                 {"no-wait", 0, kBool, "", "do not wait for its end"},
                                 {"timeout", 0, kDuration, "0s", "how long to wait; 0s: without end"}}),
          .run = run_pipeline,
          .first_argument = "pipeline",
          .remark = "The exit status is 0 where the run succeeded, and 1 where it did not.\n",
          .failure = "run"};
}

base::Status serve(World& world, const Values& values) {
  if (!world.serve_pipelines) return usage_error("the REST API cannot be served here");
  const std::int64_t port = values.number("port");
  if (port < 0 || port > 65'535) return usage_error("--port: not within 0 and 65535");
  return world.serve_pipelines(values.text("kubeconfig"), values.text("master"), values.text("namespace"),
                               static_cast<std::uint16_t>(port));
}

}  // namespace

Command pipeline_root() {
  Command root{.name = "volcano pipeline", .summary = "Pipelines: upload, run and look at them"};
  root.children = {
      upload_command(),
      run_command_row(),
      {.name = "list",
       .summary = "list runs with their states, or pipelines",
       .flags = in_namespace({{"all-namespaces", 'A', kBool, "", "of all namespaces"},
                              {"pipelines", 'p', kBool, "", "pipelines with their versions"}}),
       .run = list_pipelines,
       .failure = "list runs"},
      of_run("logs", "show what the steps of a run print", "show the logs of", show_run_logs,
             {{"task", 't', kText, "", "of this task only, as list of the graph names it"},
              {"follow", 'f', kBool, "", "go on until the steps have ended"}}),
      of_run("graph", "show the tasks of a run or a pipeline as a tree", "show the graph of", show_graph,
             {{"version", 'V', kText, "", "of a pipeline: the version's name"}}),
      of_run("artifacts", "list the artifacts of a run's tasks, or save them", "show the artifacts of", show_artifacts,
             {{"task", 't', kText, "", "of this task only, as the graph names it"},
              {"download", 'd', kText, "",
               "a folder to save them in: TASK/NAME, and TASK/NAME.tar for one of several files"}}),
      of_run("retry", "run the tasks again that failed", "retry", retry_run,
             {{"no-wait", 0, kBool, "", "do not wait for its end"}}),
      of_run("terminate", "end a run", "terminate", terminate_run),
      {.name = "serve",
       .summary = "serve the REST API on this machine, with your rights",
       .flags = with_connection({{"namespace", 'n', kText, "", "its objects alone (default: as the kubeconfig says)"},
                                 {"port", 0, kInt, "8888", "the port; 0: a free one"}}),
       .run = serve,
       .remark = "The SDK finds it as kfp.Client(host=\"http://127.0.0.1:8888\").\n",
       .failure = "serve"}};
  return root;
}

}  // namespace cli
