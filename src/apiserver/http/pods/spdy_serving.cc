// Commands and ports over SPDY: which streams belong together, and what is said on them.
#include <charconv>
#include <map>

#include "apiserver/http/pods/remote_command.h"
#include "apiserver/http/pods/spdy_streams.h"
#include "base/format.h"

namespace apiserver {

namespace {

constexpr base::Duration kOpeningTime = base::seconds(30);  // for a client to open the streams it asked for

constexpr std::size_t kRequestIdMax = 64;

std::string_view word(const rt::Headers& headers, std::string_view name) { return rt::header(headers, name); }

// A command: begins when the client has opened a stream for each channel.
class Command : public std::enable_shared_from_this<Command> {
 public:
  Command(rt::Env& env, const WantedStreams& wanted, BeginStream begin) : env_(env), begin_(std::move(begin)) {
    missing_.insert({"error", 0});
    if (wanted.input) missing_.insert({"stdin", 0});
    if (wanted.output) missing_.insert({"stdout", 0});
    if (wanted.errors && !wanted.terminal) missing_.insert({"stderr", 0});
    if (wanted.terminal) missing_.insert({"resize", 0});
  }

  void serve(std::shared_ptr<rt::HttpExchange> exchange, const std::string& protocol) {
    streams_ =
        std::make_shared<SpdyStreams>(env_.loop(), std::move(exchange),
                                      [self = shared_from_this()](std::uint32_t stream, const rt::Headers& headers) {
                                        self->opened(stream, std::string(word(headers, "streamtype")));
                                      });
    timer_ = env_.loop().after(kOpeningTime, [self = shared_from_this()] {
      self->timer_ = 0;
      self->streams_->finish();
    });
    streams_->begin_upgraded({{"X-Stream-Protocol-Version", protocol}});
  }

 private:
  void opened(std::uint32_t stream, const std::string& type) {
    const auto found = missing_.find(type);
    if (found == missing_.end()) return;
    ids_[type] = stream;
    missing_.erase(found);
    if (!missing_.empty() || timer_ == 0) return;
    env_.loop().cancel(std::exchange(timer_, 0));
    auto begun = begin_(
        {.on_output = [self = shared_from_this()](int channel,
                                                  const std::string& bytes) { self->output(channel, bytes); },
         .on_room = [self = shared_from_this()] { self->streams_->has_room(self->id_of("stdin")); },
         .on_end = [self = shared_from_this()](
                       const base::Result<int>& end) { self->env_.loop().post([self, end] { self->finish(end); }); }});
    if (!begun.ok()) return finish(begun.error());
    // The client's going ends it through any stream that it has.
    streams_->connect(id_of("error"), SpdyStreams::Use::kSizes, *begun);
    if (ids_.contains("stdin")) streams_->connect(id_of("stdin"), SpdyStreams::Use::kInput, *begun);
    if (ids_.contains("resize")) streams_->connect(id_of("resize"), SpdyStreams::Use::kSizes, *begun);
  }

  // Any thread: no id changes once the command has begun. 0: there is no such stream.
  std::uint32_t id_of(const std::string& type) const {
    const auto found = ids_.find(type);
    return found == ids_.end() ? 0 : found->second;
  }

  void output(int channel, const std::string& bytes) {
    if (const std::uint32_t id = id_of(channel == 1 ? "stdout" : "stderr"); id != 0) streams_->send(id, bytes);
  }

  void finish(const base::Result<int>& end) {
    for (const char* type : {"stdout", "stderr"})
      if (const std::uint32_t id = id_of(type); id != 0) streams_->close(id);
    streams_->close(id_of("error"), command_status(end).dump());
    streams_->finish();
  }

  rt::Env& env_;
  BeginStream begin_;
  std::map<std::string, std::uint32_t> missing_;
  std::map<std::string, std::uint32_t> ids_;
  std::shared_ptr<SpdyStreams> streams_;
  rt::Loop::TimerId timer_ = 0;
};

// Pairs of streams: what is said on one goes to the port, and on the other we say why not.
class Ports : public std::enable_shared_from_this<Ports> {
 public:
  Ports(rt::Env& env, BeginPort begin) : env_(env), begin_(std::move(begin)) {}

  void serve(std::shared_ptr<rt::HttpExchange> exchange, bool tunnel) {
    streams_ =
        std::make_shared<SpdyStreams>(env_.loop(), std::move(exchange),
                                      [self = shared_from_this()](std::uint32_t stream, const rt::Headers& headers) {
                                        self->opened(stream, headers);
                                      });
    if (tunnel) return streams_->begin_tunnel({{"Sec-WebSocket-Protocol", std::string(kPortTunnel)}});
    streams_->begin_upgraded({{"X-Stream-Protocol-Version", std::string(kPortProtocol)}});
  }

 private:
  void opened(std::uint32_t stream, const rt::Headers& headers) {
    const std::string_view id = word(headers, "requestid");
    const std::string request((id.empty() ? word(headers, "port") : id).substr(0, kRequestIdMax));
    if (word(headers, "streamtype") == "error") {
      errors_[request] = stream;
      return;
    }
    const auto found = errors_.find(request);
    const std::uint32_t errors = found == errors_.end() ? 0 : found->second;
    if (found != errors_.end()) errors_.erase(found);
    int port = 0;
    const std::string_view text = word(headers, "port");
    std::from_chars(text.data(), text.data() + text.size(), port);
    if (word(headers, "streamtype") != "data" || port < 1 || port > 65535)
      return end(stream, errors, base::make_error(base::Code::kBadRequest, base::format("port {:?}", text)));
    const auto on_end = [self = shared_from_this(), stream, errors, port](const base::Result<int>& how) {
      base::Result<int> result = how;
      if (!how.ok()) result = base::within(how.error(), base::format("error forwarding port {}", port));
      self->env_.loop().post([self, stream, errors, result] { self->end(stream, errors, result); });
    };
    auto begun = begin_(port, {.on_output = [streams = streams_, stream](
                                                int, const std::string& bytes) { streams->send(stream, bytes); },
                               .on_room = [streams = streams_, stream] { streams->has_room(stream); },
                               .on_end = on_end});
    if (!begun.ok()) return end(stream, errors, begun.error());
    streams_->connect(stream, SpdyStreams::Use::kInput, *begun);
  }

  void end(std::uint32_t stream, std::uint32_t errors, const base::Result<int>& how) {
    if (errors != 0) streams_->close(errors, how.ok() ? std::string() : how.error().message);
    streams_->close(stream);
  }

  rt::Env& env_;
  BeginPort begin_;
  std::shared_ptr<SpdyStreams> streams_;
  std::map<std::string, std::uint32_t> errors_;  // streams of errors whose other half is not there yet
};

}  // namespace

void serve_command_streams(rt::Env& env, std::shared_ptr<rt::HttpExchange> exchange, const std::string& protocol,
                           const WantedStreams& wanted, BeginStream begin) {
  std::make_shared<Command>(env, wanted, std::move(begin))->serve(std::move(exchange), protocol);
}

void serve_ports(rt::Env& env, std::shared_ptr<rt::HttpExchange> exchange, bool tunnel, BeginPort begin) {
  std::make_shared<Ports>(env, std::move(begin))->serve(std::move(exchange), tunnel);
}

}  // namespace apiserver
