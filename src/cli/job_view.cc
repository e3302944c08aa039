// One job in words (cli.md 2.4). Labels and values are separated by a tab, levels are two blanks.
#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/trim.h"
#include "cli/job.h"
#include "cli/table.h"

namespace cli {

using api::Json;

namespace {

class Page {
 public:
  explicit Page(const World& world) : world_(world) {}

  void heading(int level, std::string_view text) { text_ += base::format("{:{}}{}\n", "", level * 2, text); }
  void value(int level, std::string_view label, std::string_view value) {
    text_ += base::format("{:{}}{}\t{}\n", "", level * 2, label, value);
  }
  void number(int level, std::string_view label, std::int64_t number) { value(level, label, std::to_string(number)); }
  std::string time(const Json& value) const {
    const auto parsed = base::parse_rfc3339(value.as_string());
    return parsed ? world_.local_time(*parsed) : "0001-01-01 00:00:00 +0000 UTC";
  }
  std::string& text() { return text_; }

 private:
  const World& world_;
  std::string text_;
};

std::string map_text(const Json& map) { return map.empty() ? "<none>" : map.sorted().dump(); }

std::string args_text(const Json& args) {
  std::string text = "[";
  for (const Json& arg : args.items()) text += base::format("{}{}", text.size() > 1 ? " " : "", arg.as_string());
  return text + "]";
}

std::string quantity_text(const Json& value) {
  const auto quantity = api::Quantity::from_json(value);
  return quantity ? quantity->to_string() : "0";
}

void head(Page& page, const Json& job) {
  const Json& metadata = job["metadata"];
  page.value(0, "Name:       ", metadata["name"].as_string());
  page.value(0, "Namespace:  ", metadata["namespace"].as_string());
  page.value(0, "Labels:     ", map_text(metadata["labels"]));
  page.value(0, "Annotations:", map_text(metadata["annotations"]));
  page.value(0, "API Version:", job["apiVersion"].as_string());
  page.value(0, "Kind:       ", job["kind"].as_string());
  page.heading(0, "Metadata:");
  page.value(1, "Creation Timestamp:", page.time(metadata["creationTimestamp"]));
  page.value(1, "Generate Name:     ", metadata["generateName"].as_string());
  page.number(1, "Generation:        ", metadata["generation"].as_int());
  page.value(1, "Resource Version:  ", metadata["resourceVersion"].as_string());
  page.value(1, "UID:               ", metadata["uid"].as_string());
}

void container_text(Page& page, const Json& container) {
  page.heading(5, "Command:");
  for (const Json& word : container["command"].items()) page.heading(6, word.as_string());
  page.value(5, "Image:", container["image"].as_string());
  page.value(5, "Name: ", container["name"].as_string());
  page.heading(5, "Ports:");
  for (const Json& port : container["ports"].items()) {
    page.number(6, "Container Port:", port["containerPort"].as_int());
    page.value(6, "Name:          ", port["name"].as_string());
  }
  page.heading(5, "Resources:");
  for (const char* side : {"limits", "requests"}) {
    page.heading(6, side == std::string_view("limits") ? "Limits:" : "Requests:");
    page.value(7, "Cpu:   ", quantity_text(container["resources"][side]["cpu"]));
    page.value(7, "Memory:", quantity_text(container["resources"][side]["memory"]));
  }
  page.value(6, "Working Dir:", container["workingDir"].as_string());
}

void task_text(Page& page, const Json& task) {
  page.value(2, "Name:", task["name"].as_string());
  page.number(2, "Replicas:", task["replicas"].as_int());
  page.heading(2, "Template:");
  const Json& metadata = task["template"]["metadata"];
  page.heading(3, "Metadata:");
  page.heading(4, "Annotations:");
  page.value(5, "Cri . Cci . Io / Container - Type:          ",
             metadata["annotations"]["cri.cci.io/container-type"].as_string());
  page.value(5, "Kubernetes . Io / Availablezone:            ",
             metadata["annotations"]["kubernetes.io/availablezone"].as_string());
  page.value(5, "Network . Alpha . Kubernetes . Io / Network:",
             metadata["annotations"]["network.alpha.kubernetes.io/network"].as_string());
  page.value(4, "Creation Timestamp:", page.time(metadata["creationTimestamp"]));
  const Json& spec = task["template"]["spec"];
  page.heading(3, "Spec:");
  page.heading(4, "Containers:");
  for (const Json& container : spec["containers"].items()) container_text(page, container);
  page.heading(4, "Image Pull Secrets:");
  for (const Json& secret : spec["imagePullSecrets"].items()) page.value(5, "Name:     ", secret["name"].as_string());
  page.value(4, "Restart Policy:   ", spec["restartPolicy"].as_string());
}

void spec_text(Page& page, const Json& spec) {
  page.heading(0, "Spec:");
  page.number(1, "Min Available:     ", spec["minAvailable"].as_int());
  page.heading(1, "Plugins:");
  page.value(2, "Env:", args_text(spec["plugins"]["env"]));
  page.value(2, "Ssh:", args_text(spec["plugins"]["ssh"]));
  page.value(1, "Scheduler Name:    ", spec["schedulerName"].as_string());
  page.heading(1, "Tasks:");
  for (const Json& task : spec["tasks"].items()) task_text(page, task);
}

void status_text(Page& page, const Json& status, bool with_conditions) {
  struct Row {
    std::string_view label;
    std::string_view field;
  };
  constexpr Row kRows[] = {
      {"Succeeded:    ", "succeeded"},  {"Pending:      ", "pending"},      {"Running:      ", "running"},
      {"Failed:       ", "failed"},     {"Terminating:  ", "terminating"},  {"Unknown:      ", "unknown"},
      {"RetryCount:   ", "retryCount"}, {"Min Available:", "minAvailable"}, {"Version:      ", "version"}};
  page.heading(0, "Status:");
  for (const Row& row : kRows)
    if (const std::int64_t count = status[row.field].as_int(); count > 0) page.number(1, row.label, count);
  page.heading(1, "State:");
  page.value(2, "Phase:", status["state"]["phase"].as_string());
  if (const Json& controlled = status["controlledResources"]; !controlled.empty()) {
    page.heading(1, "Controlled Resources:");
    for (const Json::Member& one : controlled.members())
      page.value(2, base::format("{}: ", one.name()), one.value.as_string());
  }
  if (const Json& conditions = status["conditions"]; with_conditions && !conditions.empty()) {
    page.heading(1, "Conditions:");
    page.value(2, "Status", "TransitionTime");
    for (const Json& condition : conditions.items())
      page.value(2, base::format("{} ", condition["status"].as_string()),
                 base::format("{} ", page.time(condition["lastTransitionTime"])));
  }
}

std::string age_of(const Json& event, base::Time now) {
  const auto span = [now](const Json& value) -> std::string {
    const auto time = base::parse_rfc3339(value.as_string());
    return time ? long_span(now - *time) : "<unknown>";
  };
  const std::string first = span(event["firstTimestamp"]);
  const std::int64_t count = event["count"].as_int();
  if (count <= 1) return first;
  return base::format("{} (x{} over {})", span(event["lastTimestamp"]), count, first);
}

void event_lines(Page& page, const std::vector<Json>& events, base::Time now) {
  if (events.empty()) {
    page.value(0, "Events: ", "<none>");
    return;
  }
  const auto line = [&](std::string_view type, std::string_view reason, std::string_view age, std::string_view from,
                        std::string_view message) {
    page.text() += base::format("{:<15}\t{:<40}\t{:<30}\t{:<40}\t{}\n", type, reason, age, from, message);
  };
  page.heading(0, "Events:");
  line("Type", "Reason", "Age", "Form", "Message");
  line("-------", "-------", "-------", "-------", "-------");
  for (const Json& event : events) {
    std::string from = event["source"]["component"].str();
    if (const std::string host = event["source"]["host"].str(); !host.empty()) from += base::format(", {}", host);
    line(event["type"].as_string(), event["reason"].as_string(), age_of(event, now), from,
         std::string(base::trim(event["message"].as_string())));
  }
}

}  // namespace

std::string job_view(const Json& job, const std::vector<Json>& events, const JobView& how) {
  Page page(how.world);
  head(page, job);
  spec_text(page, job["spec"]);
  status_text(page, job["status"], how.with_conditions);
  event_lines(page, events, how.world.now());
  return page.text();
}

}  // namespace cli
