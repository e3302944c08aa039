// Objects and folders of a store that answers as a test says.
#include "pipelines/stage/object_reader.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/fake_env_for_tests.h"
#include "rt/http/client/http_client.h"

namespace pipelines {
namespace {

using Answer = std::function<rt::HttpResponse(const std::string& target)>;

// Answers come after `delay`.
class StoreClient final : public rt::HttpClient {
 public:
  StoreClient(rt::Loop& loop, Answer answer, base::Duration delay)
      : loop_(loop), answer_(std::move(answer)), delay_(delay) {}
  void send(rt::HttpRequest request, OnResponse on_response) override {
    loop_.after(delay_, [answer = answer_(request.target), on_response] { on_response(answer); });
  }
  std::unique_ptr<rt::HttpStream> stream(rt::HttpRequest, StreamCallbacks) override { return nullptr; }
  void connect(std::function<void(base::Status)> on_connected) override { on_connected({}); }

 private:
  rt::Loop& loop_;
  Answer answer_;
  base::Duration delay_;
};

class StoreEnv final : public client::testing::FakeEnv {
 public:
  base::Result<std::unique_ptr<rt::HttpClient>> http_client(rt::ClientOptions) override {
    return std::unique_ptr<rt::HttpClient>(std::make_unique<StoreClient>(loop(), answer, delay));
  }
  Answer answer;
  base::Duration delay = base::milliseconds(1);
};

// Reads the artifact bucket/t of the store.
base::Result<StoredBytes> read(StoreEnv& env, std::size_t bytes_max = 0) {
  ObjectReader reader(env);
  StoredObject object{.place = {.bucket = "bucket", .key = "t"}, .bytes_max = bytes_max};
  object.place.store.host = "203.0.113.1";
  base::Result<StoredBytes> out = base::make_error(base::Code::kUnavailable, "no answer");
  reader.read(object, [&out](base::Result<StoredBytes> bytes) { out = std::move(bytes); });
  env.run_for(base::minutes(10));
  return out;
}

rt::HttpResponse absent() { return {.status = 404, .body = "<Error><Code>NoSuchKey</Code></Error>"}; }

rt::HttpResponse list(const std::string& content) {
  return {.status = 200, .body = base::format("<ListBucketResult>{}</ListBucketResult>", content)};
}

std::string listed(std::string_view key, std::size_t size = 1) {
  return base::format("<Contents><Key>t/{}</Key><Size>{}</Size></Contents>", key, size);
}

TEST(ObjectReader, AFolderIsATarOfAllItsPages) {
  StoreEnv env;
  env.answer = [](const std::string& target) -> rt::HttpResponse {
    if (target == "/bucket/t") return absent();
    if (target == "/bucket?list-type=2&prefix=t%2F")
      return list(listed("a") + "<NextContinuationToken>next</NextContinuationToken>");
    if (target == "/bucket?continuation-token=next&list-type=2&prefix=t%2F")
      return list(listed("b/c") + listed("gone"));
    if (target == "/bucket/t/a") return {.status = 206, .body = "first"};
    if (target == "/bucket/t/b/c") return {.status = 200, .body = "second"};
    return absent();
  };
  const auto folder = read(env);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_TRUE(folder->is_folder);
  EXPECT_EQ(folder->size, folder->bytes.size());
  EXPECT_EQ(folder->bytes.size(), 6U * 512);  // two headers, two blocks, two that end it
  EXPECT_EQ(folder->bytes.substr(0, 2), std::string("a\0", 2));
  EXPECT_EQ(folder->bytes.substr(512, 5), "first");
  EXPECT_EQ(folder->bytes.substr(1024, 3), "b/c");
  EXPECT_EQ(folder->bytes.substr(1536, 6), "second");
  EXPECT_EQ(read(env, 10).error().code, base::Code::kInvalid) << "a folder has no first bytes";
}

struct Refused {
  Answer list;
  base::Code code;
  const char* text;
};

TEST(ObjectReader, FoldersThatCannotBeReadSayWhy) {
  std::string many;
  for (int i = 0; i < 1001; ++i) many += listed(base::format("{}", i));
  const Refused rows[] = {
      {[](const std::string&) { return list(""); }, base::Code::kNotFound, "and none below it"},
      {[&](const std::string&) { return list(many); }, base::Code::kTooLarge, "has more than 1000 files"},
      {[](const std::string&) { return list(listed("a", kObjectMax) + listed("b", SIZE_MAX)); }, base::Code::kTooLarge,
       "16777216 at most"},
      {[](const std::string&) { return list(listed("../a")); }, base::Code::kInvalid, "leads out of its folder"},
      {[](const std::string&) { return rt::HttpResponse{.status = 403, .body = "<Code>AccessDenied</Code>"}; },
       base::Code::kForbidden, "the store answers 403 AccessDenied"},
      {[](const std::string&) { return rt::HttpResponse{.status = 200, .body = "hello"}; }, base::Code::kUnavailable,
       "is not a list of objects"},
      // Pages without an end.
      {[](const std::string&) { return list("<NextContinuationToken>on</NextContinuationToken>"); },
       base::Code::kTimeout, "was not read within 2m0s"},
  };
  for (const Refused& row : rows) {
    StoreEnv env;
    env.delay = base::seconds(1);
    env.answer = [&row](const std::string& target) { return target == "/bucket/t" ? absent() : row.list(target); };
    const auto folder = read(env);
    ASSERT_FALSE(folder.ok()) << row.text;
    EXPECT_EQ(folder.error().code, row.code) << folder.error().message;
    EXPECT_NE(folder.error().message.find(row.text), std::string::npos) << folder.error().message;
  }
}

}  // namespace
}  // namespace pipelines
