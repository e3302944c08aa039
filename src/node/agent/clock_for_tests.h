// An environment whose wall clock tests set, while its uptime goes on.
#pragma once

#include "client/fake_env_for_tests.h"

namespace node {

struct ClockEnv : client::testing::FakeEnv {
  base::Duration ahead{};  // of where the wall clock began
  base::Time now() const override { return FakeEnv::now() + ahead; }
};

}  // namespace node
