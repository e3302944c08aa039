// Requests and answers as they look on the wire; kubeconfigs.
#include "client/http/wire.h"

#include <gtest/gtest.h>

#include "api/protobuf/protobuf.h"
#include "base/format.h"
#include "client/http/kubeconfig.h"
#include "rt/files/files.h"

namespace client {
namespace {

using api::Json;

std::string header_of(const rt::HttpRequest& request, std::string_view name) {
  return std::string(rt::header(request.headers, name));
}

TEST(Wire, EncodesVerbsPathsAndQueries) {
  Request list{
      .verb = Verb::kList, .resource = api::resources::kPods, .ns = "a", .label_selector = "x=y,z", .limit = 500};
  EXPECT_EQ(encode_request(list, "m").target, "/api/v1/namespaces/a/pods?labelSelector=x%3Dy%2Cz&limit=500");
  Request create{
      .verb = Verb::kCreate, .resource = api::resources::kJobs, .ns = "a", .name = "ignored", .body = Json::object()};
  EXPECT_EQ(encode_request(create, "m").target, "/apis/batch.volcano.sh/v1alpha1/namespaces/a/jobs?fieldManager=m");
  EXPECT_EQ(encode_request(create, "m").method, "POST");
  Request bind{.verb = Verb::kCreate,
               .resource = api::resources::kPods,
               .ns = "a",
               .name = "p",
               .subresource = "binding",
               .body = Json::object()};
  EXPECT_EQ(encode_request(bind, "m").target, "/api/v1/namespaces/a/pods/p/binding?fieldManager=m");
  Request apply{.verb = Verb::kPatch,
                .resource = api::resources::kPods,
                .ns = "a",
                .name = "p",
                .body = Json::object(),
                .patch_type = PatchType::kApply,
                .force = true};
  EXPECT_EQ(encode_request(apply, "m").target, "/api/v1/namespaces/a/pods/p?fieldManager=m&force=true");
  EXPECT_EQ(header_of(encode_request(apply, "m"), "Content-Type"), "application/apply-patch+yaml");
  WatchRequest watch{.resource = api::resources::kQueues, .ns = "", .resource_version = "7"};
  EXPECT_EQ(encode_watch(watch, 300).target,
            "/apis/scheduling.volcano.sh/v1beta1/"
            "queues?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300");
}

TEST(Wire, ReadsStatusBodiesWithTheirCauses) {
  rt::HttpResponse response;
  response.status = 422;
  response.body = R"({"kind":"Status","status":"Failure","message":"Job is invalid","reason":"Invalid","code":422,
    "details":{"name":"j","group":"batch.volcano.sh","kind":"Job","causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec.tasks"}]}})";
  const auto result = decode_response(response);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, base::Code::kInvalid);
  EXPECT_EQ(result.error().message, "Job is invalid");
  ASSERT_EQ(result.error().causes.size(), 1u);
  EXPECT_EQ(result.error().causes[0].field, "spec.tasks");
  EXPECT_EQ(result.error().kind, "Job");
}

TEST(Wire, AnAnswerThatIsNoStatusStillHasACode) {
  rt::HttpResponse response;
  response.status = 503;
  response.body = "upstream is gone";
  EXPECT_EQ(decode_response(response).error().code, base::Code::kUnavailable);
}

