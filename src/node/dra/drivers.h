// The drivers of Dynamic Resource Allocation that are on this node: who is there, and what they can be asked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "node/dra/device_health.h"
#include "node/dra/dra_messages.h"

namespace node {

// Loop thread only.
class DraDrivers {
 public:
  struct News {
    std::function<void(const std::string& driver)> came;  // it can be asked from now on
    std::function<void(const std::string& driver)> gone;
    std::function<void(const std::string& message)> warn;
    // How its devices are; may be unset.
    std::function<void(const std::string& driver, const std::vector<DeviceNews>& news)> health = {};
    std::function<void(const std::string& driver)> health_lost = {};  // nobody says it any more
  };
  using OnAnswers = std::function<void(base::Result<ClaimAnswers>)>;

  virtual ~DraDrivers() = default;

  virtual void start(News news) = 0;
  virtual void stop() = 0;
  virtual bool has(const std::string& driver) const = 0;
  // `done` once, later, unless stop() comes before; a driver that is not there is an error, as is one that answers
  // nonsense.
  virtual void prepare(const std::string& driver, const std::vector<ClaimKey>& claims, OnAnswers done) = 0;
  virtual void unprepare(const std::string& driver, const std::vector<ClaimKey>& claims, OnAnswers done) = 0;
};

}  // namespace node
