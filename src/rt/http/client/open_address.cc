// A name is looked up once, and the connection is made to what was judged.
#include "rt/http/client/open_address.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/format.h"

namespace rt {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

bool is_open(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return is_open(asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()));
  if (address.is_loopback() || address.is_unspecified() || address.is_multicast()) return false;
  if (address.is_v6()) return !address.to_v6().is_link_local();
  const auto bytes = address.to_v4().to_bytes();
  return bytes[0] != 0 && bytes[0] != 127 && !(bytes[0] == 169 && bytes[1] == 254);
}

}  // namespace

base::Result<std::string> open_address(const std::string& host) {
  asio::io_context context;
  boost::system::error_code error;
  const auto found = Tcp::resolver(context).resolve(host, "", error);
  if (error)
    return base::make_error(base::Code::kUnavailable,
                            base::format("{}: cannot resolve the name: {}", host, error.message()));
  for (const auto& one : found)
    if (is_open(one.endpoint().address())) return one.endpoint().address().to_string();
  return base::make_error(base::Code::kForbidden,
                          base::format("{} is an address of the server's own machine, and not asked", host));
}

}  // namespace rt
