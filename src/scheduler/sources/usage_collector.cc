// How busy are the nodes, says the metrics source of the configuration?
#include "scheduler/sources/usage_collector.h"

#include <cmath>
#include <cstdlib>

#include "api/json/json.h"
#include "base/format.h"
#include "base/log.h"

namespace scheduler {
namespace {

// Averages over ten minutes, in percent, of every instance at once.
constexpr std::string_view kCpuQuery =
    R"(100*avg_over_time((1-avg by (instance) (irate(node_cpu_seconds_total{mode="idle"}[5m])))[10m:30s]))";
constexpr std::string_view kMemoryQuery =
    "100*avg_over_time((1-max by (instance) (node_memory_MemAvailable_bytes)/max by (instance) "
    "(node_memory_MemTotal_bytes))[10m:30s])";
constexpr base::Duration kTimeout = base::seconds(5);

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    if (plain)
      out += c;
    else
      out += base::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

std::map<std::string, double> prometheus_samples(std::string_view answer) {
  std::map<std::string, double> out;
  const auto parsed = api::parse_json(answer);
  if (!parsed.ok() || (*parsed)["status"].as_string() != "success") return out;
  for (const api::Json& sample : (*parsed)["data"]["result"].items()) {
    std::string instance = sample["metric"]["instance"].str();
    if (const std::size_t colon = instance.rfind(':'); colon != std::string::npos) instance.resize(colon);
    const std::string text = sample["value"][std::size_t{1}].str();
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (instance.empty() || text.empty() || *end != 0 || !std::isfinite(value)) continue;
    out[instance] = std::min(std::max(value, 0.0), 100.0);
  }
  return out;
}

UsageCollector::~UsageCollector() {
  if (timer_ != 0) env_.loop().cancel(timer_);
}

void UsageCollector::configure(const std::map<std::string, std::string>& metrics) {
  const auto get = [&](const char* key) {
    const auto found = metrics.find(key);
    return found == metrics.end() ? std::string() : found->second;
  };
  address_ = get("type") == "prometheus" ? get("address") : "";
  while (address_.ends_with('/')) address_.pop_back();
  insecure_ = get("tls.insecureSkipVerify") == "true";
  if (interval_.ns == 0) {
    const auto span = base::parse_go_duration(get("interval"));
    interval_ = span && span->ns >= base::seconds(1).ns ? *span : base::seconds(30);
  }
  if (!address_.empty() && timer_ == 0) collect();
}

void UsageCollector::query(const std::string& expression, std::function<void(std::map<std::string, double>)> done) {
  FetchRequest request{.url = address_ + "/api/v1/query?query=" + encoded(expression),
                       .timeout = kTimeout,
                       .insecure_skip_verify = insecure_};
  fetch_.fetch(std::move(request), [this, done = std::move(done)](base::Result<std::string> answer) {
    if (!answer.ok()) {
      if (!std::exchange(down_, true)) {
        base::log_warning(
            "scheduler", base::format("metrics source {}: {}; nodes without fresh values count as unmeasured", address_,
                                      answer.error().message));
      }
      return done({});
    }
    down_ = false;
    done(prometheus_samples(*answer));
  });
}

void UsageCollector::collect() {
  timer_ = env_.loop().after(interval_, [this] {
    timer_ = 0;
    if (!address_.empty()) collect();
  });
  query(std::string(kCpuQuery), [this](std::map<std::string, double> cpu) {
    if (cpu.empty()) return;
    query(std::string(kMemoryQuery), [this, cpu = std::move(cpu)](std::map<std::string, double> memory) {
      bool any = false;
      for (const auto& [node, percent] : cpu) {
        const auto found = memory.find(node);
        if (found == memory.end()) continue;
        usages_.by_node.insert_or_assign(node, NodeUsage{percent, found->second, env_.now()});
        any = true;
      }
      if (!any) return;
      ++usages_.generation;
      on_change_();
    });
  });
}

}  // namespace scheduler
