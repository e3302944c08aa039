// The queue in front of the pool.
#include "apiserver/pipeline/side_work.h"

#include <deque>
#include <utility>

namespace apiserver {

namespace {

constexpr std::size_t kUnderWayMax = 4;  // of the pool's eight threads

}  // namespace

struct SideWork::State : std::enable_shared_from_this<SideWork::State> {
  explicit State(rt::Env& e) : env(e) {}

  rt::Env& env;
  std::deque<std::pair<rt::Task, rt::Task>> waiting;
  std::size_t under_way = 0;

  void begin_next() {
    while (!waiting.empty() && under_way < kUnderWayMax) {
      ++under_way;
      auto [work, done] = std::move(waiting.front());
      waiting.pop_front();
      env.offload(std::move(work), [self = shared_from_this(), done = std::move(done)] {
        --self->under_way;
        done();
        self->begin_next();
      });
    }
  }
};

SideWork::SideWork(rt::Env& env) : state_(std::make_shared<State>(env)) {}
SideWork::~SideWork() = default;

void SideWork::run(rt::Task work, rt::Task done) {
  state_->waiting.emplace_back(std::move(work), std::move(done));
  state_->begin_next();
}

std::size_t SideWork::waiting() const { return state_->waiting.size(); }

}  // namespace apiserver
