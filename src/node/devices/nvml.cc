// Loading the library, and asking it.
#include "node/devices/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <map>
#include <vector>

#include "base/format.h"
#include "node/devices/nvml_api.h"

namespace node {

using base::Code;
using base::make_error;
using namespace nvml;

namespace {

constexpr unsigned kWaitMs = 1000;
constexpr int kBeatSeconds = 5;
// Errors of programs, not of cards, as NVIDIA's list of Xid errors has them.
constexpr unsigned long long kXidsOfPrograms[] = {13, 31, 43, 45, 68, 109};

bool counts(const EventData& event) {
  return event.type != kEventXid || std::ranges::find(kXidsOfPrograms, event.data) == std::end(kXidsOfPrograms);
}

}  // namespace

struct Nvml::State {
  void* library = nullptr;
  Functions call;
  bool initialized = false;
  EventSet events = nullptr;
  std::vector<std::string> watched;           // uuids
  std::map<std::string, std::string> errors;  // by uuid: what happened to the card, for good

  std::string words(Return code) const {
    const char* text = call.error_text != nullptr ? call.error_text(code) : nullptr;
    return text != nullptr && *text != '\0' ? std::string(text) : base::format("NVML error {}", code);
  }
  base::Status load(const std::string& path);
  Gpu describe(unsigned index, Device device);
  void describe_instances(Device device, Gpu& gpu);
  void watch(const std::string& uuid, Device device);
};

Nvml::Nvml() : state_(std::make_unique<State>()) {}
Nvml::~Nvml() {
  if (state_->initialized) state_->call.shutdown();
  if (state_->library != nullptr) ::dlclose(state_->library);
}

base::Status Nvml::State::load(const std::string& path) {
  library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return make_error(Code::kUnavailable, why == nullptr ? path + " cannot be loaded" : std::string(why));
  }
  std::string missing;
  const auto find = [&](auto& function, const char* symbol, bool needed) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    if (function == nullptr && needed) missing = symbol;
  };
#define NODE_NVML_FIND(member, symbol, parameters) find(call.member, symbol, true);
  NODE_NVML_NEEDED(NODE_NVML_FIND)
#undef NODE_NVML_FIND
#define NODE_NVML_FIND(member, symbol, parameters) find(call.member, symbol, false);
  NODE_NVML_OPTIONAL(NODE_NVML_FIND)
#undef NODE_NVML_FIND
  find(call.error_text, "nvmlErrorString", false);
  if (!missing.empty()) return make_error(Code::kUnavailable, base::format("{} has no function {}", path, missing));
  if (const Return code = call.init(); code != kSuccess) return make_error(Code::kUnavailable, words(code));
  initialized = true;
  if (call.make_events != nullptr && call.watch != nullptr && call.wait != nullptr &&
      call.make_events(&events) != kSuccess)
    events = nullptr;
  return {};
}

base::Result<std::unique_ptr<Nvml>> Nvml::load(const std::string& library) {
  auto nvml = std::unique_ptr<Nvml>(new Nvml());
  TRY_VOID(nvml->state_->load(library));
  return nvml;
}

void Nvml::State::watch(const std::string& uuid, Device device) {
  if (events == nullptr || std::ranges::find(watched, uuid) != watched.end()) return;
  watched.push_back(uuid);
  // Old cards tell nothing; their loss is seen all the same.
  (void)call.watch(device, kEventXid | kEventDoubleBitEcc, events);
}

void Nvml::State::describe_instances(Device device, Gpu& gpu) {
  unsigned now = 0, pending = 0, most = 0;
  if (call.mig_mode == nullptr || call.mig_mode(device, &now, &pending) != kSuccess) return;
  gpu.mig_capable = true;
  gpu.mig = now == kMigEnabled;
  if (!gpu.mig || call.mig_max == nullptr || call.mig_by_index == nullptr || call.mig_max(device, &most) != kSuccess)
    return;
  for (unsigned i = 0; i < std::min<unsigned>(most, kGpuInstancesMax); ++i) {
    Device part = nullptr;
    if (call.mig_by_index(device, i, &part) != kSuccess) continue;  // not made
    char text[256] = {};
    GpuInstance instance;
    if (call.uuid(part, text, sizeof text - 1) != kSuccess) continue;
    instance.uuid = text;
    text[0] = '\0';
    (void)call.name(part, text, sizeof text - 1);
    // "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
    const std::string name = text;
    const std::size_t at = name.rfind("MIG ");
    instance.profile = at == std::string::npos ? "unknown" : name.substr(at + 4);
    Memory memory{};
    if (call.memory(part, &memory) == kSuccess) instance.memory_mib = static_cast<std::int64_t>(memory.total >> 20);
    unsigned number = 0;
    if (call.gpu_instance != nullptr && call.gpu_instance(part, &number) == kSuccess)
      instance.gpu_instance = static_cast<int>(number);
    if (call.compute_instance != nullptr && call.compute_instance(part, &number) == kSuccess)
      instance.compute_instance = static_cast<int>(number);
    gpu.instances.push_back(std::move(instance));
  }
}

