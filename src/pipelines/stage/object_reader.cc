// The store is whatever a ConfigMap of the namespace names: this program asks no address that is its own machine's, and
// gives the bytes of an object that the store has, and of errors their codes alone.
#include "pipelines/stage/object_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/number.h"
#include "pipelines/stage/object_list.h"
#include "rt/files/tar.h"
#include "rt/http/client/http_client.h"
#include "rt/http/client/open_address.h"

namespace pipelines {

using base::Code;
using base::make_error;

namespace {

constexpr int kReadsMax = 4;
constexpr base::Duration kPatience = base::seconds(30);
constexpr std::size_t kErrorMax = std::size_t{64} << 10;
constexpr std::size_t kFilesMax = 1000;                       // of a folder
constexpr base::Duration kFolderPatience = base::minutes(2);  // for all its requests, of which each is a store's answer

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

std::string name_of(const ObjectPlace& place) {
  return base::format("{}/{} of the store {}", place.bucket, place.key, place.store.host);
}

base::Error refusal(const ObjectPlace& place, const rt::HttpResponse& answer) {
  const Code code = answer.status == 403   ? Code::kForbidden
                    : answer.status == 404 ? Code::kNotFound
                                           : Code::kUnavailable;
  return make_error(code,
                    base::format("{}: the store answers {}{}", name_of(place), answer.status, code_in(answer.body)));
}

base::Error too_large(const ObjectPlace& place, std::size_t bytes) {
  return make_error(Code::kTooLarge, base::format("{} has {} bytes, and {} at most are read here: read it where it is",
                                                  name_of(place), bytes, kObjectMax));
}

std::size_t most_bytes(const StoredObject& object) {
  return object.bytes_max > 0 ? std::min(object.bytes_max, kObjectMax) : kObjectMax;
}

base::Result<StoredBytes> bytes_of(const StoredObject& object, rt::HttpResponse answer) {
  // An empty object has no first byte.
  if (answer.status == 416) return StoredBytes{};
  if (answer.status != 200 && answer.status != 206) return refusal(object.place, answer);
  const std::size_t size = whole_size(answer);
  if (object.bytes_max == 0 && size > kObjectMax) return too_large(object.place, size);
  if (answer.body.size() > most_bytes(object)) answer.body.resize(most_bytes(object));
  return StoredBytes{std::move(answer.body), size};
}

// The way of one read: the object, or, where there is none, the objects below it as a tar, as the volume's folders are.
class Reading : public std::enable_shared_from_this<Reading> {
 public:
  using Done = std::function<void(base::Result<StoredBytes>)>;

  Reading(rt::Env& env, StoredObject object, Done done)
      : env_(env), object_(std::move(object)), folder_(name_of(object_.place), kObjectMax), done_(std::move(done)) {
    object_.place.key.resize(object_.place.key.find_last_not_of('/') + 1);
  }

  // `address`: of the store.
  void begin(const base::Result<std::string>& address) {
    if (!address.ok()) return end(address.error());
    const Store& store = object_.place.store;
    rt::ClientOptions options{.host = *address, .tls = store.tls};
    options.port = base::parse_number<std::uint16_t>(store.port).value_or(0);
    options.server_name = host_of(object_.place);
    options.offer_http2 = false;
    options.timeout = kPatience;
    options.answer_bytes_max = kObjectMax + kErrorMax;
    auto made = env_.http_client(std::move(options));
    if (!made.ok()) return end(made.error());
    http_ = *std::move(made);
    if (object_.place.key.empty()) return list("");
    send(signed_get(object_.place, object_.keys, env_.now(), most_bytes(object_)), [this](rt::HttpResponse answer) {
      const bool is_absent = answer.status == 404 && code_in(answer.body) != " NoSuchBucket";
      is_absent ? list("") : end(bytes_of(object_, std::move(answer)));
    });
  }

