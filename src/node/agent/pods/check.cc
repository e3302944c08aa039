// How a check is made and bounded: a timer of its own, the beginning of the output, no more of an answer than its
// status.
#include "node/agent/pods/check.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/format.h"
#include "base/protobuf_wire.h"
#include "rt/http/client/http_client.h"

namespace node {

using api::Json;

namespace {

constexpr std::size_t kTextMax = 10 << 10;

// The number of a port, which may be a name of the container's; 0: there is none.
std::uint16_t port_number(const Json& port, const Json& container) {
  std::int64_t number = port.is_number() ? port.as_int() : 0;
  if (port.is_string()) {
    const std::string_view name = port.as_string();
    for (const Json& one : container["ports"].items())
      if (one["name"].as_string() == name) number = one["containerPort"].as_int();
    if (number == 0) std::from_chars(name.data(), name.data() + name.size(), number);
  }
  return number < 1 || number > 65535 ? 0 : static_cast<std::uint16_t>(number);
}

// No part of a header may begin another one.
bool is_plain(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string target_of(std::string_view path) {
  std::string target = path.starts_with('/') ? "" : "/";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '#')
      target += c;
    else
      target += base::format("%{:02X}", static_cast<int>(byte));
  }
  return target;
}

// grpc.health.v1: HealthCheckRequest{service = 1}, HealthCheckResponse{status = 1}.
std::string health_request(std::string_view service) {
  base::WireWriter request;
  request.add(1, service);
  return request.take();
}

CheckAnswer health_answer(const rt::GrpcStatus& status, std::string_view message, base::Duration timeout) {
  if (status.code == rt::GrpcCode::kUnimplemented)
    return {
        Answer::kFailure,
        "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): " + status.message};
  if (status.code == rt::GrpcCode::kDeadlineExceeded)
    return {Answer::kFailure,
            base::format("timeout: health rpc did not complete within {}", base::format_go_duration(timeout))};
  if (!status.ok())
    return {Answer::kFailure, base::format("error: health rpc probe failed: rpc error: code = {} desc = {}",
                                           rt::grpc_code_name(status.code), status.message)};
  static constexpr const char* kStates[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  std::uint64_t state = 0;
  base::WireReader reader(message);
  for (base::WireField field; reader.next(field);)
    if (field.number == 1) state = field.integer;
  if (reader.malformed()) return {Answer::kFailure, "error: health rpc probe failed: the answer is malformed"};
  if (state == 1) return {Answer::kSuccess, {}};
  return {Answer::kFailure, base::format("service unhealthy (responded with \"{}\")",
                                         state < std::size(kStates) ? kStates[state] : std::to_string(state))};
}

class RunningCheck final : public Check, public std::enable_shared_from_this<RunningCheck> {
 public:
  RunningCheck(const CheckMeans& means, CheckRequest wanted, std::function<void(CheckAnswer)> done)
      : env_(means.env),
        streams_(means.streams),
        grpc_(means.grpc),
        wanted_(std::move(wanted)),
        done_(std::move(done)) {}
  ~RunningCheck() override { release(); }

  void begin() {
    const bool sleeps = wanted_.handler.has("sleep");
    const base::Duration asked = base::seconds(wanted_.handler["sleep"]["seconds"].as_int());
    const bool in_full = sleeps && asked <= wanted_.timeout;
    const bool grpc = wanted_.handler.has("grpc");
    // A call has the same limit, and words of its own.
    const base::Duration limit = in_full ? asked : grpc ? wanted_.timeout + base::seconds(1) : wanted_.timeout;
    timer_ = env_.loop().after(limit, [weak = weak_from_this(), in_full, limit] {
      const auto self = weak.lock();
      if (!self) return;
      self->timer_ = 0;
      if (in_full) return self->end(Answer::kSuccess, {});
      self->end(Answer::kFailure, base::format("timed out after {}", base::format_go_duration(limit)));
    });
    if (sleeps) return;
    if (wanted_.handler.has("exec")) return run();
    if (grpc) return ask_health();
    ask(wanted_.handler.has("httpGet"));
  }

 private:
  void run() {
    if (streams_ == nullptr) return end(Answer::kUnknown, "commands cannot be run on this node");
    api::ExecOptions options{.container = wanted_.container["name"].str(), .output = true, .errors = true};
    for (const Json& word : wanted_.handler["exec"]["command"].items()) options.command.push_back(word.str());
    rt::Loop& loop = env_.loop();
    // On the stream's thread, which may outlive this.
    const auto reported = std::make_shared<std::string>();
    api::PodStreamEvents events;
    events.on_output = [reported](int, std::string bytes) { reported->append(bytes, 0, kTextMax - reported->size()); };
    events.on_room = [] {};
    events.on_end = [reported, &loop, weak = weak_from_this()](base::Result<int> code) {
      loop.post([weak, reported, code = std::move(code)] {
        const auto self = weak.lock();
        if (!self) return;
        if (!code.ok()) return self->end(Answer::kUnknown, code.error().message);
        self->end(*code == 0 ? Answer::kSuccess : Answer::kFailure, *reported);
      });
    };
    auto opened = streams_->exec(wanted_.pod_uid, std::move(options), std::move(events));
    if (!opened.ok()) return end(Answer::kUnknown, opened.error().message);
    stream_ = std::move(*opened);
  }

  void ask(bool http) {
    const Json& handler = wanted_.handler[http ? "httpGet" : "tcpSocket"];
    rt::ClientOptions options;
    options.host = handler["host"].as_string().empty() ? wanted_.address : handler["host"].str();
    options.port = port_number(handler["port"], wanted_.container);
    if (options.port == 0)
      return end(Answer::kUnknown, base::format("the container has no port {}", handler["port"].dump()));
    options.tls = http && handler["scheme"].as_string() == "HTTPS";
    options.insecure_skip_verify = true;
    options.offer_http2 = false;
    options.timeout = wanted_.timeout + base::seconds(1);  // ours is the one that counts
    if (!is_plain(options.host)) return end(Answer::kUnknown, "host: this is not a name");
    rt::HttpRequest request{.method = "GET", .target = target_of(handler["path"].as_string()), .headers = {}};
    bool agent = false, accept = false;
    for (const Json& field : handler["httpHeaders"].items()) {
      const std::string name = field["name"].str(), value = field["value"].str();
      if (name.empty() || !is_plain(name) || name.find_first_of(": ") != std::string::npos || !is_plain(value))
        return end(Answer::kUnknown, base::format("httpHeaders: {:?} is not a header", name));
      // COMPAT(probe-host): connections name the address that they go to.
      if (rt::same_header(name, "Host") || rt::same_header(name, "Connection")) continue;
      agent |= rt::same_header(name, "User-Agent");
      accept |= rt::same_header(name, "Accept");
      request.headers.emplace_back(name, value);
    }
    if (!agent) request.headers.emplace_back("User-Agent", "kube-probe/1.36");
    if (!accept) request.headers.emplace_back("Accept", "*/*");
    request.headers.emplace_back("Connection", "close");
    auto client = env_.http_client(std::move(options));
    if (!client.ok()) return end(Answer::kUnknown, client.error().message);
    client_ = std::move(*client);
    if (http) return get(std::move(request));
    client_->connect([weak = weak_from_this()](const base::Status& connected) {
      if (const auto self = weak.lock())
        self->end(connected.ok() ? Answer::kSuccess : Answer::kFailure,
                  connected.ok() ? std::string() : connected.error().message);
    });
  }

  // A stream, because the status is all that counts, however long what follows it.
  void get(rt::HttpRequest request) {
    rt::HttpClient::StreamCallbacks callbacks;
    callbacks.on_start = [weak = weak_from_this()](int status, const rt::Headers&) {
      if (const auto self = weak.lock())
        self->end(status >= 200 && status < 400 ? Answer::kSuccess : Answer::kFailure,
                  base::format("HTTP probe failed with statuscode: {}", status));
    };
    callbacks.on_data = [](std::string_view) {};
    callbacks.on_end = [weak = weak_from_this()](const base::Status& status) {
      if (const auto self = weak.lock())
        self->end(Answer::kFailure, status.ok() ? "the answer ended before it began" : status.error().message);
    };
    answer_ = client_->stream(std::move(request), std::move(callbacks));
  }

  void ask_health() {
    const Json& handler = wanted_.handler["grpc"];
    const rt::GrpcTarget target{
        .address = wanted_.address,
        .port = static_cast<std::uint16_t>(std::clamp<std::int64_t>(handler["port"].as_int(), 0, 65535))};
    if (target.port == 0) return end(Answer::kUnknown, "grpc.port: this is not a port");
    if (grpc_ == nullptr)
      return end(Answer::kUnknown, "the node has no thread for calls of gRPC, please try again later");
    call_ = rt::begin_unary_call(*grpc_, env_.loop(), target, "/grpc.health.v1.Health/Check",
                                 health_request(handler["service"].as_string()), {.timeout = wanted_.timeout},
                                 [this](const rt::GrpcStatus& status, const std::string& message) {
                                   CheckAnswer answer = health_answer(status, message, wanted_.timeout);
                                   end(answer.answer, std::move(answer.text));
                                 });
  }

  // Later, because a client must not go while it calls.
  void end(Answer answer, std::string text) {
    if (ended_) return;
    ended_ = true;
    text.resize(std::min(text.size(), kTextMax));
    env_.loop().post([weak = weak_from_this(), answer, text = std::move(text)]() mutable {
      const auto self = weak.lock();
      if (!self) return;
      self->release();
      std::exchange(self->done_, nullptr)({answer, std::move(text)});
    });
  }

  void release() {
    if (timer_ != 0) env_.loop().cancel(std::exchange(timer_, 0));
    if (stream_) std::exchange(stream_, nullptr)->end();
    answer_.reset();
    call_.reset();
    // A client waits for its resolver, which may take as long as a name server does.
    if (auto client = std::exchange(client_, nullptr))
      env_.offload([client = std::move(client)]() mutable { client.reset(); }, [] {});
  }

  rt::Env& env_;
  api::PodStreams* streams_;
  rt::GrpcIo* grpc_;
  CheckRequest wanted_;
  std::function<void(CheckAnswer)> done_;
  rt::Loop::TimerId timer_ = 0;
  bool ended_ = false;
  std::shared_ptr<api::PodStream> stream_;
  std::shared_ptr<rt::HttpClient> client_;
  std::unique_ptr<rt::HttpStream> answer_;
  std::unique_ptr<rt::GrpcCall> call_;
};

}  // namespace

std::shared_ptr<Check> begin_check(const CheckMeans& means, CheckRequest wanted,
                                   std::function<void(CheckAnswer)> done) {
  auto check = std::make_shared<RunningCheck>(means, std::move(wanted), std::move(done));
  check->begin();
  return check;
}

}  // namespace node