Gpu Nvml::State::describe(unsigned index, Device device) {
  Gpu gpu{.index = static_cast<int>(index)};
  char text[256] = {};
  if (const Return code = call.uuid(device, text, sizeof text - 1); code != kSuccess) {
    gpu.ill = words(code);
    return gpu;  // nobody knows which card this is
  }
  gpu.uuid = text;
  text[0] = '\0';
  (void)call.name(device, text, sizeof text - 1);
  gpu.name = text;
  Memory memory{};
  if (const Return code = call.memory(device, &memory); code == kSuccess)
    gpu.memory_mib = static_cast<std::int64_t>(memory.total >> 20);
  else if (code != kNotSupported)
    gpu.ill = words(code);
  unsigned minor = 0;
  if (const Return code = call.minor(device, &minor); code == kSuccess)
    gpu.minor = static_cast<int>(minor);
  else
    gpu.ill = words(code);
  PciInfo pci{};
  if (call.pci != nullptr && call.pci(device, &pci) == kSuccess) {
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    gpu.bus_id = pci.bus_id;
  }
  if (call.capability != nullptr) (void)call.capability(device, &gpu.compute_major, &gpu.compute_minor);
  describe_instances(device, gpu);
  if (gpu.ill.empty()) watch(gpu.uuid, device);
  if (const auto error = errors.find(gpu.uuid); error != errors.end()) gpu.ill = error->second;
  return gpu;
}

base::Result<GpuReport> Nvml::report() {
  const Functions& call = state_->call;
  GpuReport report;
  char text[256] = {};
  if (call.driver_version(text, sizeof text - 1) == kSuccess) report.driver = text;
  if (call.cuda_version != nullptr) (void)call.cuda_version(&report.cuda_version);
  unsigned count = 0;
  if (const Return code = call.count(&count); code != kSuccess)
    return make_error(Code::kUnavailable, state_->words(code));
  for (unsigned i = 0; i < std::min<unsigned>(count, kGpusMax); ++i) {
    Device device = nullptr;
    if (call.by_index(i, &device) != kSuccess) continue;  // the agent knows which card is missing
    Gpu gpu = state_->describe(i, device);
    if (!gpu.uuid.empty()) report.gpus.push_back(std::move(gpu));
  }
  return report;
}

void Nvml::wait_for_errors() {
  State& state = *state_;
  EventData event{};
  const Return code = state.events == nullptr ? kNotSupported : state.call.wait(state.events, &event, kWaitMs);
  if (code != kSuccess) {
    if (code != kTimeout) ::usleep(kWaitMs * 1000);
    return;
  }
  char uuid[256] = {};
  if (!counts(event) || state.call.uuid(event.device, uuid, sizeof uuid - 1) != kSuccess) return;
  state.errors[uuid] =
      event.type == kEventXid ? base::format("Xid {}", event.data) : std::string("double-bit ECC error");
}

int run_gpu_watch(const std::string& library) {
  const auto write_line = [](std::string line) {
    line += '\n';
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t wrote = ::write(STDOUT_FILENO, line.data() + sent, line.size() - sent);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return false;
      sent += static_cast<std::size_t>(wrote);
    }
    return true;
  };
  auto nvml = Nvml::load(library);
  if (!nvml.ok()) {
    (void)write_line(gpu_trouble_text(nvml.error().message));
    return 1;
  }
  std::string last;
  std::time_t reported_at = 0;
  for (;;) {
    auto report = (*nvml)->report();
    const std::string line = report.ok() ? gpu_report_text(*report) : gpu_trouble_text(report.error().message);
    const std::time_t now = ::time(nullptr);
    if (line != last || now - reported_at >= kBeatSeconds || now < reported_at) {
      if (!write_line(line)) return 0;
      last = line;
      reported_at = now;
    }
    if (!report.ok()) return 1;
    (*nvml)->wait_for_errors();
  }
}

}  // namespace node