 private:
  // A store that answers slowly, or with pages without an end, holds a place that others wait for.
  void send(rt::HttpRequest request, std::function<void(rt::HttpResponse)> then) {
    if (env_.uptime() - begun_ > kFolderPatience)
      return end(make_error(Code::kTimeout, base::format("{} was not read within {}", name_of(object_.place),
                                                         base::format_go_duration(kFolderPatience))));
    http_->send(std::move(request),
                [self = shared_from_this(), then = std::move(then)](base::Result<rt::HttpResponse> answer) {
                  if (answer.ok()) return then(*std::move(answer));
                  self->end(make_error(Code::kUnavailable, base::format("the store: {}", answer.error().message)));
                });
  }

  void end(base::Result<StoredBytes> bytes) {
    env_.loop().post([http = std::exchange(http_, nullptr)] {});  // it calls us right now
    std::exchange(done_, {})(std::move(bytes));
  }

  void list(const std::string& token) {
    ObjectPlace below = object_.place;
    if (!below.key.empty()) below.key += '/';
    send(signed_list(below, object_.keys, env_.now(), token), [this, prefix = below.key](rt::HttpResponse answer) {
      if (answer.status != 200) return end(refusal(object_.place, answer));
      auto page = read_object_page(answer.body, prefix);
      if (!page.ok()) return end(make_error(page.error().code, name_of(object_.place) + ": " + page.error().message));
      std::ranges::move(page->objects, std::back_inserter(files_));
      if (files_.size() > kFilesMax)
        return end(make_error(Code::kTooLarge, base::format("{} has more than {} files, and no more are read here: "
                                                            "read them where they are",
                                                            name_of(object_.place), kFilesMax)));
      if (!page->next.empty()) return list(page->next);
      begin_folder();
    });
  }

  void begin_folder() {
    if (files_.empty())
      return end(make_error(Code::kNotFound,
                            base::format("there is no object {}, and none below it", name_of(object_.place))));
    if (object_.bytes_max > 0)
      return end(
          make_error(Code::kInvalid, base::format("{} is a folder, and is read as a whole", name_of(object_.place))));
    std::size_t size = 0;
    for (const ListedObject& one : files_) size += std::min(one.size, kObjectMax + 1);
    if (size > kObjectMax) return end(too_large(object_.place, size));
    add_file(0);
  }

  void add_file(std::size_t at) {
    if (at == files_.size()) {
      std::string tar = folder_.take();
      const std::size_t size = tar.size();
      return end(StoredBytes{std::move(tar), size, true});
    }
    StoredObject file = object_;
    file.place.key += (file.place.key.empty() ? "" : "/") + files_[at].name;
    send(signed_get(file.place, file.keys, env_.now(), kObjectMax), [this, at, file](rt::HttpResponse answer) {
      if (answer.status == 404) return add_file(at + 1);  // gone meanwhile
      auto bytes = bytes_of(file, std::move(answer));
      if (!bytes.ok()) return end(bytes.error());
      const base::Status added = folder_.add({.name = files_[at].name, .modified = files_[at].modified}, bytes->bytes);
      added.ok() ? add_file(at + 1) : end(added.error());
    });
  }

  rt::Env& env_;
  const base::Duration begun_ = env_.uptime();
  StoredObject object_;
  std::shared_ptr<rt::HttpClient> http_;
  std::vector<ListedObject> files_;
  rt::Tar folder_;
  Done done_;
};

}  // namespace

void ObjectReader::read(const StoredObject& object, std::function<void(base::Result<StoredBytes>)> done) {
  if (*under_way_ >= kReadsMax)
    return done(
        make_error(Code::kTooManyRequests, base::format("{} artifacts are read from stores already", *under_way_)));
  ++*under_way_;
  const auto reading = std::make_shared<Reading>(
      env_, object, [under_way = under_way_, done = std::move(done)](base::Result<StoredBytes> bytes) {
        --*under_way;
        done(std::move(bytes));
      });
  const auto address = std::make_shared<base::Result<std::string>>(std::string());
  env_.offload([address, host = host_of(object.place)] { *address = rt::open_address(host); },
               [alive = std::weak_ptr<int>(under_way_), address, reading] {
                 if (!alive.expired()) reading->begin(*address);
               });
}

}  // namespace pipelines
