// The store is whatever a ConfigMap of the namespace names: this program asks no address that is its own machine's, and
// gives the bytes of an object that the store has, and of errors their codes alone.
#include "pipelines/stage/object_reader.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/number.h"
#include "rt/http/client/http_client.h"
#include "rt/http/client/open_address.h"

namespace pipelines {

using base::Code;
using base::make_error;

namespace {

constexpr int kReadsMax = 4;
constexpr base::Duration kPatience = base::seconds(30);
constexpr std::size_t kErrorMax = std::size_t{64} << 10;

// The code of an error's document, a word.
std::string code_in(std::string_view body) {
  const std::size_t begin = body.find("<Code>"), end = body.find("</Code>");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  const std::string_view code = body.substr(begin + 6, std::min<std::size_t>(end - begin - 6, 64));
  const auto is_letter = [](char one) { return (one | 0x20) >= 'a' && (one | 0x20) <= 'z'; };
  return std::ranges::all_of(code, is_letter) ? " " + std::string(code) : std::string();
}

// "bytes 0-9/100": 100.
std::size_t whole_size(const rt::HttpResponse& answer) {
  const std::string_view range = rt::header(answer.headers, "Content-Range");
  const std::size_t slash = range.rfind('/');
  const auto size =
      slash == std::string_view::npos ? std::nullopt : base::parse_number<std::size_t>(range.substr(slash + 1));
  return std::max(size.value_or(0), answer.body.size());
}

base::Result<StoredBytes> bytes_of(const StoredObject& object, rt::HttpResponse answer) {
  const std::string where =
      base::format("{}/{} of the store {}", object.place.bucket, object.place.key, object.place.store.host);
  // An empty object has no first byte.
  if (answer.status == 416) return StoredBytes{};
  if (answer.status == 404)
    return make_error(Code::kNotFound, base::format("there is no object {}; several files of one artifact are read "
                                                    "where they are",
                                                    where));
  if (answer.status != 200 && answer.status != 206)
    return make_error(answer.status == 403 ? Code::kForbidden : Code::kUnavailable,
                      base::format("{}: the store answers {}{}", where, answer.status, code_in(answer.body)));
  const std::size_t size = whole_size(answer);
  const std::size_t most = object.bytes_max > 0 ? std::min(object.bytes_max, kObjectMax) : kObjectMax;
  if (object.bytes_max == 0 && size > kObjectMax)
    return make_error(
        Code::kTooLarge,
        base::format("{} has {} bytes, and {} at most are read here: read it where it is", where, size, kObjectMax));
  if (answer.body.size() > most) answer.body.resize(most);
  return StoredBytes{std::move(answer.body), size};
}

}  // namespace

void ObjectReader::read(const StoredObject& object, std::function<void(base::Result<StoredBytes>)> done) {
  if (*under_way_ >= kReadsMax)
    return done(
        make_error(Code::kTooManyRequests, base::format("{} artifacts are read from stores already", *under_way_)));
  ++*under_way_;
  const auto finish = [under_way = under_way_, done = std::move(done)](base::Result<StoredBytes> bytes) {
    --*under_way;
    done(std::move(bytes));
  };
  const auto address = std::make_shared<base::Result<std::string>>(std::string());
  env_.offload([address, host = host_of(object.place)] { *address = rt::open_address(host); },
               [this, alive = std::weak_ptr<int>(under_way_), address, object, finish] {
                 if (alive.expired()) return;
                 if (!address->ok()) return finish(address->error());
                 const Store& store = object.place.store;
                 rt::ClientOptions options{.host = **address, .tls = store.tls};
                 options.port = base::parse_number<std::uint16_t>(store.port).value_or(0);
                 options.server_name = host_of(object.place);
                 options.offer_http2 = false;
                 options.timeout = kPatience;
                 options.answer_bytes_max = kObjectMax + kErrorMax;
                 auto made = env_.http_client(std::move(options));
                 if (!made.ok()) return finish(made.error());
                 const std::shared_ptr<rt::HttpClient> http = *std::move(made);
                 const std::size_t most = object.bytes_max > 0 ? std::min(object.bytes_max, kObjectMax) : kObjectMax;
                 http->send(signed_get(object.place, object.keys, env_.now(), most),
                            [&loop = env_.loop(), http, object, finish](base::Result<rt::HttpResponse> answer) {
                              loop.post([http] {});  // it calls us right now
                              if (!answer.ok())
                                return finish(make_error(Code::kUnavailable,
                                                         base::format("the store: {}", answer.error().message)));
                              finish(bytes_of(object, *std::move(answer)));
                            });
               });
}

}  // namespace pipelines
