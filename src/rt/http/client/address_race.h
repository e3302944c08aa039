// Which of several addresses of a server connects first? (RFC 8305, in its simple form.)
//
// The next address is tried when one has failed, or when the one before has not answered for a moment: one that drops
// packets then costs that moment, not the whole time of a request. Earlier attempts go on meanwhile, and the first that
// connects wins.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace rt {

// The order in which they are tried: the families take turns, that of the first address first.
std::vector<boost::asio::ip::tcp::endpoint> in_turns(const std::vector<boost::asio::ip::tcp::endpoint>& addresses);

// Everything happens on the thread that runs the context.
class AddressRace : public std::enable_shared_from_this<AddressRace> {
 public:
  using Tcp = boost::asio::ip::tcp;
  struct End {
    Tcp::socket socket;
    boost::system::error_code failure;  // of the address that failed first
    Tcp::endpoint at;                   // the winner, or who failed first
  };
  using Done = std::function<void(End)>;

  // `addresses` has at least one.
  AddressRace(boost::asio::io_context& context, std::vector<Tcp::endpoint> addresses, Done done);

  // `done` is called once, later. A race under way holds itself.
  void start();
  // Then `done` hears of a failure.
  void cancel();

 private:
  using ErrorCode = boost::system::error_code;

  void try_next();
  void answered(std::size_t which, ErrorCode error);
  void close_all();
  void end(End end);

  boost::asio::io_context& context_;
  const std::vector<Tcp::endpoint> addresses_;
  Done done_;  // null: it has ended
  boost::asio::steady_timer patience_;
  std::deque<Tcp::socket> tried_;  // by address, as far as was got
  std::size_t under_way_ = 0;
  ErrorCode failure_;
  Tcp::endpoint failed_;
  bool cancelled_ = false;
};

}  // namespace rt
