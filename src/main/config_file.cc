// A configuration file that is read again when it changed.
#include "main/config_file.h"

#include "base/format.h"
#include "base/log.h"
#include "rt/files.h"

namespace volcano_main {
namespace {

constexpr base::Duration kLookPeriod = base::seconds(1);

}  // namespace

ConfigFile::~ConfigFile() {
  if (timer_ != 0) env_.loop().cancel(timer_);
}

base::Status ConfigFile::read() {
  if (path_.empty()) return {};
  TRY(std::string text, rt::read_file(path_));
  if (text == seen_) return {};
  seen_ = text;
  return take_(text);
}

void ConfigFile::watch() {
  if (path_.empty()) return;
  timer_ = env_.loop().after(kLookPeriod, [this] {
    const std::string before = seen_;
    const base::Status read_again = read();
    const std::string problem = read_again.ok() ? "" : read_again.error().message;
    if (!problem.empty() && (problem != told_ || seen_ != before))
      base::log_error(component_, base::format("configuration {}: {}; the previous one stays", path_, problem));
    told_ = problem;
    watch();
  });
}

}  // namespace volcano_main
