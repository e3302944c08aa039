// Options of a log request, the choice of the container, and the stream.
#include "apiserver/http/pods/pod_log.h"

#include <algorithm>

#include "apiserver/http/answers.h"
#include "apiserver/http/query_options.h"
#include "apiserver/http/route.h"
#include "apiserver/pipeline/write/invalid_options.h"
#include "base/format.h"
#include "base/quote.h"
#include "base/split.h"

namespace apiserver {

using api::Json;
using base::Result;

namespace {

Result<std::optional<std::int64_t>> number(const rt::Target& target, std::string_view key, std::int64_t least) {
  const std::string_view text = target.get(key);
  if (text.empty()) return std::optional<std::int64_t>();
  TRY(const std::int64_t value, parse_number(key, text));
  if (value < least)
    return invalid_options(
        "PodLogOptions",
        {{"FieldValueInvalid",
          base::format("Invalid value: {}: must be greater than {}0", value, least == 0 ? "or equal to " : ""),
          std::string(key)}},
        "");
  return std::optional<std::int64_t>(value);
}

Result<api::PodLogOptions> read_options(const rt::Target& target, base::Time now) {
  api::PodLogOptions options;
  options.container = target.get("container");
  options.follow = asks_for(target, "follow");
  options.previous = asks_for(target, "previous");
  options.timestamps = asks_for(target, "timestamps");
  TRY(options.tail_lines, number(target, "tailLines", 0));
  TRY(options.limit_bytes, number(target, "limitBytes", 1));
  TRY(const auto since_seconds, number(target, "sinceSeconds", 1));
  if (since_seconds) options.since = now - base::seconds(std::min(*since_seconds, now.ns / 1'000'000'000));
  if (const std::string_view text = target.get("sinceTime"); !text.empty()) {
    if (since_seconds) return bad_request("at most one of `sinceTime` or `sinceSeconds` may be specified");
    const auto time = base::parse_rfc3339(text);
    if (!time) return bad_request(base::format("sinceTime: Invalid value: \"{}\"", text));
    options.since = *time;
  }
  return options;
}

// Keeps the source alive until it ends or the peer goes. Callbacks come on any thread, one at a time.
struct LogAnswer {
  std::shared_ptr<rt::HttpExchange> exchange;
  Encoding encoding = Encoding::kJson;  // of an error
  std::shared_ptr<api::PodLogStream> stream = {};
  bool started = false;

  void start() {
    if (started) return;
    started = true;
    exchange->start(200, {{"Content-Type", "text/plain"}});
  }
};

}  // namespace

Result<std::string> choose_container(const Json& pod, const std::string& asked) {
  std::vector<std::string> all;
  std::vector<std::string> ordinary;
  std::vector<std::string> initial;
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"})
    for (const Json& container : pod["spec"][list].items()) {
      all.push_back(container["name"].str());
      if (std::string_view(list) == "containers") ordinary.push_back(container["name"].str());
      if (std::string_view(list) == "initContainers") initial.push_back(container["name"].str());
    }
  if (!asked.empty()) {
    for (const std::string& name : all)
      if (name == asked) return asked;
    return bad_request(base::format("container {} is not valid for pod {}", asked, api::name_of(pod)));
  }
  if (ordinary.size() == 1) return ordinary[0];
  std::string why = base::format("a container name must be specified for pod {}, choose one of: [{}]",
                                 api::name_of(pod), base::join(ordinary, " "));
  if (!initial.empty()) why += base::format(" or one of the init containers: [{}]", base::join(initial, " "));
  return bad_request(why);
}

std::string why_no_log(const Json& pod, const std::string& container) {
  const Json* found = nullptr;
  for (const char* list : {"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"})
    for (const Json& one : pod["status"][list].items())
      if (one["name"].as_string() == container) found = &one;
  const std::string of =
      base::format("container {} in pod {}", base::go_quoted(container), base::go_quoted(api::name_of(pod)));
  if (found == nullptr) return of + " is not available";
  const Json& state = (*found)["state"];
  if (state.has("terminated") || state.has("running") || (*found)["lastState"].has("terminated")) return {};
  const std::string_view reason = state["waiting"]["reason"].as_string();
  const std::string_view why = reason == "ErrImagePull"       ? "image can't be pulled"
                               : reason == "ImagePullBackOff" ? "trying and failing to pull image"
                                                              : reason;
  return why.empty() ? of + " is waiting to start - no logs yet" : base::format("{} is waiting to start: {}", of, why);
}

void serve_log(Api& api, Request request, const rt::Target& target, Encoding encoding,
               std::shared_ptr<rt::HttpExchange> exchange) {
  if (request.verb != Verb::kGet)
    return fail(*exchange,
                base::make_error(base::Code::kMethodNotAllowed,
                                 "the server does not allow this method on the requested resource"),
                encoding);
  auto options = read_options(target, api.env().now());
  if (!options.ok()) return fail(*exchange, options.error(), encoding);
  api.env().loop().post([&api, request = std::move(request), options = *std::move(options), encoding,
                         exchange = std::move(exchange)]() mutable {
    const store::ObjectPtr stored = api.store().find(request.resource, request.ns, request.name, store::View::kDurable);
    if (!stored) return fail(*exchange, not_found(*request.kind, request.name), encoding);
    const Json pod = stored->json();
    auto container = choose_container(pod, options.container);
    if (!container.ok()) return fail(*exchange, container.error(), encoding);
    options.container = *std::move(container);
    options.no_log = why_no_log(pod, options.container);
    if (pod["spec"]["nodeName"].as_string().empty())
      return exchange->respond({200, {{"Content-Type", "text/plain"}}, ""});  // nothing has run yet
    if (!api.pod_logs())
      return fail(*exchange, base::make_error(base::Code::kUnavailable, "no node agent in this process keeps logs"),
                  encoding);
    auto answer = std::make_shared<LogAnswer>(LogAnswer{exchange, encoding});
    answer->stream = api.pod_logs()->open(
        request.ns, request.name, std::string(api::uid_of(pod)), std::move(options),
        [answer](std::string bytes) {
          answer->start();
          answer->exchange->send_one(std::make_shared<const std::string>(std::move(bytes)));
          answer->exchange->wait_until_drained();  // the reader of the file goes as fast as the peer
        },
        [answer](base::Status status) {
          if (!status.ok() && !answer->started) return fail(*answer->exchange, status.error(), answer->encoding);
          answer->start();
          answer->exchange->finish();
        });
    // A follower that goes away stops the source. The exchange keeps the answer, and with it the stream, until then.
    exchange->on_closed([&api, answer] { api.env().loop().post([answer] { answer->stream.reset(); }); });
  });
}

}  // namespace apiserver
