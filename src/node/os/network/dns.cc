// DNS over UDP, as far as a resolver library asks for it: A, AAAA, CNAME, PTR, SRV.
#include "node/os/network/dns.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "api/ipv4.h"
#include "base/format.h"

namespace node {

namespace {

constexpr std::size_t kHeader = 12;
constexpr int kTypeA = 1, kTypeAlias = 5, kTypePtr = 12, kTypeAaaa = 28, kTypeSrv = 33, kTypeAny = 255;
constexpr int kNoError = 0, kNoSuchName = 3, kFailed = 2;
constexpr std::string_view kDomain = "cluster.local";
constexpr std::size_t kRecordsMax = 25;
constexpr std::size_t kAnswerMax = 1000;
constexpr std::size_t kQueryMax = 512;  // header and question are less

int u16(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]) << 8 | static_cast<unsigned char>(bytes[at + 1]);
}
void put16(std::string& out, int value) {
  out += static_cast<char>(value >> 8 & 255);
  out += static_cast<char>(value & 255);
}

struct Question {
  std::string name;  // lower case, without the last dot
  int type = 0;
  std::size_t end = 0;  // of the question section
};

bool parse_question(std::string_view query, Question& out) {
  if (query.size() < kHeader || u16(query, 4) != 1) return false;
  std::size_t at = kHeader;
  for (;;) {
    if (at >= query.size()) return false;
    const std::size_t length = static_cast<unsigned char>(query[at++]);
    if (length == 0) break;
    if (length > 63 || at + length > query.size()) return false;
    if (!out.name.empty()) out.name += '.';
    for (std::size_t i = 0; i < length; ++i) {
      const char c = query[at + i];
      out.name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    at += length;
  }
  if (at + 4 > query.size()) return false;
  out.type = u16(query, at);
  out.end = at + 4;
  return true;
}

std::string response(std::string_view query, const Question& question, int code, int answers) {
  std::string out(query.substr(0, 2));
  const bool recursion = (query[2] & 1) != 0;
  out += static_cast<char>(0x84 | (recursion ? 1 : 0));  // an authoritative response
  out += static_cast<char>(0x80 | code);
  put16(out, 1);
  put16(out, answers);
  put16(out, 0);
  put16(out, 0);
  out += query.substr(kHeader, question.end - kHeader);
  return out;
}

// Of "4.3.2.1.in-addr.arpa".
std::string address_of_pointer(const std::string& name) {
  static constexpr std::string_view kSuffix = ".in-addr.arpa";
  if (!name.ends_with(kSuffix)) return {};
  int d = 0, c = 0, b = 0, a = 0;
  if (std::sscanf(name.c_str(), "%d.%d.%d.%d", &d, &c, &b, &a) != 4) return {};
  return base::format("{}.{}.{}.{}", a, b, c, d);
}

std::string encode_name(const std::string& name) {
  std::string out;
  std::size_t begin = 0;
  while (begin < name.size()) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    out += static_cast<char>(end - begin);
    out += name.substr(begin, end - begin);
    begin = end + 1;
  }
  out += '\0';
  return out;
}

const std::string kQuestionName = "\xc0\x0c";  // a pointer to it

void put_record(std::string& out, int type, const std::string& data, const std::string& owner = kQuestionName) {
  out += owner;
  put16(out, type);
  put16(out, 1);
  put16(out, 0);
  put16(out, 5);  // seconds to keep: pods come and go
  put16(out, static_cast<int>(data.size()));
  out += data;
}

std::string address_answer(std::string_view query, const Question& question,
                           const std::vector<std::string>& addresses) {
  const bool wanted = question.type == kTypeA || question.type == kTypeAny;
  const std::size_t count = wanted ? std::min(addresses.size(), kRecordsMax) : 0;
  std::string out = response(query, question, kNoError, static_cast<int>(count));
  for (std::size_t i = 0; i < count; ++i) {
    in_addr address{};
    ::inet_pton(AF_INET, addresses[i].c_str(), &address);
    put_record(out, kTypeA, std::string(reinterpret_cast<const char*>(&address), 4));
  }
  return out;
}

bool is_ours(const std::string& name) { return name == kDomain || name.ends_with("." + std::string(kDomain)); }

// The end of a name in a message; nothing: it goes beyond.
std::optional<std::size_t> end_of_name(std::string_view message, std::size_t at) {
  while (at < message.size()) {
    const auto length = static_cast<unsigned char>(message[at]);
    if (length >= 0xc0) return at + 2;
    if (length == 0) return at + 1;
    at += 1 + length;
  }
  return std::nullopt;
}

