// Netlink: messages and their attributes as bytes, and a socket that exchanges them with the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rt/files/rooted_files.h"

namespace colocation {

// Messages, one after the other; attributes belong to the message that was begun last.
class NetlinkMessages {
 public:
  // `header` is what the protocol has between the general header and the attributes. NLM_F_REQUEST is among the flags.
  void begin(std::uint16_t type, std::uint16_t flags, std::string_view header);
  void add_text(std::uint16_t type, std::string_view text);
  void add_native(std::uint16_t type, std::uint32_t value);  // in the byte order of the machine
  void add_number(std::uint16_t type, std::uint32_t value);  // in that of networks
  void add_number64(std::uint16_t type, std::uint64_t value);
  // A nest of attributes, up to end_nest() with what this gives.
  std::size_t begin_nest(std::uint16_t type);
  void end_nest(std::size_t nest);
  // The kernel acknowledges this message, too; errors it reports in any case.
  void request_acknowledgement();

  const std::string& bytes() const { return bytes_; }
  std::uint32_t last_sequence() const { return sequence_; }

 private:
  void add(std::uint16_t type, std::string_view value);
  void set_size(std::size_t at);

  std::string bytes_;
  std::size_t message_ = 0;  // where the message begins that attributes go to
  std::uint32_t sequence_ = 0;
};

// The attributes of a message or nest by type; bytes that are none end the list.
using NetlinkAttributes = std::map<std::uint16_t, std::string_view>;
NetlinkAttributes netlink_attributes(std::string_view bytes);
// An attribute as a text or a number; empty or 0 where it is missing or of another size.
std::string_view netlink_text(const NetlinkAttributes& attributes, std::uint16_t type);
std::uint32_t netlink_native(const NetlinkAttributes& attributes, std::uint16_t type);
std::uint64_t netlink_number64(const NetlinkAttributes& attributes, std::uint16_t type);

struct NetlinkAnswer {
  std::uint16_t type = 0;
  std::string payload;  // behind the general header
};

// One user at a time; each call waits for the kernel alone.
class NetlinkSocket {
 public:
  // `protocol`: NETLINK_ROUTE and its like.
  static base::Result<NetlinkSocket> open(int protocol);
  // The answers of the kernel, without acknowledgements. The first error among the answers is the result: kNotFound,
  // kForbidden, or kUnavailable.
  base::Result<std::vector<NetlinkAnswer>> exchange(const NetlinkMessages& messages);

 private:
  explicit NetlinkSocket(int fd) : socket_(fd) {}
  base::Status send(const std::string& bytes);
  rt::Descriptor socket_;
};

}  // namespace colocation
