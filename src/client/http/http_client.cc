// How calls and watches travel to an API server over HTTP(S).
#include "client/http/http_client.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "base/format.h"
#include "base/log.h"
#include "client/http/answer_check.h"
#include "client/http/repeat.h"
#include "client/http/request_names.h"
#include "client/http/retry_after.h"
#include "client/http/server_connection.h"
#include "client/http/wire.h"
#include "client/watch/initial_events.h"
#include "rt/http/client/http_client.h"

namespace client {

using api::Json;
using base::Code;
using base::make_error;

namespace {

// How long nothing may come of a watch that begins with what there is: before its answer, and in it before their end. A
// server that knows no such watches, and does not say so, falls silent when it has told what there is.
constexpr base::Duration kAnswerMax = base::seconds(60);
constexpr base::Duration kSilenceMax = base::seconds(10);

// The facts about a server that all watches of one client share.
struct Offers {
  std::optional<base::Error> no_initial_events;  // why not
};

// Shared by one watch and the callbacks of its stream, which may end each other.
struct WatchState : std::enable_shared_from_this<WatchState> {
  rt::Env* env = nullptr;
  Client::OnEvent on_event;
  Client::OnEnd on_end;
  WatchDecoder decoder;
  const api::KindInfo* kind = nullptr;
  rt::HttpResponse refusal;  // body of an answer that is not 200
  int status = 0;
  bool over = false;  // nothing more is taken of the stream
  std::unique_ptr<rt::HttpStream> stream;
  rt::Loop::TimerId timer = 0;  // ends a watch that the server does not end; then, of a refusal, the pause it asks for
  // True for a watch that begins with the present objects, until it has told them.
  bool begins = false;
  std::shared_ptr<Offers> offers;
  base::Duration last_received;   // when something last came
  rt::Loop::TimerId silence = 0;  // looks whether that is too long ago