TEST(Wire, the_pause_that_a_refusal_asks_for_is_read_whatever_its_body) {
  const std::string_view text = "Too many requests, please try again later.\n";
  const std::string_view status_text = R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":5}})";
  const std::string_view silent = R"({"kind":"Status","code":429})";
  struct Row {
    int status;
    std::string header;  // empty: there is none
    std::string_view body;
    int seconds;
  };
  const Row rows[] = {
      {429, "1", text, 1},
      {503, "2", text, 2},
      {503, "2", "", 2},
      {429, "1", silent, 1},
      {429, "1", status_text, 1},
      {429, "", status_text, 5},
      {429, "soon", status_text, 5},
      {429, "", text, 0},
      {429, "0", text, 0},
      {429, "-1", text, 0},
      {429, "-99999999999999999999", text, 0},
      {429, "99999999999", text, 2147483647},
      {429, "99999999999999999999", text, 2147483647},
      {429, "1.5", text, 0},
      {503, "Fri, 31 Dec 9999 23:59:59 GMT", text, 0},
      {409, "3", text, 0},
      {429, "", R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":-7}})", 0},
      {429, "", R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":99999999999}})", 2147483647},
  };
  for (const Row& row : rows) {
    rt::HttpResponse response{row.status, {}, std::string(row.body)};
    if (!row.header.empty()) response.headers.emplace_back("Retry-After", row.header);
    EXPECT_EQ(decode_response(response).error().retry_after_seconds, row.seconds) << row.header << " " << row.body;
  }
}

TEST(Wire, CutsWatchEventsWhereverTheBytesAreSplit) {
  const std::string stream =
      "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n"
      "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n"
      "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n";
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    WatchDecoder decoder;
    std::vector<WatchEvent> events;
    ASSERT_TRUE(decoder.feed(stream.substr(0, cut), events).ok());
    ASSERT_TRUE(decoder.feed(stream.substr(cut), events).ok());
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].type, EventType::kAdded);
    EXPECT_EQ(events[2].type, EventType::kDeleted);
  }
}

TEST(Wire, a_line_without_an_end_is_not_kept_for_ever) {
  WatchDecoder decoder;
  std::vector<WatchEvent> events;
  const std::string piece(std::size_t{1} << 20, 'x');
  base::Status fed;
  std::size_t pieces = 0;
  for (; fed.ok() && pieces < 100; ++pieces) fed = decoder.feed(piece, events);
  ASSERT_FALSE(fed.ok());
  EXPECT_EQ(fed.error().message, "watch event of 68157440 bytes, where 67108864 may be");
  EXPECT_EQ(pieces, 65u);
}

TEST(Wire, a_long_line_in_small_pieces_is_looked_through_once) {
  WatchDecoder decoder;
  std::vector<WatchEvent> events;
  ASSERT_TRUE(decoder.feed(R"({"type":"ADDED","object":{"metadata":{"name":")", events).ok());
  // Looked through from its begin each time, this is 2.5 TB of bytes.
  const std::string piece(512, 'x');
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(decoder.feed(piece, events).ok());
  ASSERT_TRUE(decoder.feed("\"}}}\n{\"type\":\"ADDED\",\"object\":{}}\n", events).ok());
  EXPECT_EQ(events.size(), 2u);
}

TEST(Wire, AnErrorEventEndsTheWatchWithItsCode) {
  WatchDecoder decoder;
  std::vector<WatchEvent> events;
  const base::Status status = decoder.feed(
      "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410,\"message\":\"too "
      "old\"}}\n",
      events);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, base::Code::kExpired);
}

TEST(Kubeconfig, ReadsTheCurrentContext) {
  const auto access = parse_kubeconfig(R"(
current-context: b
contexts:
- {name: a, context: {cluster: one, user: u}}
- {name: b, context: {cluster: two, user: u, namespace: team}}
clusters:
- {name: two, cluster: {server: "https://h:6443", certificate-authority-data: aGVsbG8=, tls-server-name: other}}
users:
- {name: u, user: {token: secret}}
)",
                                       "/");
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://h:6443");
  EXPECT_EQ(access->ca_pem, "hello");
  EXPECT_EQ(access->token, "secret");
  EXPECT_EQ(access->ns, "team");
  EXPECT_EQ(access->tls_server_name, "other");
}

