// Fields by their numbers, and time that passes.
#include "node/dra/device_health.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "base/utf8.h"
#include "node/devices/message_fields.h"

namespace node {

using base::WireField;

namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::size_t kDevicesMax = 4096;  // of one message, and of one driver
constexpr std::size_t kMessageMax = 1024;  // more is cut, as by a kubelet
constexpr base::Duration kHoldsUsually = base::seconds(30);
constexpr std::int64_t kHoldsSecondsMax = 365 * 24 * 3600;

constexpr base::Duration kNever{std::numeric_limits<std::int64_t>::max()};

std::string message_from(std::string_view bytes) {
  if (bytes.size() <= kMessageMax) return base::to_utf8(bytes);
  return base::to_utf8(base::utf8_prefix(bytes, kMessageMax - 3)) + "...";
}

base::Status read_device(std::string_view message, DeviceNews& out) {
  return each_field(message, [&out](const WireField& field) -> base::Status {
    if (field.number == 1) out.pool = field.bytes;
    if (field.number == 2) out.device = field.bytes;
    return {};
  });
}

base::Result<DeviceNews> news_from(std::string_view message) {
  DeviceNews news;
  news.holds = kHoldsUsually;
  TRY_VOID(each_field(message, [&news](const WireField& field) -> base::Status {
    if (field.number == 1) return read_device(field.bytes, news);
    if (field.number == 2)
      news.health = field.integer == 1 ? Health::kHealthy : field.integer == 2 ? Health::kUnhealthy : Health::kUnknown;
    const auto seconds = static_cast<std::int64_t>(field.integer);
    if (field.number == 4 && seconds > 0) news.holds = base::seconds(std::min(seconds, kHoldsSecondsMax));
    if (field.number == 5) news.message = message_from(field.bytes);
    return {};
  }));
  if (news.pool.empty() || !is_plain_text(news.pool, kNameMax))
    return wrong_field("pool_name", news.pool, "is not a name");
  if (news.device.empty() || !is_plain_text(news.device, kNameMax))
    return wrong_field("device_name", news.device, "is not a name");
  return news;
}

}  // namespace

std::string_view name_of(Health health) {
  switch (health) {
    case Health::kHealthy: return "Healthy";
    case Health::kUnhealthy: return "Unhealthy";
    case Health::kUnknown: break;
  }
  return "Unknown";
}

base::Result<std::vector<DeviceNews>> device_news_from(std::string_view message) {
  std::vector<DeviceNews> all;
  TRY_VOID(each_field(message, [&all](const WireField& field) -> base::Status {
    if (field.number != 1) return {};
    if (all.size() == kDevicesMax)
      return base::make_error(base::Code::kTooLarge, base::format("devices: more than {}", kDevicesMax));
    TRY(DeviceNews news, news_from(field.bytes));
    all.push_back(std::move(news));
    return {};
  }));
  return all;
}

bool HealthBook::update(const std::string& driver, const std::vector<DeviceNews>& news, base::Duration now) {
  Devices& devices = drivers_[driver];
  bool changed = false;
  for (const DeviceNews& one : news) {
    const auto key = std::pair(one.pool, one.device);
    if (devices.size() >= kDevicesMax && !devices.contains(key)) continue;  // of which the first are remembered
    Entry& entry = devices[key];
    const KnownHealth known{one.health, one.message};
    changed = changed || entry.known != known;
    entry = {known, now + one.holds};
  }
  return changed;
}

bool HealthBook::lost(const std::string& driver) {
  const auto found = drivers_.find(driver);
  if (found == drivers_.end()) return false;
  const bool changed =
      std::ranges::any_of(found->second, [](const auto& row) { return row.second.known != KnownHealth(); });
  drivers_.erase(found);
  return changed;
}

bool HealthBook::expire(base::Duration now) {
  bool changed = false;
  for (auto& [driver, devices] : drivers_)
    for (auto row = devices.begin(); row != devices.end();) {
      if (now < row->second.until) {
        ++row;
        continue;
      }
      changed = changed || row->second.known != KnownHealth();
      row = devices.erase(row);
    }
  return changed;
}

base::Duration HealthBook::next_end() const {
  base::Duration next = kNever;
  for (const auto& [driver, devices] : drivers_)
    for (const auto& [key, entry] : devices) next = std::min(next, entry.until);
  return next;
}

KnownHealth HealthBook::of(const std::string& driver, const std::string& pool, const std::string& device) const {
  const auto devices = drivers_.find(driver);
  if (devices == drivers_.end()) return {};
  const auto entry = devices->second.find(std::pair(pool, device));
  return entry == devices->second.end() ? KnownHealth() : entry->second.known;
}

}  // namespace node