// The alias, and the addresses of what it stands for.
std::string alias_response(std::string_view query, const Question& question, int code, const std::string& target,
                           const std::vector<std::pair<int, std::string>>& addresses) {
  std::string out = response(query, question, code, 1 + static_cast<int>(addresses.size()));
  const std::string owner = encode_name(target);
  put_record(out, kTypeAlias, owner);
  for (const auto& [type, data] : addresses) put_record(out, type, data, owner);
  return out;
}

std::string alias_of_ours(std::string_view query, const Question& question, const NameTable& names,
                          const std::string& target) {
  const auto found = names.addresses.find(target);
  std::vector<std::pair<int, std::string>> addresses;
  if (found != names.addresses.end() && (question.type == kTypeA || question.type == kTypeAny))
    for (const std::string& text : found->second) {
      if (addresses.size() == kRecordsMax) break;
      std::string data;
      const std::uint32_t address = api::parse_ipv4(text).value_or(0);
      put16(data, static_cast<int>(address >> 16));
      put16(data, static_cast<int>(address & 0xffff));
      addresses.emplace_back(kTypeA, std::move(data));
    }
  return alias_response(query, question, found == names.addresses.end() ? kNoSuchName : kNoError, target, addresses);
}

// Priority, weight, port and target; nobody is preferred.
std::string place_answer(std::string_view query, const Question& question, const std::vector<ServicePlace>& places) {
  const bool wanted = question.type == kTypeSrv || question.type == kTypeAny;
  std::string records;
  int count = 0;
  for (const ServicePlace& place : places) {
    if (!wanted || static_cast<std::size_t>(count) == kRecordsMax) break;
    std::string data;
    put16(data, 0);
    put16(data, 100);
    put16(data, place.port);
    data += encode_name(place.target);
    std::string record;
    put_record(record, kTypeSrv, data);
    // Records that do not fit into a datagram that every resolver takes are left out.
    if (records.size() + record.size() > kAnswerMax) break;
    records += record;
    ++count;
  }
  return response(query, question, kNoError, count) + records;
}

// The address in "10-200-0-2.ns.pod.cluster.local", a name that every address has.
std::string address_in_name(const std::string& name) {
  static constexpr std::string_view kSuffix = ".pod.cluster.local";
  const std::size_t dot = name.find('.');
  if (!name.ends_with(kSuffix) || name.find('.', dot + 1) != name.size() - kSuffix.size()) return {};
  std::string text = name.substr(0, dot);
  std::replace(text.begin(), text.end(), '-', '.');
  return api::parse_ipv4(text) ? text : std::string();
}

// The longest name is the pod's own, where services share addresses.
const std::string* name_of_address(const NameTable& names, const std::string& address) {
  const std::string* best = nullptr;
  for (const auto& [name, addresses] : names.addresses)
    if (std::find(addresses.begin(), addresses.end(), address) != addresses.end() &&
        (best == nullptr || name.size() > best->size()))
      best = &name;
  return best;
}

class UdpServer : public NameServer {
 public:
  UdpServer(int socket, int wake, std::vector<sockaddr_in> upstreams)
      : socket_(socket), wake_(wake), upstreams_(std::move(upstreams)), names_(std::make_shared<NameTable>()) {
    if (!upstreams_.empty()) open_upstream();
  }
  // Why it cannot; empty: it answers.
  std::string begin() {
    if (wake_ < 0) return "no event descriptor";
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& scarce) {
      return base::format("no thread: {}", scarce.what());
    }
    return {};
  }
  ~UdpServer() override {
    const std::uint64_t one = 1;
    if (thread_.joinable() && ::write(wake_, &one, sizeof one) == sizeof one) thread_.join();
    for (const int fd : {socket_, wake_, upstream_}) ::close(fd);
  }
  void set_names(std::shared_ptr<const NameTable> names) override {
    const std::lock_guard lock(mutex_);
    names_ = std::move(names);
  }

 private:
  struct Asked {
    sockaddr_in from;
    std::string query;      // as it came
    bool is_alias = false;  // another name was asked for
    std::uint64_t number = 0;
    Question question = {};  // that was passed on
  };
  static constexpr std::size_t kAskedMax = 8192;  // then the oldest are given up

  void run();
  void take_query();
  void pass_on(std::string query, Asked asked);
  void take_answer();
  void give_up(int id);
  void open_upstream();
  void answer(const Asked& asked, std::string_view text) const {
    ::sendto(socket_, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&asked.from), sizeof(sockaddr_in));
  }
  void forget(std::map<int, Asked>::iterator asked) {
    order_.erase(asked->second.number);
    asked_.erase(asked);
  }

  int socket_;
  int wake_;
  int upstream_ = -1;
  std::vector<sockaddr_in> upstreams_;
  std::mutex mutex_;
  std::shared_ptr<const NameTable> names_;
  std::map<int, Asked> asked_;  // by the id that we gave
  std::map<std::uint64_t, int> order_;
  std::uint64_t next_number_ = 0;
  std::thread thread_;
};

