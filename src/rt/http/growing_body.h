// A body of a message as Beast's string_body has it, but that holds what has come and not what was announced: a length
// of 4·10^18 bytes in a header would be memory that nobody has, and the end of the process.
#pragma once

#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

namespace rt {

struct GrowingBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool request, class Fields>
    reader(boost::beast::http::header<request, Fields>&, std::string& body) : body_(body) {}

    void init(const boost::optional<std::uint64_t>&, boost::system::error_code& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
      error = {};
      const std::size_t before = body_.size();
      for (const auto piece : boost::beast::buffers_range_ref(buffers))
        body_.append(static_cast<const char*>(piece.data()), piece.size());
      return body_.size() - before;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    std::string& body_;
  };
};

}  // namespace rt
