// How messages are laid out, sent and read.
#include "colocation/machine/netlink.h"

#include <arpa/inet.h>
#include <endian.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"

namespace colocation {

namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::size_t kAnswersMax = 65'536;

base::Error failure(const char* verb, int error) {
  const base::Code code = error == ENOENT || error == ENODEV || error == ESRCH ? base::Code::kNotFound
                          : error == EPERM || error == EACCES                  ? base::Code::kForbidden
                                                                               : base::Code::kUnavailable;
  return base::make_error(code, base::format("the kernel cannot {}: {}", verb, std::strerror(error)));
}

template <class Value>
std::string_view bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class Value>
bool read_value(std::string_view bytes, Value& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

std::size_t aligned(std::size_t size) { return (size + 3) / 4 * 4; }

// Takes the messages of one datagram. False: the last of them has come.
bool take_messages(std::string_view bytes, std::vector<NetlinkAnswer>& answers, int& error) {
  nlmsghdr header{};
  while (read_value(bytes, header) && header.nlmsg_len >= sizeof header && header.nlmsg_len <= bytes.size()) {
    const std::string_view payload = bytes.substr(sizeof header, header.nlmsg_len - sizeof header);
    if (header.nlmsg_type == NLMSG_DONE) return false;
    if (header.nlmsg_type == NLMSG_ERROR) {
      int code = 0;
      if (!read_value(payload, code)) code = -EPROTO;
      if (code != 0 && error == 0) error = -code;
    } else if (answers.size() < kAnswersMax) {
      answers.push_back({header.nlmsg_type, std::string(payload)});
    }
    bytes.remove_prefix(std::min(aligned(header.nlmsg_len), bytes.size()));
  }
  return true;
}

}  // namespace

void NetlinkMessages::begin(std::uint16_t type, std::uint16_t flags, std::string_view header) {
  message_ = bytes_.size();
  nlmsghdr general{};
  general.nlmsg_type = type;
  general.nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST);
  general.nlmsg_seq = ++sequence_;
  bytes_ += bytes_of(general);
  bytes_ += header;
  bytes_.resize(aligned(bytes_.size()));
  set_size(message_);
}

void NetlinkMessages::set_size(std::size_t at) {
  const auto size = static_cast<std::uint32_t>(bytes_.size() - at);
  std::memcpy(bytes_.data() + at, &size, sizeof size);
}

void NetlinkMessages::add(std::uint16_t type, std::string_view value) {
  const nlattr head{static_cast<std::uint16_t>(sizeof(nlattr) + value.size()), type};
  bytes_ += bytes_of(head);
  bytes_ += value;
  bytes_.resize(aligned(bytes_.size()));
  set_size(message_);
}

void NetlinkMessages::add_text(std::uint16_t type, std::string_view text) { add(type, std::string(text) + '\0'); }
void NetlinkMessages::add_native(std::uint16_t type, std::uint32_t value) { add(type, bytes_of(value)); }
void NetlinkMessages::add_number(std::uint16_t type, std::uint32_t value) { add_native(type, htonl(value)); }
void NetlinkMessages::add_number64(std::uint16_t type, std::uint64_t value) {
  const std::uint64_t ordered = htobe64(value);
  add(type, bytes_of(ordered));
}

std::size_t NetlinkMessages::begin_nest(std::uint16_t type) {
  const std::size_t at = bytes_.size();
  add(static_cast<std::uint16_t>(type | NLA_F_NESTED), {});
  return at;
}

void NetlinkMessages::end_nest(std::size_t nest) {
  const auto size = static_cast<std::uint16_t>(bytes_.size() - nest);
  std::memcpy(bytes_.data() + nest, &size, sizeof size);
}

void NetlinkMessages::request_acknowledgement() {
  nlmsghdr general{};
  std::memcpy(&general, bytes_.data() + message_, sizeof general);
  general.nlmsg_flags |= NLM_F_ACK;
  std::memcpy(bytes_.data() + message_, &general, sizeof general);
}

NetlinkAttributes netlink_attributes(std::string_view bytes) {
  NetlinkAttributes all;
  nlattr head{};
  while (read_value(bytes, head) && head.nla_len >= sizeof head && head.nla_len <= bytes.size()) {
    all[head.nla_type & NLA_TYPE_MASK] = bytes.substr(sizeof head, head.nla_len - sizeof head);
    bytes.remove_prefix(std::min(aligned(head.nla_len), bytes.size()));
  }
  return all;
}

std::string_view netlink_text(const NetlinkAttributes& attributes, std::uint16_t type) {
  const auto found = attributes.find(type);
  return found == attributes.end() ? std::string_view() : found->second.substr(0, found->second.find('\0'));
}

std::uint32_t netlink_native(const NetlinkAttributes& attributes, std::uint16_t type) {
  const auto found = attributes.find(type);
  std::uint32_t value = 0;
  return found != attributes.end() && read_value(found->second, value) ? value : 0;
}

std::uint64_t netlink_number64(const NetlinkAttributes& attributes, std::uint16_t type) {
  const auto found = attributes.find(type);
  std::uint64_t value = 0;
  return found != attributes.end() && read_value(found->second, value) ? be64toh(value) : 0;
}

base::Result<NetlinkSocket> NetlinkSocket::open(int protocol) {
  NetlinkSocket made(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!made.socket_.is_open()) return failure("be asked by netlink", errno);
  return made;
}

base::Status NetlinkSocket::send(const std::string& bytes) {
  // One transaction is one datagram.
  const int room = static_cast<int>(std::min<std::size_t>(2 * bytes.size() + kReadBytes, std::size_t{64} << 20));
  (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const ssize_t sent =
      ::sendto(socket_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel);
  if (sent == static_cast<ssize_t>(bytes.size())) return {};
  return failure("take a message", sent < 0 ? errno : EMSGSIZE);
}

base::Result<std::vector<NetlinkAnswer>> NetlinkSocket::exchange(const NetlinkMessages& messages) {
  TRY_VOID(send(messages.bytes()));
  std::vector<NetlinkAnswer> answers;
  std::vector<char> block(kReadBytes);
  int error = 0;
  bool any = false;
  // The kernel has answered when send() returns; the rest of a long list comes as it is read.
  while (true) {
    const ssize_t got = ::recv(socket_.get(), block.data(), block.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EAGAIN) error = error == 0 ? errno : error;
    if (got <= 0) break;
    any = true;
    const auto size = static_cast<std::size_t>(got);
    if (size > block.size()) error = error == 0 ? EMSGSIZE : error;
    if (!take_messages({block.data(), std::min(size, block.size())}, answers, error)) break;
  }
  if (error == 0 && !any) error = EPROTO;
  if (error != 0) return failure("do what was asked", error);
  return answers;
}

}  // namespace colocation