void UdpServer::run() {
  for (;;) {
    pollfd waits[3] = {{socket_, POLLIN, 0}, {wake_, POLLIN, 0}, {upstream_, POLLIN, 0}};
    if (::poll(waits, 3, -1) < 0 && errno != EINTR) return;
    if (waits[1].revents != 0) return;
    if (waits[0].revents != 0) take_query();
    if (waits[2].revents != 0) take_answer();
  }
}

void UdpServer::take_query() {
  char buffer[4096];
  sockaddr_in from{};
  socklen_t length = sizeof from;
  const ssize_t got = ::recvfrom(socket_, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &length);
  if (got <= 0) return;
  std::string query(buffer, static_cast<std::size_t>(got));
  std::shared_ptr<const NameTable> names;
  {
    const std::lock_guard lock(mutex_);
    names = names_;
  }
  Asked asked{from, query.substr(0, kQueryMax)};
  if (std::string other = upstreams_.empty() ? std::string() : alias_query(query, *names); !other.empty()) {
    query = std::move(other);
    asked.is_alias = true;
  }
  bool elsewhere = false;
  const std::string answer = answer_query(query, *names, elsewhere);
  if (!elsewhere || upstreams_.empty()) {
    if (!answer.empty()) ::sendto(socket_, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), length);
    return;
  }
  pass_on(std::move(query), std::move(asked));
}

// Under a number that cannot be guessed.
void UdpServer::pass_on(std::string query, Asked asked) {
  std::uint16_t id = 0;
  do {
    if (::getrandom(&id, sizeof id, 0) != sizeof id) return;
  } while (asked_.contains(id));
  if (!parse_question(query, asked.question)) return;
  if (asked_.size() >= kAskedMax) forget(asked_.find(order_.begin()->second));
  asked.number = next_number_++;
  order_[asked.number] = id;
  asked_[id] = std::move(asked);
  query[0] = static_cast<char>(id >> 8);
  query[1] = static_cast<char>(id & 255);
  if (::send(upstream_, query.data(), query.size(), 0) >= 0 || errno == EAGAIN) return;
  open_upstream();  // the machine's network was not there yet, or is another now
  if (::send(upstream_, query.data(), query.size(), 0) < 0 && errno != EAGAIN) give_up(id);
}

// Says so at once: a resolver would wait ten seconds for each name that it tries.
void UdpServer::give_up(int id) {
  const auto found = asked_.find(id);
  const std::string& query = found->second.query;
  if (Question question; parse_question(query, question)) answer(found->second, response(query, question, kFailed, 0));
  forget(found);
}

// Connected, so that nobody else answers: pods reach every port of this machine.
void UdpServer::open_upstream() {
  if (upstream_ >= 0) ::close(upstream_);
  upstream_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (::connect(upstream_, reinterpret_cast<const sockaddr*>(&upstreams_.front()), sizeof(sockaddr_in)) == 0) return;
  ::close(upstream_);
  upstream_ = -1;
}

void UdpServer::take_answer() {
  char buffer[4096];
  const ssize_t got = ::recv(upstream_, buffer, sizeof buffer, 0);
  // The server or the way to it is gone: the next question goes to the next server.
  if (got < 0 && errno != EAGAIN && errno != EINTR) {
    while (!asked_.empty()) give_up(asked_.begin()->first);
    std::rotate(upstreams_.begin(), upstreams_.begin() + 1, upstreams_.end());
    return open_upstream();
  }
  if (got < 2) return;
  const auto found = asked_.find(u16({buffer, 2}, 0));
  Question question;
  if (found == asked_.end() || !parse_question({buffer, static_cast<std::size_t>(got)}, question) ||
      question.name != found->second.question.name || question.type != found->second.question.type)
    return;
  const Asked& asked = found->second;
  std::string text = asked.query.substr(0, 2) + std::string(buffer + 2, static_cast<std::size_t>(got) - 2);
  if (asked.is_alias) {
    const std::lock_guard lock(mutex_);
    text = alias_answer(asked.query, *names_, text);
  }
  answer(asked, text);
  forget(found);
}

}  // namespace

