// The metrics of the API server, under the names that dashboards for Kubernetes know.
#include "apiserver/pipeline/metrics.h"

#include "base/format.h"

namespace apiserver {
namespace {

std::string_view name_of(Verb verb) {
  switch (verb) {
    case Verb::kGet: return "GET";
    case Verb::kList: return "LIST";
    case Verb::kWatch: return "WATCH";
    case Verb::kCreate: return "POST";
    case Verb::kUpdate: return "PUT";
    case Verb::kPatch: return "PATCH";
    case Verb::kDelete: return "DELETE";
    case Verb::kDeleteCollection: return "DELETECOLLECTION";
  }
  return "";
}

// There is one level beside those who are exempt, and its queues are users.
const std::vector<std::string> kLevel = {"global-default", "global-default"};

}  // namespace

std::span<const base::MetricRow> metric_rows() {
  using enum base::MetricType;
  static const base::MetricRow kRows[] = {
      {"apiserver_request_total",
       kCounter,
       {"verb", "group", "version", "resource", "subresource", "code"},
       "Requests answered by the pipeline, and those refused because their turn did not come (429)."},
      {"apiserver_request_duration_seconds",
       kHistogram,
       {"verb", "group", "version", "resource", "subresource"},
       "Time from a request's arrival in the pipeline to its answer; of a write, with its way to the disk.",
       {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}},
      {"apiserver_longrunning_requests",
       kGauge,
       {"verb", "group", "version", "resource"},
       "Watches over HTTP that are open."},
      {"apiserver_flowcontrol_current_inqueue_requests",
       kGauge,
       {"priority_level", "flow_schema"},
       "Requests that wait for their turn on the loop."},
      {"apiserver_flowcontrol_dispatched_requests_total",
       kCounter,
       {"priority_level", "flow_schema"},
       "Requests whose turn has come."},
      {"apiserver_flowcontrol_rejected_requests_total",
       kCounter,
       {"priority_level", "flow_schema", "reason"},
       "Requests whose turn did not come: too many waited (queue-full), it took too long (time-out), or who asked went "
       "away (cancelled)."},
      {"apiserver_flowcontrol_request_wait_duration_seconds",
       kHistogram,
       {"priority_level", "flow_schema", "execute"},
       "How long requests waited for their turn.",
       {0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15}},
      {"volcano_api_connections",
       kGauge,
       {"peers"},
       "Connections of this server: of peers that were recognized (recognized), and of others (strangers)."},
      {"volcano_api_connections_ended_total",
       kCounter,
       {"reason"},
       "Connections that had no seat: the oldest of strangers, which made room for new ones (room), and those that "
       "were refused because all seats were taken, or all of their user (full)."},
      {"volcano_api_pod_streams",
       kGauge,
       {},
       "Streams into pods that are open: commands, attached clients, forwarded ports and requests to pods."},
      {"volcano_api_pod_streams_refused_total",
       kCounter,
       {"reason"},
       "Streams into pods that were refused: the user had as many as one may have (share), or all were taken (full)."},
      {"volcano_api_objects_bytes", kGauge, {}, "Bytes of all objects as text, which are held in memory."},
      {"volcano_api_objects_refused_total",
       kCounter,
       {},
       "Writes refused because all objects take as much as --objects-mib lets them."},
      {"apiserver_storage_objects", kGauge, {"resource"}, "Objects stored."},
      {"apiserver_storage_revision", kGauge, {}, "The revision of the newest durable write."},
  };
  return kRows;
}

std::span<const base::MetricRow> loop_metric_rows() {
  static const base::MetricRow kRows[] = {
      {"volcano_api_loop_seconds",
       base::MetricType::kHistogram,
       {},
       "How long one callback held the API server's loop, while every other request waited.",
       {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5}},
  };
  return kRows;
}

RequestMetrics::RequestMetrics() {
  metrics_.add(metric_rows());
  waiting_ = metrics_.gauge("apiserver_flowcontrol_current_inqueue_requests", kLevel);
  dispatched_ = metrics_.counter("apiserver_flowcontrol_dispatched_requests_total", kLevel);
  waited_ = metrics_.histogram("apiserver_flowcontrol_request_wait_duration_seconds", {kLevel[0], kLevel[1], "true"});
}

void RequestMetrics::waiting(std::size_t count) { waiting_.set(static_cast<double>(count)); }

void RequestMetrics::dispatched(base::Duration waited) {
  dispatched_.add();
  waited_.observe(waited.seconds());
}

void RequestMetrics::turned_away(const CountedAs* request, const std::string& reason) {
  if (request) handles_for(*request, base::http_status(base::Code::kTooManyRequests)).requests.add();
  metrics_.counter("apiserver_flowcontrol_rejected_requests_total", {kLevel[0], kLevel[1], reason}).add();
}

RequestMetrics::Handles& RequestMetrics::handles_for(const CountedAs& request, int status) {
  const api::ResourceId& resource = request.kind->resource;
  auto [at, is_new] = handles_.try_emplace(Key(resource, request.verb, request.subresource, status));
  if (is_new) {
    std::vector<std::string> labels = {std::string(name_of(request.verb)), resource.group, resource.version,
                                       resource.plural, request.subresource};
    at->second.seconds = metrics_.histogram("apiserver_request_duration_seconds", labels);
    labels.push_back(std::to_string(status));
    at->second.requests = metrics_.counter("apiserver_request_total", labels);
  }
  return at->second;
}

void RequestMetrics::answered(const CountedAs& request, int status, base::Duration took) {
  Handles& handles = handles_for(request, status);
  handles.requests.add();
  handles.seconds.observe(took.seconds());
}

void RequestMetrics::watching(const api::KindInfo& kind, int change) {
  int& open = watches_[kind.resource];
  open += change;
  const api::ResourceId& resource = kind.resource;
  metrics_.gauge("apiserver_longrunning_requests", {"WATCH", resource.group, resource.version, resource.plural})
      .set(open);
}

void RequestMetrics::streams(const StreamShares::Counts& now) {
  metrics_.gauge("volcano_api_pod_streams").set(now.open);
  const auto more = [&](const char* reason, std::uint64_t before, std::uint64_t after) {
    metrics_.counter("volcano_api_pod_streams_refused_total", {reason}).add(static_cast<double>(after - before));
  };
  more("share", streams_.refused_by_share, now.refused_by_share);
  more("full", streams_.refused_full, now.refused_full);
  streams_ = now;
}

void RequestMetrics::memory_refused(std::uint64_t count) {
  metrics_.counter("volcano_api_objects_refused_total").add(static_cast<double>(count - memory_refused_));
  memory_refused_ = count;
}

void RequestMetrics::connections(const rt::ConnectionShares::Counts& now) {
  metrics_.gauge("volcano_api_connections", {"strangers"}).set(now.strangers);
  metrics_.gauge("volcano_api_connections", {"recognized"}).set(now.recognized);
  const auto more = [&](const char* reason, std::uint64_t before, std::uint64_t after) {
    metrics_.counter("volcano_api_connections_ended_total", {reason}).add(static_cast<double>(after - before));
  };
  more("room", connections_.ended, now.ended);
  more("full", connections_.refused, now.refused);
  connections_ = now;
}

std::string RequestMetrics::text(const store::Store& store) {
  for (std::uint32_t i = 0; i < api::all_kinds().size(); ++i)
    metrics_.gauge("apiserver_storage_objects", {api::qualified_plural(api::all_kinds()[i])})
        .set(static_cast<double>(store.count(i)));
  metrics_.gauge("volcano_api_objects_bytes").set(static_cast<double>(store.bytes()));
  metrics_.gauge("apiserver_storage_revision").set(static_cast<double>(store.revision()));
  return metrics_.text();
}

}  // namespace apiserver
