// One connection after the other, on one thread.
#include "rt/http/server/local_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/format.h"

namespace rt {
namespace {

namespace asio = boost::asio;
using Protocol = asio::local::stream_protocol;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kQuestionBytesMax = 8192;
constexpr std::chrono::seconds kQuestionTimeMax{5};
constexpr std::size_t kPathBytesMax = 107;  // what an address of a Unix socket holds

std::string text_of(const HttpResponse& response) {
  const std::string_view reason = response.status == 200 ? "OK" : response.status == 404 ? "Not Found" : "Bad Request";
  return base::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      response.status, reason, response.body.size(), response.body);
}

// The first line of a question; nothing that is not a GET.
HttpResponse answer_to(std::string_view head, const LocalServer::Handler& handler) {
  const std::size_t method_end = head.find(' ');
  const std::size_t target_end = method_end == std::string_view::npos ? method_end : head.find(' ', method_end + 1);
  if (target_end == std::string_view::npos || !head.substr(target_end + 1).starts_with("HTTP/1."))
    return {.status = 400, .headers = {}, .body = "this is not a request of HTTP/1.1\n"};
  HttpRequest request;
  request.method = std::string(head.substr(0, method_end));
  request.target = std::string(head.substr(method_end + 1, target_end - method_end - 1));
  if (request.method != "GET") return {.status = 400, .headers = {}, .body = "only GET is answered\n"};
  return handler(request);
}

class Server final : public LocalServer {
 public:
  Server(std::string path, Handler handler) : path_(std::move(path)), handler_(std::move(handler)) {}
  ~Server() override {
    asio::post(context_, [this] {
      ErrorCode ignored;
      acceptor_.close(ignored);
      socket_.close(ignored);
      context_.stop();
    });
    if (thread_.joinable()) thread_.join();
    struct stat facts {};
    if (inode_ != 0 && ::stat(path_.c_str(), &facts) == 0 && facts.st_ino == inode_) ::unlink(path_.c_str());
  }

  base::Status listen() {
    ErrorCode error;
    const Protocol::endpoint endpoint(path_);
    acceptor_.open(Protocol(), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(16, error);
    if (error)
      return base::make_error(base::Code::kUnavailable,
                              base::format("cannot listen at {}: {}", path_, error.message()));
    ::chmod(path_.c_str(), 0600);
    struct stat facts {};
    if (::stat(path_.c_str(), &facts) == 0) inode_ = facts.st_ino;
    accept();
    thread_ = std::thread([this] { context_.run(); });
    return {};
  }

 private:
  void accept() {
    acceptor_.async_accept(socket_, [this](ErrorCode error) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      question_.clear();
      timer_.expires_after(kQuestionTimeMax);
      timer_.async_wait([this](ErrorCode cancelled) {
        ErrorCode ignored;
        if (!cancelled) socket_.close(ignored);
      });
      read();
    });
  }
  void accept_later() {  // no file descriptor is free, for example
    timer_.expires_after(kQuestionTimeMax);
    timer_.async_wait([this](ErrorCode cancelled) {
      if (!cancelled) accept();
    });
  }
  void read() {
    socket_.async_read_some(asio::buffer(chunk_), [this](ErrorCode error, std::size_t size) {
      if (error) return next();
      question_.append(chunk_.data(), size);
      if (question_.size() > kQuestionBytesMax) return next();
      if (question_.find("\r\n\r\n") == std::string::npos) return read();
      answer_ = text_of(answer_to(std::string_view(question_).substr(0, question_.find("\r\n")), handler_));
      asio::async_write(socket_, asio::buffer(answer_), [this](ErrorCode, std::size_t) { next(); });
    });
  }
  void next() {
    timer_.cancel();
    ErrorCode ignored;
    socket_.close(ignored);
    accept();
  }

  std::string path_;
  Handler handler_;
  asio::io_context context_{1};
  Protocol::acceptor acceptor_{context_};
  Protocol::socket socket_{context_};
  asio::steady_timer timer_{context_};
  std::array<char, 4096> chunk_{};
  std::string question_, answer_;
  ino_t inode_ = 0;
  std::thread thread_;
};

base::Status prepare_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), failed);
  if (!failed && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) failed = {errno, std::generic_category()};
  if (failed)
    return base::make_error(base::Code::kUnavailable, base::format("cannot make {}: {}", folder, failed.message()));
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
    return base::make_error(base::Code::kInvalid, base::format("{} is not a folder", folder));
  // A volume of a pod belongs to root and lets the group write; elsewhere a folder of somebody else is a trap.
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
    return base::make_error(base::Code::kForbidden, base::format("{} belongs to user {}", folder, facts.st_uid));
  return {};
}

bool somebody_answers(const std::string& path) {
  asio::io_context context;
  Protocol::socket socket(context);
  ErrorCode error;
  socket.connect(Protocol::endpoint(path), error);
  return !error;
}

}  // namespace

base::Result<std::unique_ptr<LocalServer>> listen_locally(const std::string& path, LocalServer::Handler handler) {
  if (path.size() > kPathBytesMax)
    return base::make_error(base::Code::kInvalid,
                            base::format("{} is longer than the {} bytes of a socket's path", path, kPathBytesMax));
  TRY_VOID(prepare_folder(std::filesystem::path(path).parent_path().string()));
  if (somebody_answers(path))
    return base::make_error(base::Code::kAlreadyExists, base::format("another process answers at {}", path));
  ::unlink(path.c_str());
  auto server = std::make_unique<Server>(path, std::move(handler));
  TRY_VOID(server->listen());
  return std::unique_ptr<LocalServer>(std::move(server));
}

}  // namespace rt
