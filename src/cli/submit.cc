// The flags of vsub, and the Job that they make (cli.md 3.1).
#include "cli/submit.h"

#include <algorithm>

#include "api/array_indexes.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/number.h"
#include "base/split.h"
#include "cli/job.h"
#include "cli/submit_offline.h"
#include "cli/submit_place.h"
#include "cli/submit_script.h"
#include "cli/table.h"
#include "cli/text/job_names.h"
#include "cli/text/shell_words.h"

namespace cli {

using api::Json;

namespace {

// Runs a command, and copies what it writes into a file. Signals reach the command, whose exit code is the shell's.
// Processes that it leaves behind in the background hold the end up for five seconds at most.
constexpr const char* kCopyOutput =
    "out=$1; shift; dir=$(mktemp -d) && mkfifo \"$dir/p\" || exit 126\n"
    "tee -- \"$out\" < \"$dir/p\" & tee=$!\n"
    "\"$@\" > \"$dir/p\" 2>&1 & child=$!\n"
    "trap 'kill -TERM $child' TERM; trap 'kill -INT $child' INT\n"
    "wait $child; code=$?\n"
    "while kill -0 $child 2> /dev/null; do wait $child; code=$?; done\n"
    "trap - TERM INT; (sleep 5; kill $tee) > /dev/null 2>&1 & wait $tee; rm -rf \"$dir\"; exit $code";

// Pods take "$(NAME)" in commands for a variable; text of a person means what a shell reads in it.
std::string literally(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_special = text[i] == '$' && i + 1 < text.size() && (text[i + 1] == '(' || text[i + 1] == '$');
    out += is_special ? "$$" : std::string(1, text[i]);
  }
  return out;
}

// The command: words of --command, of the line itself, or a script. Empty: the image's own.
base::Result<std::vector<std::string>> command_of(const World& world, const Values& values) {
  const std::vector<std::string> words = values.list(kWords);
  const std::string& text = values.text("command");
  if (words.empty()) return split_words(text);
  if (!text.empty())
    return usage_error(
        base::format("--command {:?} and the words {:?} are two commands", text, base::join(words, " ")));
  std::vector<std::string> command = words;
  if (const std::optional<std::string> script = script_of(world, values)) {
    TRY(command, script_command(*script, words));
  }
  for (std::string& word : command) word = literally(word);
  return command;
}

// The environment of the pods: NAME=VALUE, or NAME for the value that it has here.
base::Result<Json> environment_of(const World& world, const Values& values, const Place& place) {
  Json variables = Json::array();
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const std::string& value) {
    names.push_back(name);
    variables.push_back(Json::object({{"name", name}, {"value", literally(value)}}));
  };
  for (const std::string& text : values.list("env")) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (name.empty()) return usage_error(base::format("--env {:?}: expected NAME=VALUE or NAME", text));
    add(name, equals == std::string::npos ? world.environment_variable(name) : text.substr(equals + 1));
  }
  if (place.has_home && std::ranges::find(names, "HOME") == names.end()) add("HOME", world.person().home);
  return variables;
}

// "%j-%a.out" as a path that a pod completes with its index.
std::string output_path(const std::string& pattern, const std::string& job) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'a')
      path += base::format("$({})", api::kArrayIndexVariable);
    else if (next == 'j' || next == 'x')
      path += job;
    else if (next == '%')
      path += '%';
    else
      path += literally(pattern.substr(i, 1));
    if (next == 'a' || next == 'j' || next == 'x' || next == '%') ++i;
  }
  return path;
}

// The parts of one submission.
struct Submission {
  NewJob from;
  Place place;
  std::string typed;   // the name as it was given; empty: it was not
  std::string output;  // the pattern of the file; empty: there is none
  std::string array;   // as the annotation says it; empty: none
  bool is_array = false;
};

base::Status read_array(const Values& values, Submission& one) {
  if (const std::string& text = values.text("array"); !text.empty()) {
    TRY(const api::ArrayIndexes array, api::parse_array(text));
    if (values.is_given("replicas")) return usage_error("--array says how many pods there are; --replicas cannot, too");
    one.from.replicas = static_cast<std::int64_t>(array.indexes.size());
    one.array = text;
    one.is_array = true;
  } else if (!one.output.empty()) {
    one.array = base::format("0-{}", std::max<std::int64_t>(one.from.replicas, 1) - 1);
  }
  return {};
}