std::string answer_query(std::string_view query, const NameTable& names, bool& elsewhere) {
  elsewhere = false;
  Question question;
  if (!parse_question(query, question) || (query[2] & 0x80) != 0) return {};
  if (const auto found = names.addresses.find(question.name); found != names.addresses.end())
    return address_answer(query, question, found->second);
  if (const auto found = names.places.find(question.name); found != names.places.end())
    return place_answer(query, question, found->second);
  if (const auto found = names.aliases.find(question.name); found != names.aliases.end())
    return alias_of_ours(query, question, names, found->second);
  if (const std::string address = address_in_name(question.name); !address.empty())
    return address_answer(query, question, {address});
  if (const std::string address = address_of_pointer(question.name); !address.empty()) {
    const std::string* best = name_of_address(names, address);
    if (best != nullptr) {
      std::string out = response(query, question, kNoError, question.type == kTypePtr ? 1 : 0);
      if (question.type == kTypePtr) put_record(out, kTypePtr, encode_name(*best));
      return out;
    }
  }
  const bool ours = is_ours(question.name);
  elsewhere = !ours;
  return response(query, question, ours ? kNoSuchName : kFailed, 0);
}

std::string alias_query(std::string_view query, const NameTable& names) {
  Question question;
  if (!parse_question(query, question) || (query[2] & 0x80) != 0) return {};
  const auto found = names.aliases.find(question.name);
  if (found == names.aliases.end() || is_ours(found->second)) return {};
  std::string out(query.substr(0, 4));
  put16(out, 1);
  for (int part = 0; part < 3; ++part) put16(out, 0);
  out += encode_name(found->second);
  put16(out, question.type);
  put16(out, 1);
  return out;
}

std::string alias_answer(std::string_view query, const NameTable& names, std::string_view answer) {
  Question question, asked;
  if (!parse_question(query, question) || !parse_question(answer, asked)) return {};
  const auto found = names.aliases.find(question.name);
  if (found == names.aliases.end() || asked.name != found->second) return {};
  std::vector<std::pair<int, std::string>> addresses;
  std::size_t at = asked.end;
  constexpr std::size_t kFixed = 10;  // type, class, time, length
  for (int left = u16(answer, 6); left > 0 && addresses.size() < kRecordsMax; --left) {
    const auto end = end_of_name(answer, at);
    if (!end || *end + kFixed > answer.size()) return {};
    const int type = u16(answer, *end);
    const auto length = static_cast<std::size_t>(u16(answer, *end + kFixed - 2));
    at = *end + kFixed + length;
    if (at > answer.size()) return {};
    if ((type == kTypeA && length == 4) || (type == kTypeAaaa && length == 16))
      addresses.emplace_back(type, std::string(answer.substr(*end + kFixed, length)));
  }
  return alias_response(query, question, answer[3] & 15, found->second, addresses);
}

base::Result<std::unique_ptr<NameServer>> start_name_server(const std::string& address,
                                                            const std::string& resolv_conf) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(53);
  ::inet_pton(AF_INET, address.c_str(), &where.sin_addr);
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    return base::make_error(base::Code::kUnavailable,
                            base::format("cannot answer names at {}:53: {}", address, std::strerror(error)));
  }
  std::vector<sockaddr_in> upstreams;
  std::size_t begin = 0;
  while (begin < resolv_conf.size()) {
    std::size_t end = resolv_conf.find('\n', begin);
    if (end == std::string::npos) end = resolv_conf.size();
    const std::string line = resolv_conf.substr(begin, end - begin);
    begin = end + 1;
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(53);
    if (line.starts_with("nameserver ") && ::inet_pton(AF_INET, line.c_str() + 11, &server.sin_addr) == 1)
      upstreams.push_back(server);
  }
  auto server = std::make_unique<UdpServer>(fd, ::eventfd(0, EFD_CLOEXEC), std::move(upstreams));
  if (const std::string why = server->begin(); !why.empty())
    return base::make_error(base::Code::kUnavailable, base::format("cannot answer names at {}:53: {}", address, why));
  return std::unique_ptr<NameServer>(std::move(server));
}

}  // namespace node