TEST(Kubeconfig, SeveralFilesAreReadAsOneAndTheFirstOfANameCounts) {
  const std::string folder = ::testing::TempDir() + "kubeconfigs";
  ASSERT_TRUE(rt::make_folders(folder + "/b", 0700).ok());
  ASSERT_TRUE(rt::write_file(folder + "/a", R"(
contexts: [{name: x, context: {cluster: far, user: u}}]
clusters: [{name: near, cluster: {server: "https://a"}}]
)",
                             0600)
                  .ok());
  ASSERT_TRUE(rt::write_file(folder + "/b/config", R"(
current-context: x
contexts: [{name: x, context: {cluster: near, user: u}}]
clusters: [{name: near, cluster: {server: "https://b"}}, {name: far, cluster: {server: "https://c", certificate-authority: ca.crt}}]
users: [{name: u, user: {auth-provider: {name: oidc, config: {id-token: T}}}}]
)",
                             0600)
                  .ok());
  ASSERT_TRUE(rt::write_file(folder + "/b/ca.crt", "CA", 0600).ok());
  const auto access = load_kubeconfigs({folder + "/a", folder + "/b/config"});
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://c");
  EXPECT_EQ(access->ca_pem, "CA");
  EXPECT_EQ(access->token, "T");
}

TEST(Kubeconfig, AsksTheProgramThatGivesCredentials) {
  const auto config = [](std::string_view more) {
    return base::format(R"(
current-context: a
contexts: [{{name: a, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "https://h"}}}}]
users: [{{name: u, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, command: ./bin/get, args: [token],
  env: [{{name: A, value: b}}]{}}}}}}}]
)",
                        more);
  };
  CredentialProgram asked;
  std::string answer;
  const RunProgram run = [&](const CredentialProgram& program) -> base::Result<std::string> {
    asked = program;
    return answer;
  };
  struct Row {
    std::string_view more, answer, token, key, error;
  };
  const Row rows[] = {
      {"", R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "T"}})",
       "T", "", ""},
      {", provideClusterInfo: true", R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "status": {"clientCertificateData": "C", "clientKeyData": "K"}})",
       "", "K", ""},
      {"", R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1"})", "", "",
       "exec: ./bin/get gives neither a token nor a certificate"},
      {"", R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1"})", "", "",
       "exec: ./bin/get does not answer with an ExecCredential of client.authentication.k8s.io/v1"},
      {", interactiveMode: Always", "", "", "",
       "exec: programs that need a terminal (interactiveMode Always) are not supported"}};
  for (const Row& row : rows) {
    answer = row.answer;
    const auto access = parse_kubeconfig(config(row.more), "/home", {}, run);
    EXPECT_EQ(access.ok() ? "" : access.error().message, row.error);
    if (!access.ok()) continue;
    EXPECT_EQ(access->token, row.token);
    EXPECT_EQ(access->key_pem, row.key);
    EXPECT_EQ(asked.words, (std::vector<std::string>{"/home/./bin/get", "token"}));
    EXPECT_EQ(asked.environment[0], "A=b");
    EXPECT_EQ(asked.environment[1].find("\"cluster\":{\"server\":\"https://h\"}") != std::string::npos,
              !row.more.empty());
  }
  EXPECT_EQ(parse_kubeconfig(config(""), "/").error().message, "user credentials of kind \"exec\" are not supported");
}