base::Result<Submission> read_submission(World& world, Api& server, const Values& values) {
  Submission one;
  one.typed = values.text("name");
  const std::vector<std::string> words = values.list(kWords);
  if (one.typed.empty() && words.empty()) return usage_error("job name cannot be left blank");
  one.from = {.name = one.typed.empty() ? job_name_of_file(words.front()) : job_name_of(one.typed),
              .ns = values.text("namespace"),
              .image = values.text("image"),
              .scheduler = values.text("scheduler"),
              .min_available = values.number("min"),
              .replicas = values.number("replicas"),
              .requests = values.text("requests"),
              .limits = values.text("limits")};
  TRY(one.from.command, command_of(world, values));
  TRY(one.place, find_place(world, server, values));
  one.output = values.text("output");
  if (one.output.empty() && one.place.keeps_output && !one.from.command.empty()) one.output = "%j-%a.out";
  if (one.output == "none" || one.output == "/dev/null") one.output.clear();
  if (!one.output.empty() && one.from.command.empty())
    return usage_error(base::format("--output {}: the job has no command whose output could be kept", one.output));
  if (world.own_folder) TRY_VOID(see_output(world, one.output, one.place));
  TRY_VOID(read_array(values, one));
  return one;
}

// The job's pods run a command that writes into a file, too.
void copy_output(const Submission& one, Json& container) {
  Json words = Json::array({Json("/bin/sh"), Json("-c"), Json(literally(kCopyOutput)), Json("vsub"),
                            Json(output_path(one.output, one.from.name))});
  for (const std::string& word : one.from.command) words.push_back(word);
  container.set("command", std::move(words));
}

base::Status set_container(World& world, const Values& values, const Submission& one, Json& container) {
  TRY(Json variables, environment_of(world, values, one.place));
  if (!variables.empty()) container.set("env", std::move(variables));
  if (!one.output.empty()) copy_output(one, container);
  Json resources = container["resources"];
  if (resources["limits"].empty()) resources.erase("limits");
  if (const std::int64_t cards = values.number("gpu"); cards > 0) {
    Json limits = resources["limits"].is_object() ? resources["limits"] : Json::object();
    limits.set("nvidia.com/gpu", std::to_string(cards));
    resources.set("limits", std::move(limits));
    resources.edit("requests").set("nvidia.com/gpu", std::to_string(cards));
  }
  if (values.on("offline")) ask_for_idle_amounts(resources);
  container.set("resources", std::move(resources));
  return {};
}

Json annotations_of(const World& world, const Values& values, const Submission& one) {
  Json marks = Json::object();
  if (!one.array.empty()) marks.set(api::kArrayAnnotation, one.array);
  std::vector<std::string> before;
  for (const std::string& text : values.list("depends"))
    for (const std::string_view name : base::split(text, ',')) before.push_back(job_name_of(name));
  if (!before.empty()) marks.set(api::kDependsAnnotation, base::join(before, ","));
  if (values.on("kill-on-invalid-dep")) marks.set(api::kEndsWithDependsAnnotation, "true");
  if (values.on("no-requeue")) marks.set(api::kRequeueAnnotation, "false");
  if (world.person) marks.set("volcano.sh/user", world.person().user);
  if (!one.typed.empty() && one.typed != one.from.name) marks.set("volcano.sh/typed-name", one.typed);
  return marks;
}

