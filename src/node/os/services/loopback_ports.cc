// One thread that moves bytes between pairs of sockets.
#include "node/os/services/loopback_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <thread>

#include "base/format.h"
#include "base/log.h"
#include "rt/files/rooted_files.h"

namespace node {

namespace {

constexpr std::size_t kPairsMax = 1024;
constexpr int kDescriptorsPause = 50;  // ms
constexpr std::size_t kPiece = std::size_t{64} << 10;

sockaddr_in place_of(const std::string& ip, std::uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  ::inet_pton(AF_INET, ip.c_str(), &place.sin_addr);
  return place;
}

rt::Descriptor new_socket() { return rt::Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

// Bytes on their way from one socket to the other.
struct Flow {
  std::string waiting;
  bool ended = false;  // nothing more comes
  bool shut = false;   // and the other side knows
};

// A client and the connection that was made for it.
struct Pair {
  std::array<rt::Descriptor, 2> ends;
  std::array<Flow, 2> from;  // by the end that they come from
  std::array<std::uint32_t, 2> wanted = {0, 0};
  bool connected = false;
  std::uint64_t moved = 0;  // the number of the last move in which it had a part

  // False when the pair is over.
  bool receive(std::size_t end) {
    Flow& flow = from[end];
    if (flow.ended || flow.waiting.size() >= kPiece) return true;
    char buffer[kPiece];
    const ssize_t got = ::recv(ends[end].get(), buffer, kPiece - flow.waiting.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) flow.ended = true;
    flow.waiting.append(buffer, static_cast<std::size_t>(got));
    return true;
  }
  bool send_on(std::size_t end) {
    Flow& flow = from[end];
    const int other = ends[1 - end].get();
    if (!flow.waiting.empty()) {
      const ssize_t put = ::send(other, flow.waiting.data(), flow.waiting.size(), MSG_NOSIGNAL);
      if (put < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (put > 0) flow.waiting.erase(0, static_cast<std::size_t>(put));
    }
    if (flow.ended && flow.waiting.empty() && !std::exchange(flow.shut, true)) ::shutdown(other, SHUT_WR);
    return true;
  }
  std::uint32_t events_of(std::size_t end) const {
    std::uint32_t events = 0;
    if (!from[end].ended && from[end].waiting.size() < kPiece) events |= EPOLLIN;
    if (!from[1 - end].waiting.empty() || (end == 1 && !connected)) events |= EPOLLOUT;
    return events;
  }
  bool is_over() const { return from[0].shut && from[1].shut; }
};

}  // namespace

class LoopbackPorts::Relay {
 public:
  explicit Relay(std::string through)
      : through_(std::move(through)),
        poll_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    watch(EPOLL_CTL_ADD, wake_.get(), EPOLLIN);
    thread_ = std::thread([this] { run(); });
  }
  ~Relay() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake();
    thread_.join();
  }
  void set(std::set<std::uint16_t> ports) {
    {
      const std::lock_guard lock(mutex_);
      wanted_ = std::move(ports);
    }
    wake();
  }

 private:
  void wake() const {
    const std::uint64_t one = 1;
    if (::write(wake_.get(), &one, sizeof one) < 0) return;  // it is awake
  }
  void watch(int change, int fd, std::uint32_t events) const {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    ::epoll_ctl(poll_.get(), change, fd, &event);
  }

