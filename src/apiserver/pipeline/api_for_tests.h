// An API server in a test: a store in memory, and an environment that runs as far as it is told.
#pragma once

#include <memory>

#include "apiserver/pipeline/api.h"
#include "client/fake_env_for_tests.h"

namespace apiserver {

struct ApiForTests {
  client::testing::FakeEnv env;
  std::unique_ptr<rt::KvStore> kv;
  std::unique_ptr<store::Store> store = *store::Store::open(env, *kv);
  Api api{env, *store, ApiOptions{}};

  explicit ApiForTests(std::unique_ptr<rt::KvStore> disk = rt::make_memory_kv()) : kv(std::move(disk)) {
    api.bootstrap([](base::Status) {});
    env.settle();
  }
};

}  // namespace apiserver