base::Result<Json> job_of(World& world, const Values& values, const Submission& one) {
  TRY(Json job, make_job(one.from));
  Json pod = job["spec"]["tasks"][std::size_t{0}]["template"];
  Json container = pod["spec"]["containers"][std::size_t{0}];
  TRY_VOID(set_container(world, values, one, container));
  pod.edit("spec").set("containers", Json::array({std::move(container)}));
  if (const std::string& text = values.text("time"); !text.empty()) {
    TRY(const base::Duration limit, parse_time_limit(text));
    pod.edit("spec").set("activeDeadlineSeconds", limit.ns / 1'000'000'000);
  }
  Json marks = Json::object();
  if (values.on("no-requeue")) marks.set(api::kRequeueAnnotation, "false");
  if (values.on("offline")) marks.set(kQosLevelAnnotation, "BE");
  if (!marks.empty()) pod.edit("metadata").set("annotations", std::move(marks));
  if (world.person) set_place(one.place, world.person(), pod);
  Json task = job["spec"]["tasks"][std::size_t{0}];
  task.set("template", std::move(pod));
  job.edit("spec").set("tasks", Json::array({std::move(task)}));
  if (!values.text("queue").empty()) job.edit("spec").set("queue", values.text("queue"));
  // Each run of an array counts.
  if (one.is_array) job.edit("spec").set("minSuccess", one.from.replicas);
  if (Json marks = annotations_of(world, values, one); !marks.empty())
    job.edit("metadata").set("annotations", std::move(marks));
  return job;
}

// A name that nobody chose gets a number where it is taken.
base::Result<Json> create(World& world, Api& server, const Values& values, Submission& one) {
  const std::string stem = one.from.name;
  for (int number = 2;; ++number) {
    TRY(Json job, job_of(world, values, one));
    auto created = create_job(server, one.from.ns, std::move(job));
    constexpr int kNumbersMax = 1'000;
    const bool is_taken = !created.ok() && created.error().code == base::Code::kAlreadyExists;
    if (!is_taken || !one.typed.empty() || number > kNumbersMax) return created;
    one.from.name = base::format("{}-{}", stem, number);
  }
}

base::Status submit(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  TRY(Submission one, read_submission(world, *server, values));
  TRY(const Json created, create(world, *server, values, one));
  const std::string name(api::name_of(created));
  world.out += base::format("run job {} successfully\n", name);
  if (!one.typed.empty() && one.typed != name)
    world.out += base::format("{:?} is not a name that Kubernetes takes: the job is named {}\n", one.typed, name);
  if (!one.output.empty()) {
    const bool is_absolute = one.output.starts_with('/');
    std::string shown = output_path(one.output, name);
    const std::string variable = base::format("$({})", api::kArrayIndexVariable);
    if (const std::size_t at = shown.find(variable); at != std::string::npos)
      shown.replace(at, variable.size(), one.from.replicas == 1 && !one.is_array ? "0" : "INDEX");
    world.out += base::format("its output goes to {}{}\n", is_absolute ? "" : one.place.folder + "/", shown);
  }
  if (!one.place.remark.empty()) world.err += base::format("note: {}\n", one.place.remark);
  if (values.on("wait")) {
    TRY(world.exit_status, follow_job(world, *server, one.from.ns, name));
  }
  return {};
}

base::Result<std::vector<std::string>> flags_of_script(World& world, const Values& values) {
  const std::optional<std::string> script = script_of(world, values);
  return script ? script_flags(*script) : std::vector<std::string>();
}

Flag more(std::string_view name, char letter, Flag::Type type, std::string help, bool is_many = false) {
  return {.name = name,
          .letter = letter,
          .type = type,
          .fallback = type == Flag::Type::kInt ? "0" : "",
          .help = std::move(help),
          .is_extra = true,
          .is_many = is_many};
}

std::vector<Flag> further_flags() {
  using enum Flag::Type;
  return {more("queue", 'q', kText, "the queue of the job"),
          more("time", 't', kText, "how long it may run, as 90m, 2h, 1:30:00 or 2-12:00:00 (days first)"),
          more("array", 'a', kText, "as many pods as indexes, such as 1-50 or 1,3,7; %4: four at a time"),
          more("env", 'e', kText, "NAME=VALUE, or NAME for its value here; may be repeated", true),
          more("gpu", 'g', kInt, "GPUs of each pod"),
          more("depends", 'd', kText, "start when this job has completed; may be repeated", true),
          more("kill-on-invalid-dep", 0, kBool, "end when a job of --depends has failed, instead of waiting"),
          more("volume", 'V', kText, "HOST:POD[:ro], a folder of this machine that you may use; may be repeated", true),
          more("chdir", 'D', kText, "the folder to work in (default: this one, where --host-rootfs is on)"),
          more("output", 'o', kText,
               "the file that output goes to, too (default NAME-INDEX.out in that folder; %j: name, %a: index; none)"),
          more("offline", 0, kBool,
               "use what others leave idle (kubernetes.io/batch-cpu and batch-memory); may be evicted when memory is "
               "short"),
          more("no-requeue", 0, kBool, "do not start again what ran when the machine stopped"),
          more("wait", 'w', kBool, "show the output and how the job goes, and end with its exit code")};
}

}  // namespace