  void run() {
    for (;;) {
      std::array<epoll_event, 64> events;
      const int count = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == wake_.get()) {
          if (!follow_requests()) return;
        } else if (const auto listener = listeners_.find(fd); listener != listeners_.end()) {
          accept_from(fd, listener->second.second);
        } else {
          move_bytes(fd, events[static_cast<std::size_t>(i)].events);
        }
      }
    }
  }

  // False at the end.
  bool follow_requests() {
    std::uint64_t count = 0;
    while (::read(wake_.get(), &count, sizeof count) > 0) {
    }
    std::set<std::uint16_t> wanted;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return false;
      wanted = wanted_;
    }
    std::erase_if(listeners_, [&](const auto& one) { return !wanted.contains(one.second.second); });
    for (const auto& [fd, one] : listeners_) wanted.erase(one.second);
    for (const std::uint16_t port : wanted) listen_on(port);
    return true;
  }

  void listen_on(std::uint16_t port) {
    rt::Descriptor socket = new_socket();
    const sockaddr_in place = place_of("127.0.0.1", port);
    const int yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
        ::listen(socket.get(), 128) != 0) {
      base::log_debug("node", base::format("port {} of the loopback is another program's", port));
      return;
    }
    const int fd = socket.get();
    watch(EPOLL_CTL_ADD, fd, EPOLLIN);
    listeners_.emplace(fd, std::pair(std::move(socket), port));
  }

  void accept_from(int listener, std::uint16_t port) {
    rt::Descriptor client(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client.is_open()) {
      // The client still waits, and would wake this thread at once, for as long as there are no descriptors.
      if (errno == EMFILE || errno == ENFILE) ::poll(nullptr, 0, kDescriptorsPause);
      return;
    }
    if (pairs_.size() / 2 >= kPairsMax) end_quietest_pair();
    auto pair = std::make_shared<Pair>();
    pair->ends = {std::move(client), new_socket()};
    const sockaddr_in place = place_of(through_, port);
    const int begun = ::connect(pair->ends[1].get(), reinterpret_cast<const sockaddr*>(&place), sizeof place);
    if (begun != 0 && errno != EINPROGRESS) return;
    for (std::size_t end = 0; end < 2; ++end) {
      pairs_[pair->ends[end].get()] = pair;
      watch_end(*pair, end);
    }
    pair->moved = ++moves_;
  }

  void move_bytes(int fd, std::uint32_t events) {
    const auto found = pairs_.find(fd);
    if (found == pairs_.end()) return;  // it ended a moment ago
    const std::shared_ptr<Pair> pair = found->second;
    const std::size_t end = pair->ends[0].get() == fd ? 0 : 1;
    if (end == 1 && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) pair->connected = true;
    const bool broken = (events & EPOLLERR) != 0;
    const bool received = !broken && ((events & (EPOLLIN | EPOLLHUP)) == 0 || pair->receive(end));
    const bool goes_on = received && (!pair->connected || (pair->send_on(0) && pair->send_on(1)));
    if (!goes_on || pair->is_over()) return end_pair(*pair);
    pair->moved = ++moves_;
    for (std::size_t i = 0; i < 2; ++i) watch_end(*pair, i);
  }

  // An end from which nothing is wanted is not watched at all: one whose peer has gone would wake this thread again and
  // again, until the other end has read what is left.
  void watch_end(Pair& pair, std::size_t end) const {
    const std::uint32_t wanted = pair.events_of(end), before = std::exchange(pair.wanted[end], wanted);
    if (wanted == before) return;
    watch(wanted == 0 ? EPOLL_CTL_DEL : before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, pair.ends[end].get(), wanted);
  }

  // Connections that say nothing must not keep others out.
  void end_quietest_pair() {
    const auto quietest = std::ranges::min_element(pairs_, {}, [](const auto& one) { return one.second->moved; });
    const std::shared_ptr<Pair> pair = quietest->second;
    end_pair(*pair);
  }

  void end_pair(const Pair& pair) {
    for (const rt::Descriptor& end : pair.ends) pairs_.erase(end.get());
  }

  const std::string through_;
  const rt::Descriptor poll_, wake_;
  std::mutex mutex_;  // guards the next two
  std::set<std::uint16_t> wanted_;
  bool closing_ = false;
  // The thread has the rest.
  std::map<int, std::pair<rt::Descriptor, std::uint16_t>> listeners_;  // by descriptor; with their ports
  std::map<int, std::shared_ptr<Pair>> pairs_;                         // by each of their descriptors
  std::uint64_t moves_ = 0;
  std::thread thread_;
};

LoopbackPorts::LoopbackPorts(std::string through) : relay_(std::make_unique<Relay>(std::move(through))) {}
LoopbackPorts::~LoopbackPorts() = default;
void LoopbackPorts::set(std::set<std::uint16_t> ports) { relay_->set(std::move(ports)); }

}  // namespace node
