// A stand-in for NVIDIA's management library: its cards are the lines of the file $FAKE_NVML, read again at each call.
//
//   uuid|name|minor|MiB|word,word...
//
// Words: lost (it does not answer), gone (nobody counts it), hang (whoever asks for it waits for ever), crash,
// xid=N (that error is told once), mig=PROFILE:UUID:GI:CI (and it is in MIG mode).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "node/devices/nvml_api.h"

namespace {

using node::nvml::Device;
using node::nvml::EventData;
using node::nvml::EventSet;
using node::nvml::Memory;
using node::nvml::PciInfo;
using node::nvml::Return;

struct Card {
  std::string uuid, name;
  unsigned minor = 0;
  unsigned long long mib = 0;
  std::vector<std::string> words;

  bool has(const std::string& word) const {
    for (const std::string& one : words)
      if (one == word) return true;
    return false;
  }
  std::vector<std::vector<std::string>> parts() const {
    std::vector<std::vector<std::string>> out;
    for (const std::string& one : words) {
      if (one.rfind("mig=", 0) != 0) continue;
      std::istringstream text(one.substr(4));
      std::vector<std::string>& fields = out.emplace_back();
      for (std::string field; std::getline(text, field, ':');) fields.push_back(field);
    }
    return out;
  }
};

std::vector<Card> cards() {
  std::vector<Card> out;
  const char* path = std::getenv("FAKE_NVML");
  std::ifstream file(path == nullptr ? "/nonexistent" : path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line);
    Card card;
    std::string minor, mib, words;
    std::getline(text, card.uuid, '|');
    std::getline(text, card.name, '|');
    std::getline(text, minor, '|');
    std::getline(text, mib, '|');
    std::getline(text, words, '|');
    card.minor = static_cast<unsigned>(std::atoi(minor.c_str()));
    card.mib = static_cast<unsigned long long>(std::atoll(mib.c_str()));
    std::istringstream list(words);
    for (std::string word; std::getline(list, word, ',');) card.words.push_back(word);
    if (!card.has("gone")) out.push_back(card);
  }
  return out;
}

// A handle is 1 + card * 100 (+ 1 + part).
Device handle(unsigned card, unsigned part = 0) {
  return reinterpret_cast<Device>(static_cast<std::uintptr_t>(1 + card * 100 + part));
}
bool card_of(Device device, Card& card, int& part) {
  const auto number = reinterpret_cast<std::uintptr_t>(device) - 1;
  const std::vector<Card> all = cards();
  if (number / 100 >= all.size()) return false;
  card = all[number / 100];
  part = static_cast<int>(number % 100) - 1;
  if (card.has("crash")) std::abort();
  while (card.has("hang")) ::sleep(1000);
  return true;
}
Return copy(const std::string& text, char* out, unsigned size) {
  std::snprintf(out, size, "%s", text.c_str());
  return node::nvml::kSuccess;
}
constexpr Return kInvalid = 2;

}  // namespace

extern "C" {

Return nvmlInit_v2() { return cards().empty() ? 9 : node::nvml::kSuccess; }
Return nvmlShutdown() { return node::nvml::kSuccess; }
const char* nvmlErrorString(Return code) {
  return code == 9 ? "Driver Not Loaded" : code == node::nvml::kGpuIsLost ? "GPU is lost" : "an error";
}
Return nvmlSystemGetDriverVersion(char* out, unsigned size) { return copy("550.54.15", out, size); }
Return nvmlSystemGetCudaDriverVersion_v2(int* out) {
  *out = 12040;
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(cards().size());
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* out) {
  if (index >= cards().size()) return kInvalid;
  *out = handle(index);
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetUUID(Device device, char* out, unsigned size) {
  Card card;
  int part = -1;
  if (!card_of(device, card, part)) return kInvalid;
  return copy(part < 0 ? card.uuid : card.parts()[static_cast<std::size_t>(part)][1], out, size);
}
Return nvmlDeviceGetName(Device device, char* out, unsigned size) {
  Card card;
  int part = -1;
  if (!card_of(device, card, part)) return kInvalid;
  return copy(part < 0 ? card.name : card.name + " MIG " + card.parts()[static_cast<std::size_t>(part)][0], out, size);
}
Return nvmlDeviceGetMemoryInfo(Device device, Memory* out) {
  Card card;
  int part = -1;
  if (!card_of(device, card, part)) return kInvalid;
  if (card.has("lost")) return node::nvml::kGpuIsLost;
  *out = {(part < 0 ? card.mib : card.mib / 8) << 20, 0, 0};
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetMinorNumber(Device device, unsigned* out) {
  Card card;
  int part = -1;
  if (!card_of(device, card, part)) return kInvalid;
  *out = card.minor;
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* out) {
  Card card;
  int part = -1;
  if (!card_of(device, card, part)) return kInvalid;
  std::snprintf(out->bus_id, sizeof out->bus_id, "00000000:%02X:00.0", card.minor + 1);
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetCudaComputeCapability(Device, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetMigMode(Device device, unsigned* now, unsigned* pending) {
  Card card;
  int part = -1;
  if (!card_of(device, card, part)) return kInvalid;
  *now = *pending = card.parts().empty() ? 0 : 1;
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetMaxMigDeviceCount(Device, unsigned* out) {
  *out = 7;
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* out) {
  Card card;
  int part = -1;
  if (!card_of(device, card, part) || index >= card.parts().size()) return 6;
  *out = handle(static_cast<unsigned>((reinterpret_cast<std::uintptr_t>(device) - 1) / 100), index + 1);
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetGpuInstanceId(Device device, unsigned* out) {
  Card card;
  int part = -1;
  if (!card_of(device, card, part) || part < 0) return kInvalid;
  *out = static_cast<unsigned>(std::atoi(card.parts()[static_cast<std::size_t>(part)][2].c_str()));
  return node::nvml::kSuccess;
}
Return nvmlDeviceGetComputeInstanceId(Device device, unsigned* out) {
  Card card;
  int part = -1;
  if (!card_of(device, card, part) || part < 0) return kInvalid;
  *out = static_cast<unsigned>(std::atoi(card.parts()[static_cast<std::size_t>(part)][3].c_str()));
  return node::nvml::kSuccess;
}
Return nvmlEventSetCreate(EventSet* out) {
  *out = reinterpret_cast<EventSet>(std::uintptr_t{1});
  return node::nvml::kSuccess;
}
Return nvmlDeviceRegisterEvents(Device, unsigned long long, EventSet) { return node::nvml::kSuccess; }
Return nvmlEventSetWait_v2(EventSet, EventData* out, unsigned milliseconds) {
  static std::set<std::string> counted;
  for (unsigned waited = 0; waited < milliseconds; waited += 50) {
    const std::vector<Card> all = cards();
    for (unsigned i = 0; i < all.size(); ++i) {
      for (const std::string& word : all[i].words) {
        if (word.rfind("xid=", 0) != 0 || !counted.insert(all[i].uuid + word).second) continue;
        *out = {handle(i), node::nvml::kEventXid, std::strtoull(word.c_str() + 4, nullptr, 10), 0, 0};
        return node::nvml::kSuccess;
      }
    }
    ::usleep(50'000);
  }
  return node::nvml::kTimeout;
}

}  // extern "C"
