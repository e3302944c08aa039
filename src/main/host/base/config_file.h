// A configuration file that is read again when it changed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "rt/env.h"

namespace volcano_main {

// The file is looked at every second; one that cannot be used leaves what is in use as it is, and says so once. On the
// loop of `env`; gone before the loop is.
class ConfigFile {
 public:
  using Take = std::function<base::Status(const std::string& text)>;
  // `component` is the word in the log; without a path there is nothing to read.
  ConfigFile(rt::Env& env, std::string component, std::string path, Take take)
      : env_(env), component_(std::move(component)), path_(std::move(path)), take_(std::move(take)) {}
  ~ConfigFile();
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;

  // Hands the text on if it differs from what was read last. The caller reports a problem.
  base::Status read();
  void watch();
  // The same at once, and a problem is told again.
  void look_now();

 private:
  base::Status look();
  void look_and_notify();

  rt::Env& env_;
  const std::string component_;
  const std::string path_;
  const Take take_;
  std::optional<std::string> seen_;
  base::Status taken_;    // what was said of it
  std::string reported_;  // the problem that was told last
  rt::Loop::TimerId timer_ = 0;
};

}  // namespace volcano_main