TEST(Kubeconfig, says_which_field_has_another_type) {
  const struct {
    std::string_view text, message;
  } rows[] = {
      {"[1]", "it must be a map, not a list"},
      {"clusters: 5", "clusters must be a list, not a number"},
      {"users: [x]", "users[0] must be a map, not text"},
      {"contexts: [{name: 5}]", "contexts[0].name must be text, not a number"},
      {"current-context: {}", "current-context must be text, not a map"},
      {"users: [{user: {token: 12345}}]", "users[0].user.token must be text, not a number"},
      {"users: [{}, {user: {exec: {args: [a, 5]}}}]", "users[1].user.exec.args[1] must be text, not a number"},
      {"users: [{user: {exec: {env: [[]]}}}]", "users[0].user.exec.env[0] must be a map, not a list"},
      {"clusters: [{cluster: {insecure-skip-tls-verify: \"true\"}}]",
       "clusters[0].cluster.insecure-skip-tls-verify must be true or false, not text"},
      {"users: [{user: {as: 5}}]", "users[0].user.as must be text, not a number"},
      {"users: [{user: {as: a, as-groups: b}}]", "users[0].user.as-groups must be a list, not text"},
      {"users: [{user: {as: a, as-groups: [b, 5]}}]", "users[0].user.as-groups[1] must be text, not a number"},
      {"users: [{user: {as: a, as-user-extra: [b]}}]", "users[0].user.as-user-extra must be a map, not a list"},
      {"users: [{user: {as: a, as-user-extra: {k: v}}}]", "users[0].user.as-user-extra.k must be a list, not text"},
      {"contexts: [{context: {namespace: [a]}}]", "contexts[0].context.namespace must be text, not a list"},
  };
  for (const auto& row : rows) {
    const auto access = parse_kubeconfig(row.text, "/");
    ASSERT_FALSE(access.ok()) << row.text;
    EXPECT_EQ(access.error().message, row.message) << row.text;
  }
}

TEST(Kubeconfig, without_a_context_names_no_server) {
  for (const std::string_view text : {"", "users: null\nclusters: [null]", "current-context: ''"}) {
    const auto access = parse_kubeconfig(text, "/");
    ASSERT_TRUE(access.ok()) << text << ": " << access.error().message;
    EXPECT_EQ(access->server, "") << text;
  }
}

TEST(Kubeconfig, refuses_tokens_that_no_header_can_carry) {
  const auto with = [](std::string_view token) {
    return parse_kubeconfig(base::format("{{current-context: x, contexts: [{{name: x, context: {{cluster: c, user: "
                                         "u}}}}], clusters: [{{name: c, cluster: {{server: s}}}}], users: [{{name: u, "
                                         "user: {{{}}}}}]}}",
                                         token),
                            "/");
  };
  EXPECT_EQ(with(R"(token: "abc\n")")->token, "abc");
  EXPECT_EQ(with(R"(token: "abc\r\nX-Other: 1")").error().message,
            "token: a token is one word of printable ASCII characters");
  EXPECT_EQ(with("tokenFile: /dev/null").error().message, "tokenFile: /dev/null: the token is empty");
  EXPECT_EQ(with("tokenFile: /dev/zero").error().message,
            "tokenFile: cannot read /dev/zero: it has more than 16777216 bytes");
  EXPECT_EQ(with("tokenFile: /nonexistent").error().message,
            "tokenFile: cannot open /nonexistent: No such file or directory");
}

TEST(Kubeconfig, reads_the_proxy_of_a_cluster_or_says_why_not) {
  const auto with = [](std::string_view cluster) {
    return parse_kubeconfig(base::format("{{current-context: x, contexts: [{{name: x, context: {{cluster: c}}}}], "
                                         "clusters: [{{name: c, cluster: {{{}}}}}]}}",
                                         cluster),
                            "/");
  };
  const auto access = with("server: 'https://s', proxy-url: 'http://ann:b@proxy:3128'");
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->proxy, (rt::Proxy{"proxy", 3128, "Basic YW5uOmI="}));
  EXPECT_FALSE(access->has_connection_of(*with("server: 'https://s'")));
  EXPECT_FALSE(with("server: 'https://s', proxy-url: ''")->proxy);
  EXPECT_EQ(with("server: 'https://s', proxy-url: 'socks5://proxy'").error().message,
            "cluster \"c\": proxy-url: socks5:// is not supported, only http:// proxies are");
  EXPECT_EQ(with("server: 'http://s', proxy-url: 'http://proxy'").error().message,
            "cluster \"c\": proxy-url: the server \"http://s\" has no TLS, and is not spoken to through a proxy");
}