  void close() {
    over = true;
    for (rt::Loop::TimerId* one : {&timer, &silence})
      if (*one != 0) env->loop().cancel(std::exchange(*one, 0));
    // The stream may be calling us right now; it goes when this turn is over.
    if (stream) env->loop().post([old = std::shared_ptr<rt::HttpStream>(std::move(stream))] {});
  }
  void end(base::Error error) {
    if (over) return;
    close();
    const base::Duration pause = asked_pause(error);
    if (pause == base::Duration()) return notify_end(std::move(error));
    error.retry_after_seconds = 0;  // it is waited for here
    timer = env->loop().after(pause, [weak = weak_from_this(), error = std::move(error)] {
      const auto kept = weak.lock();
      if (!kept) return;
      kept->timer = 0;
      kept->notify_end(error);
    });
  }
  void notify_end(base::Error error) {
    const auto callback = std::exchange(on_end, nullptr);
    if (callback) callback(std::move(error));
  }
  base::Duration silence_max() const { return status == 0 ? kAnswerMax : kSilenceMax; }
  void listen(base::Duration wait);
  void look_for_silence();
  void not_offered(base::Error why);
  void began() {
    begins = false;
    if (silence != 0) env->loop().cancel(std::exchange(silence, 0));
  }
  void start(int with_status, const rt::Headers& headers);
  void take(const std::shared_ptr<WatchState>& self, std::string_view bytes);
  void ended(base::Status status_of_stream);
};

void WatchState::listen(base::Duration wait) {
  if (silence != 0) env->loop().cancel(silence);
  silence = env->loop().after(wait, [weak = weak_from_this()] {
    const auto kept = weak.lock();
    if (!kept) return;
    kept->silence = 0;
    kept->look_for_silence();
  });
}

void WatchState::look_for_silence() {
  const base::Duration since = env->uptime() - last_received;
  if (since < silence_max()) return listen(silence_max() - since);
  if (status == 0)
    return end(make_error(Code::kTimeout, base::format("no answer in {}", base::format_go_duration(since))));
  not_offered(make_error(Code::kInvalid, "nothing more comes, and no end of what there is"));
}

void WatchState::not_offered(base::Error why) {
  if (!offers->no_initial_events)
    base::log_info("client",
                   base::format("the API server begins no watch with what there is, which is listed: {}", why.message));
  offers->no_initial_events = why;
  end(std::move(why));
}

void WatchState::start(int with_status, const rt::Headers& headers) {
  status = with_status;
  refusal.headers = headers;
  decoder.begin(rt::header(headers, "Content-Type"));
  last_received = env->uptime();
  if (begins) listen(silence_max());
}

void WatchState::take(const std::shared_ptr<WatchState>& self, std::string_view bytes) {
  if (over) return;
  if (status != 200) {
    if (refusal.body.size() < 65'536) refusal.body.append(bytes);
    return;
  }
  std::vector<WatchEvent> events;
  base::Status fed = decoder.feed(bytes, events);
  if (!events.empty()) last_received = env->uptime();  // a body that trickles without an event is silent, too
  const Client::OnEvent callback = on_event;
  for (WatchEvent& event : events) {
    // No other bookmark comes before the one at the end of what there is.
    if (begins && event.type == EventType::kBookmark) {
      if (!ends_initial_events(event))
        return not_offered(make_error(Code::kInvalid, "a bookmark comes before its end"));
      began();
    }
    if (const auto problem = mend_event(event, kind)) base::log_warning("client", *problem);
    callback(std::move(event));
    if (self->over) return;
  }
  if (!fed.ok()) end(fed.take_error());
}

void WatchState::ended(base::Status status_of_stream) {
  if (status != 0 && status != 200) {
    refusal.status = status;
    auto decoded = decode_response(refusal);
    base::Error error = decoded.ok() ? make_error(Code::kInternal, "the watch was refused") : decoded.take_error();
    return begins && refuses_initial_events(error) ? not_offered(std::move(error)) : end(std::move(error));
  }
  end(status_of_stream.ok() ? make_error(Code::kUnavailable, "the watch ended") : status_of_stream.take_error());
}

class HttpWatch : public Watch {
 public:
  explicit HttpWatch(std::shared_ptr<WatchState> state) : state_(std::move(state)) {}
  ~HttpWatch() override { state_->close(); }

 private:
  std::shared_ptr<WatchState> state_;
};

class HttpApiClient : public Client {
 public:
  HttpApiClient(HttpClientOptions options, std::unique_ptr<ServerConnection> server, rt::Env& env)
      : options_(std::move(options)), server_(std::move(server)), env_(env) {
    if (options_.burst <= 0) options_.burst = kDefaultBurst;
    tokens_ = options_.burst;
  }

  void call(Request request, OnResult on_result) override {
    if (base::Status names = check_names(request); !names.ok()) {
      // No callback runs before the call returns.
      return env_.loop().post([error = names.take_error(), on_result = std::move(on_result)] { on_result(error); });
    }
    begin({std::move(request), std::move(on_result)});
  }
  std::unique_ptr<Watch> watch(WatchRequest request, OnEvent on_event, OnEnd on_end) override;

 private:
  std::unique_ptr<Watch> refused_watch(base::Error why, OnEnd on_end);
  struct Call {
    Request request;
    OnResult on_result;
    int refusals = 0;       // that asked for a pause
    base::Duration held{};  // these pauses together
    bool unsure = false;    // an earlier sending may have been carried out
  };

  // The parts of a request that count when its answer is there.
  struct Asked {
    const api::Projection* only;
    Verb verb;
    bool is_of_kind;
    const api::KindInfo* kind;
  };

  void begin(Call call);
  void drain();
  base::Result<Json> answer_to(const Asked& asked, const rt::HttpResponse& response);
  void send(Call call);
  void answered(Call call, const Asked& asked, base::Result<rt::HttpResponse> response);
  void hold(Call call, base::Error refusal);
  void report(const Request& request, const base::Error& refusal);
  void settle(Call call, base::Error error);
  HttpClientOptions options_;
  std::unique_ptr<ServerConnection> server_;
  rt::Env& env_;
  std::array<std::deque<Call>, kRanks> waiting_;  // by rank
  double tokens_ = 0;
  base::Duration refilled_{};
  bool timer_set_ = false;
  int in_flight_ = 0;
  std::vector<std::string> reported_;            // what was left out of the last list that anything was left out of
  std::optional<base::Duration> busy_reported_;  // when a pause was last told of
  const std::shared_ptr<Offers> offers_ = std::make_shared<Offers>();
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

void HttpApiClient::begin(Call call) {
  if (options_.requests_per_second <= 0 && options_.in_flight_max <= 0) return send(std::move(call));
  waiting_[rank_of(call.request)].push_back(std::move(call));
  drain();
}

// A token bucket, as the flags for queries a second and burst mean it, and a bound of what is not answered yet.
void HttpApiClient::drain() {
  const bool is_timed = options_.requests_per_second > 0;
  const base::Duration now = env_.uptime();
  tokens_ = std::min<double>(options_.burst, tokens_ + (now - refilled_).seconds() * options_.requests_per_second);
  refilled_ = now;
  const auto first = [this] { return std::ranges::find_if(waiting_, [](const auto& one) { return !one.empty(); }); };
  const auto is_full = [this] { return options_.in_flight_max > 0 && in_flight_ >= options_.in_flight_max; };
  auto equals = first();
  for (; equals != waiting_.end() && !is_full() && (!is_timed || tokens_ >= 1); equals = first()) {
    if (is_timed) tokens_ -= 1;
    Call next = std::move(equals->front());
    equals->pop_front();
    send(std::move(next));
  }
  if (equals == waiting_.end() || timer_set_ || is_full()) return;  // an answer goes on
  timer_set_ = true;
  const base::Duration delay{static_cast<std::int64_t>((1 - tokens_) / options_.requests_per_second * 1e9) + 1};
  env_.loop().after(delay, [this, weak = std::weak_ptr<int>(alive_)] {
    if (weak.expired()) return;
    timer_set_ = false;
    drain();
  });
}

base::Result<Json> HttpApiClient::answer_to(const Asked& asked, const rt::HttpResponse& response) {
  TRY(Json answer, decode_response(response, asked.only, asked.verb == Verb::kList));
  if (!asked.is_of_kind) return answer;
  std::vector<std::string> left_out;
  auto result = usable_answer(std::move(answer), asked.verb, asked.kind, left_out);
  constexpr std::size_t kReportedMax = 20;
  if (left_out.empty() || left_out == reported_) return result;
  for (std::size_t i = 0; i < left_out.size() && i < kReportedMax; ++i) base::log_warning("client", left_out[i]);
  if (left_out.size() > kReportedMax)
    base::log_warning("client", base::format("{} more objects are left out", left_out.size() - kReportedMax));
  reported_ = std::move(left_out);
  return result;
}

void HttpApiClient::send(Call call) {
  const Request& request = call.request;
  rt::HttpRequest http = encode_request(request, options_.field_manager);
  server_->complete(http);
  http.may_repeat = may_repeat(request);
  const bool writes = request.verb != Verb::kGet && request.verb != Verb::kList;
  if (writes) http.wanted = options_.may_write;
  // Other subresources are answered with what is not an object of the kind, or with a part of one.
  const bool is_of_kind = request.subresource.empty() || request.subresource == "status";
  const Asked asked{request.only, request.verb, is_of_kind, api::find_kind(request.resource)};
  auto kept = std::make_shared<Call>(std::move(call));
  const std::shared_ptr<int> count = writes ? options_.writes_under_way : nullptr;
  if (count) ++*count;
  ++in_flight_;
  const std::weak_ptr<int> alive = alive_;
  server_->http().send(std::move(http), [this, alive, asked, kept, count](base::Result<rt::HttpResponse> response) {
    if (count) --*count;
    --in_flight_;
    answered(std::move(*kept), asked, std::move(response));
    if (!alive.expired()) drain();  // whoever was told may have ended the client
  });
}

void HttpApiClient::answered(Call call, const Asked& asked, base::Result<rt::HttpResponse> response) {
  if (!response.ok()) return call.on_result(response.take_error());
  if (response->status == 401) server_->refused();
  call.unsure = call.unsure || response->repeated;
  auto result = answer_to(asked, *response);
  if (result.ok()) return call.on_result(std::move(result));
  if (asked_pause(result.error()) > base::Duration() && may_be_held(call.request))
    return hold(std::move(call), result.take_error());
  if (!call.unsure) return call.on_result(std::move(result));
  settle(std::move(call), result.take_error());
}

// Until the pause is over that the server asks for.
void HttpApiClient::hold(Call call, base::Error refusal) {
  report(call.request, refusal);
  const base::Duration pause = asked_pause(refusal);
  call.held = call.held + pause;
  const bool may_ask = is_not_carried_out(refusal) || may_repeat(call.request);
  const bool again = may_ask && ++call.refusals <= kAskedAgainMax && call.held < kHeldMax;
  call.unsure = call.unsure || !is_not_carried_out(refusal);
  refusal.retry_after_seconds = 0;  // it is waited for here
  const auto kept = std::make_shared<Call>(std::move(call));
  env_.loop().after(pause, [this, weak = std::weak_ptr<int>(alive_), kept, again, refusal = std::move(refusal)] {
    if (weak.expired()) return;
    if (!again) return kept->on_result(refusal);
    begin(std::move(*kept));
  });
}

// A busy server refuses many at a time: one of them is told, once a minute.
void HttpApiClient::report(const Request& request, const base::Error& refusal) {
  const base::Duration now = env_.uptime();
  if (busy_reported_ && now - *busy_reported_ < base::minutes(1)) return;
  busy_reported_ = now;
  base::log_warning(
      "client", base::format("requests wait, because the server asks for a pause of {} ({}): {}",
                             base::format_go_duration(asked_pause(refusal)), request.resource.plural, refusal.message));
}

// The request was sent twice, and the second answer is this error.
void HttpApiClient::settle(Call call, base::Error error) {
  Verdict verdict = judge(call.request, error);
  if (verdict.success) return call.on_result(*std::move(verdict.success));
  if (!verdict.look) return call.on_result(std::move(error));
  const auto of_look = [call = std::move(call), error = std::move(error)](const base::Result<Json>& present) {
    auto result = present.ok() ? carried_out(call.request, *present) : std::nullopt;
    if (result) return call.on_result(*std::move(result));
    call.on_result(error);
  };
  send({*std::move(verdict.look), of_look});
}

// Without asking.
std::unique_ptr<Watch> HttpApiClient::refused_watch(base::Error why, OnEnd on_end) {
  auto state = std::make_shared<WatchState>();
  state->env = &env_;
  state->on_end = std::move(on_end);
  env_.loop().post([weak = std::weak_ptr<WatchState>(state), why = std::move(why)] {
    if (const auto kept = weak.lock()) kept->end(why);
  });
  return std::make_unique<HttpWatch>(std::move(state));
}

std::unique_ptr<Watch> HttpApiClient::watch(WatchRequest request, OnEvent on_event, OnEnd on_end) {
  const bool begins = request.resource_version.empty();
  if (begins && offers_->no_initial_events) return refused_watch(*offers_->no_initial_events, std::move(on_end));
  // Spread over five to ten minutes, so that many watches do not come back at once.
  const int timeout_seconds = 300 + static_cast<int>(env_.random().below(300));
  rt::HttpRequest http = encode_watch(request, timeout_seconds);
  server_->complete(http);
  auto state = std::make_shared<WatchState>();
  state->env = &env_;
  state->decoder = WatchDecoder(request.only);
  state->kind = api::find_kind(request.resource);
  state->on_event = std::move(on_event);
  state->on_end = std::move(on_end);
  state->begins = begins;
  state->offers = offers_;
  state->last_received = env_.uptime();
  if (begins) state->listen(state->silence_max());
  // A peer that vanished without a word never ends the stream.
  const std::weak_ptr<WatchState> weak = state;
  state->timer = env_.loop().after(base::seconds(timeout_seconds + 30), [weak] {
    if (const auto kept = weak.lock()) {
      kept->timer = 0;
      kept->end(make_error(Code::kTimeout, "the watch was not ended by the server in time"));
    }
  });
  state->stream = server_->http().stream(
      std::move(http), {.on_start =
                            [this, weak, alive = std::weak_ptr<int>(alive_)](int status, const rt::Headers& headers) {
                              if (status == 401 && !alive.expired()) server_->refused();
                              if (const auto kept = weak.lock()) kept->start(status, headers);
                            },
                        .on_data =
                            [weak](std::string_view bytes) {
                              if (const auto kept = weak.lock()) kept->take(kept, bytes);
                            },
                        .on_end =
                            [weak](base::Status status) {
                              if (const auto kept = weak.lock()) kept->ended(std::move(status));
                            }});
  return std::make_unique<HttpWatch>(std::move(state));
}

}  // namespace

base::Result<std::unique_ptr<Client>> make_http_client(HttpClientOptions options, rt::Env& env) {
  TRY(std::unique_ptr<ServerConnection> server,
      ServerConnection::open(options.access, options.user_agent, env, options.timeout));
  return std::unique_ptr<Client>(std::make_unique<HttpApiClient>(std::move(options), std::move(server), env));
}

}  // namespace client
