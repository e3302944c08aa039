// A driver of Dynamic Resource Allocation for tests: registers with a node, writes a CDI specification for each claim
// that is made ready, and a line for everything that it is asked.
//
//   fake_dra_driver NAME REGISTRY_FOLDER OWN_FOLDER CDI_FOLDER
//
// OWN_FOLDER/log has the lines. While OWN_FOLDER/fail is there, its text is the error of every claim. OWN_FOLDER/health
// ("2 fan stopped") says how its device is; it is told when somebody begins to listen, and with each claim.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/protobuf_wire.h"
#include "rt/files/files.h"
#include "rt/grpc/grpc.h"

namespace {

using base::WireField;
using base::WireReader;
using base::WireWriter;

struct Claim {
  std::string ns, uid, name;
};

class Driver {
 public:
  Driver(std::string name, std::string folder, std::string cdi)
      : name_(std::move(name)), folder_(std::move(folder)), cdi_(std::move(cdi)) {}

  std::string socket() const { return folder_ + "/dra.sock"; }

  void asked(const std::string& method, const std::string& request, const std::shared_ptr<rt::GrpcAnswer>& answer) {
    const std::string what = method.substr(method.rfind('/') + 1);
    if (what == "GetInfo") return report(*answer, info());
    if (what == "NotifyRegistrationStatus") {
      record(base::format("registered {}", text_of(request, 2)));
      return report(*answer, {});
    }
    if (what == "NodeWatchResources") {
      const std::lock_guard lock(mutex_);
      listeners_.push_back(answer);
      return report_health();
    }
    if (what == "NodePrepareResources") return claims(request, "prepare", *answer);
    if (what == "NodeUnprepareResources") return claims(request, "unprepare", *answer);
    answer->finish({rt::GrpcCode::kUnimplemented, method});
  }

 private:
  static void report(rt::GrpcAnswer& answer, std::string message) {
    answer.send(std::move(message));
    answer.finish({});
  }
  static std::string text_of(std::string_view message, int number) {
    WireReader reader(message);
    for (WireField field; reader.next(field);)
      if (field.number == number) return std::string(field.bytes);
    return {};
  }
  void record(const std::string& line) const {
    if (std::FILE* log = std::fopen((folder_ + "/log").c_str(), "a")) {
      std::fputs((line + "\n").c_str(), log);
      std::fclose(log);
    }
  }
  std::string info() const {
    WireWriter out;
    out.add(1, std::string_view("DRAPlugin"));
    out.add(2, name_);
    out.add(3, socket());
    out.add_entry(4, "v1.DRAPlugin");
    out.add_entry(4, "v1beta1.DRAPlugin");
    return out.take();
  }
  void report_health() {
    const auto text = rt::read_file(folder_ + "/health");
    if (!text.ok() || text->size() < 2) return;
    WireWriter name, device, out;
    name.add(1, std::string_view("pool"));
    name.add(2, std::string_view("device"));
    device.add_entry(1, name.take());
    device.add(2, static_cast<std::uint64_t>((*text)[0] - '0'));
    device.add(4, std::uint64_t{3600});
    device.add(5, std::string_view(*text).substr(2, text->find('\n') - 2));
    out.add_entry(1, device.take());
    const std::string message = out.take();
    for (const auto& listener : listeners_) listener->send(message);
  }
  void claims(std::string_view request, const std::string& what, rt::GrpcAnswer& answer) {
    const std::lock_guard lock(mutex_);
    report_health();
    const bool prepares = what == "prepare";
    const auto failure = rt::read_file(folder_ + "/fail");
    WireWriter out;
    WireReader reader(request);
    for (WireField field; reader.next(field);) {
      const Claim claim{text_of(field.bytes, 1), text_of(field.bytes, 2), text_of(field.bytes, 3)};
      record(base::format("{} {}/{}", what, claim.ns, claim.name));
      WireWriter value, entry;
      if (failure.ok())
        value.add(prepares ? 2 : 1, *failure);
      else if (prepares)
        value.add_entry(1, make_ready(claim));
      else
        ::unlink(spec_of(claim).c_str());
      entry.add(1, claim.uid);
      entry.add_entry(2, value.take());
      out.add_entry(1, entry.take());
    }
    report(answer, out.take());
  }
  std::string spec_of(const Claim& claim) const { return base::format("{}/{}-{}.json", cdi_, name_, claim.uid); }
  std::string make_ready(const Claim& claim) const {
    const std::string spec = base::format(
        R"({{"cdiVersion": "0.6.0", "kind": "{}/claim", "devices": [{{"name": "{}", "containerEdits": {{"env": ["CLAIM={}", "MADE_BY={}"]}}}}]}})",
        name_, claim.uid, claim.name, name_);
    if (const base::Status written = rt::write_file(spec_of(claim), spec, 0644); !written.ok())
      record(written.error().message);
    WireWriter device;
    device.add(2, std::string_view("pool"));
    device.add(3, std::string_view("device"));
    device.add_entry(4, base::format("{}/claim={}", name_, claim.uid));
    return device.take();
  }

  std::string name_, folder_, cdi_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<rt::GrpcAnswer>> listeners_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fputs("fake_dra_driver NAME REGISTRY_FOLDER OWN_FOLDER CDI_FOLDER\n", stderr);
    return 2;
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const std::string registered = base::format("{}/{}-reg.sock", words[2], words[1]);
  Driver driver(words[1], words[3], words[4]);
  rt::GrpcIo io;
  const auto handler = [&](const std::string& method, const std::string& request,
                           const std::shared_ptr<rt::GrpcAnswer>& answer) { driver.asked(method, request, answer); };
  const auto service = rt::start_grpc_server(io, {.unix_path = driver.socket()}, handler);
  const auto registration = rt::start_grpc_server(io, {.unix_path = registered}, handler);
  for (const auto* server : {&service, &registration})
    if (!server->ok()) {
      std::fputs((server->error().message + "\n").c_str(), stderr);
      return 1;
    }
  int signal = 0;
  sigwait(&ends, &signal);
  ::unlink(registered.c_str());
  ::unlink(driver.socket().c_str());
  return 0;
}