TEST(Kubeconfig, many_entries_are_read_in_time_that_grows_with_them) {
  std::string text = "clusters:\n";
  for (int i = 0; i < 100'000; ++i) text += base::format("- {{name: c{}}}\n", i);
  EXPECT_TRUE(parse_kubeconfig(text, "/").ok());
}

TEST(Kubeconfig, NamesWhatIsMissing) {
  const auto access = parse_kubeconfig("current-context: gone\n", "/");
  ASSERT_FALSE(access.ok());
  EXPECT_EQ(access.error().message, "context \"gone\" does not exist");
}

TEST(Wire, builds_only_what_is_read) {
  static const api::Projection kOnly{"metadata.name", "metadata.resourceVersion"};
  rt::HttpResponse list;
  list.status = 200;
  list.body =
      R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","uid":"u"},"spec":{}}]})";
  EXPECT_EQ(decode_response(list, &kOnly)->dump(),
            R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}}]})");
  rt::HttpResponse one;
  one.status = 201;
  one.body = R"({"kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"9"},"spec":{}})";
  EXPECT_EQ(decode_response(one, &kOnly, false)->dump(), R"({"metadata":{"name":"a","resourceVersion":"9"}})");
  one.status = 409;
  one.body = R"({"kind":"Status","code":409,"reason":"AlreadyExists","message":"it exists"})";
  EXPECT_EQ(decode_response(one, &kOnly, false).error().code, base::Code::kAlreadyExists);
  WatchDecoder decoder(&kOnly);
  std::vector<WatchEvent> events;
  EXPECT_TRUE(
      decoder.feed("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"},\"spec\":{\"x\":1}}}\n", events)
          .ok());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].object.dump(), R"({"metadata":{"name":"a"}})");
  // All of a Status is told.
  const base::Status ended =
      decoder.feed(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}})"
                   "\n",
                   events);
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "too old");
  EXPECT_EQ(ended.error().code, base::Code::kExpired);
}

TEST(Rank, LeasesGoBeforeAllAndEventsLast) {
  Request lease{.resource = api::resources::kLeases};
  Request create{.verb = Verb::kCreate, .resource = api::resources::kPods};
  Request phase = create, counts = create, event = create;
  phase.urgency = Urgency::kPhase;
  counts.urgency = Urgency::kCounts;
  event.urgency = Urgency::kEvent;
  int before = -1;
  for (const Request* one : {&lease, &create, &phase, &counts, &event}) {
    EXPECT_GT(rank_of(*one), before);
    before = rank_of(*one);
    EXPECT_EQ(encode_request(*one, "m").urgency, before);
  }
}

const api::Projection& name_and_phase() {
  static const api::Projection kParts{"metadata.name", "status.phase"};
  return kParts;
}

TEST(Wire, AsksForProtobufWhereAKindHasItAndTheReaderNamesItsFields) {
  const api::Projection* only = &name_and_phase();
  const std::string both = "application/vnd.volcano.stored+json,application/vnd.kubernetes.protobuf,application/json";
  const std::string json = "application/json";
  const auto accepted = [](Request request) { return header_of(encode_request(request, "m"), "Accept"); };
  EXPECT_EQ(accepted({.verb = Verb::kList, .resource = api::resources::kPods, .only = only}), both);
  EXPECT_EQ(accepted({.verb = Verb::kPatch, .resource = api::resources::kPods, .subresource = "status", .only = only}),
            both);
  EXPECT_EQ(accepted({.verb = Verb::kGet, .resource = api::resources::kPods, .subresource = "scale", .only = only}),
            json);
  EXPECT_EQ(accepted({.verb = Verb::kList, .resource = api::resources::kPods}), json);
  static const api::Projection kAll{"*", "metadata.*", "-metadata.managedFields"};
  EXPECT_EQ(accepted({.verb = Verb::kList, .resource = api::resources::kPods, .only = &kAll}), json);
  EXPECT_EQ(accepted({.verb = Verb::kList, .resource = api::resources::kJobs, .only = only}), json);
  EXPECT_EQ(accepted({.verb = Verb::kGet, .resource = {"example.com", "v1", "pods"}, .only = only}), json);
  EXPECT_EQ(
      accepted(
          {.verb = Verb::kList, .resource = {"apiextensions.k8s.io", "v1", "customresourcedefinitions"}, .only = only}),
      json);
  EXPECT_EQ(header_of(encode_watch({.resource = api::resources::kNodes, .only = only}, 300), "Accept"), both);
  EXPECT_EQ(header_of(encode_watch({.resource = api::resources::kQueues, .only = only}, 300), "Accept"), json);
}

