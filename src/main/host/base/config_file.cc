// A configuration file that is read again when it changed.
#include "main/host/base/config_file.h"

#include "base/format.h"
#include "base/log.h"
#include "rt/files/bounded_files.h"

namespace volcano_main {
namespace {

constexpr base::Duration kLookPeriod = base::seconds(1);
// It is read on the loop: what is larger, or no file, must not hold that up.
constexpr std::size_t kBytesMax = std::size_t{4} << 20;

}  // namespace

ConfigFile::~ConfigFile() {
  if (timer_ != 0) env_.loop().cancel(timer_);
}

base::Status ConfigFile::read() {
  if (path_.empty()) return {};
  base::Status out = look();
  reported_ = out.ok() ? "" : out.error().message;
  return out;
}

base::Status ConfigFile::look() {
  TRY(std::string text, rt::read_bounded_file(path_, kBytesMax, {}));
  if (text == seen_) return taken_;
  seen_ = text;
  taken_ = take_(text);
  return taken_;
}

void ConfigFile::watch() {
  if (path_.empty()) return;
  timer_ = env_.loop().after(kLookPeriod, [this] {
    look_and_notify();
    watch();
  });
}

void ConfigFile::look_now() {
  if (path_.empty()) return;
  if (!reported_.empty()) seen_.reset();  // what was refused is refused once more
  reported_.clear();
  look_and_notify();
  base::log_info(component_,
                 base::format("configuration {}: {}", path_, reported_.empty() ? "read again" : "not in use"));
}

void ConfigFile::look_and_notify() {
  const std::optional<std::string> before = seen_;
  const std::string reported = reported_;
  const base::Status read_again = read();
  if (!read_again.ok() && (reported_ != reported || seen_ != before))
    base::log_error(component_, base::format("configuration {}: {}; the previous one stays", path_, reported_));
}

}  // namespace volcano_main