base::Result<base::Duration> parse_time_limit(const std::string& text) {
  const auto wrong = [&text] {
    return usage_error(base::format("--time {:?}: expected a span such as 90m, 2h30m, 1:30:00 or 2-12:00:00", text));
  };
  if (const auto span = base::parse_go_duration(text); span && text != "0") {
    if (span->ns < 1'000'000'000) return wrong();
    return *span;
  }
  std::int64_t days = 0;
  std::string_view rest = text;
  const std::size_t dash = rest.find('-');
  if (dash != std::string_view::npos) {
    const auto read = base::parse_number<std::int64_t>(rest.substr(0, dash));
    if (!read || *read < 0 || *read > 10'000) return wrong();
    days = *read;
    rest = rest.substr(dash + 1);
  }
  std::vector<std::int64_t> parts;
  for (const std::string_view part : base::split(rest, ':')) {
    const auto read = base::parse_number<std::int64_t>(part);
    if (!read || *read < 0 || *read > 100'000'000) return wrong();
    parts.push_back(*read);
  }
  if (parts.size() > 3) return wrong();
  // Behind days hours come first; otherwise one number is minutes, and two are minutes and seconds.
  if (dash == std::string_view::npos && parts.size() < 3) parts.insert(parts.begin(), 0);
  parts.resize(3);
  const std::int64_t seconds = ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2];
  if (seconds <= 0) return wrong();
  return base::seconds(seconds);
}

Command submit_root(const std::function<std::string(const std::string&)>& variable) {
  using enum Flag::Type;
  const auto or_else = [&](const char* name, const char* fallback) {
    std::string value = variable(name);
    return value.empty() ? std::string(fallback) : value;
  };
  std::vector<Flag> flags = {
      {"image", 'i', kText, or_else("VOLCANO_DEFAULT_IMAGE", "busybox"), "the container image of job"},
      {"namespace", 'N', kText, or_else("VOLCANO_DEFAULT_JOB_NAMESPACE", "default"), "the namespace of job"},
      {"name", 'n', kText, "", "the name of job"},
      {"min", 'm', kInt, "1", "the minimal available tasks of job"},
      {"replicas", 'r', kInt, "1", "the total tasks of job"},
      {"requests", 'R', kText, "cpu=1000m,memory=100Mi", "the resource request of the task"},
      {"limits", 'L', kText, "", "the resource limit of the task"},
      {"scheduler", 'S', kText, or_else("VOLCANO_SCHEDULER_NAME", "volcano"), "the scheduler for this job"},
      {"command", 'c', kText, "", "the command of the job"}};
  for (Flag& flag : further_flags()) flags.push_back(std::move(flag));
  return {.name = "vsub",
          .summary = "submit a job",
          .flags = with_connection(std::move(flags)),
          .run = submit,
          .long_summary =
              "submit a job with specified name and arguments. yaml/json file is not accepted, you may "
              "refer to kubectl.",
          .takes_words = true,
          .more_arguments = flags_of_script,
          .remark =
              "The command is that of --command, or what follows the flags: vsub -n a python3 train.py.\n"
              "A script with lines such as \"#VSUB --time 2h\" brings its flags: vsub train.sh.\n"
              "Its pods know their index as VSUB_ARRAY_INDEX.\n"
              "-n is --name and -N is --namespace here; in vcctl it is the other way round."};
}

}  // namespace cli