Json pod(const char* name) {
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", Json::object({{"name", name}, {"namespace", "ns"}})},
                       {"status", Json::object({{"phase", "Running"}})}});
}

TEST(Wire, ReadsListsAndErrorsInProtobuf) {
  rt::HttpResponse response;
  response.status = 200;
  response.body = api::to_protobuf(Json::object({{"apiVersion", "v1"},
                                                 {"kind", "PodList"},
                                                 {"metadata", Json::object({{"resourceVersion", "5"}})},
                                                 {"items", Json::array({pod("a"), pod("b")})}}));
  const auto list = decode_response(response, &name_and_phase());
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_EQ((*list)["metadata"]["resourceVersion"].as_string(), "5");
  EXPECT_EQ((*list)["items"][1].dump(), R"({"metadata":{"name":"b"},"status":{"phase":"Running"}})");
  response.status = 404;
  response.body = api::to_protobuf(*api::parse_json(
      R"({"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","message":"no such pod","code":404})"));
  const auto refused = decode_response(response, &name_and_phase(), false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kNotFound);
  EXPECT_EQ(refused.error().message, "no such pod");
  response.status = 200;
  response.body = std::string(api::kProtobufMagic) + "rubbish";
  EXPECT_EQ(decode_response(response, &name_and_phase()).error().message,
            "the server's answer: the protobuf body is malformed");
  response.status = 500;
  EXPECT_EQ(decode_response(response, nullptr).error().message, "the server answered 500: 11 bytes of protobuf");
  response.body = "b\xff";
  EXPECT_EQ(decode_response(response, nullptr).error().message, "the server answered 500: b\xEF\xBF\xBD");
}

TEST(Wire, CutsFramesOfProtobuf) {
  std::string bytes = api::event_to_protobuf("ADDED", pod("a")) + api::event_to_protobuf("DELETED", pod("b"));
  bytes += api::event_to_protobuf(
      "ERROR",
      *api::parse_json(
          R"({"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Expired","message":"old","code":410})"));
  for (const std::size_t part : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    WatchDecoder decoder(&name_and_phase());
    decoder.begin("application/vnd.kubernetes.protobuf;stream=watch");
    std::vector<WatchEvent> events;
    base::Status status;
    for (std::size_t at = 0; at < bytes.size() && status.ok(); at += part)
      status = decoder.feed(std::string_view(bytes).substr(at, part), events);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].type, EventType::kAdded);
    EXPECT_EQ(events[1].type, EventType::kDeleted);
    EXPECT_EQ(events[1].object["metadata"]["name"].as_string(), "b");
    EXPECT_FALSE(events[1].object["metadata"].has("namespace"));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, base::Code::kExpired);
  }
  WatchDecoder decoder(&name_and_phase());
  decoder.begin("application/vnd.kubernetes.protobuf;stream=watch");
  std::vector<WatchEvent> events;
  EXPECT_EQ(decoder.feed("\xff\xff\xff\xff", events).error().message,
            "watch event of 4294967295 bytes, where 67108864 may be");
}

}  // namespace
}  // namespace client
