// The queue in front of the pool.
#include "apiserver/pipeline/turns/side_work.h"

#include <unordered_map>
#include <utility>

#include "apiserver/pipeline/turns/fair_turns.h"

namespace apiserver {

namespace {

constexpr std::size_t kUnderWayMax = 4;  // of the pool's eight threads

}  // namespace

struct SideWork::State : std::enable_shared_from_this<SideWork::State> {
  explicit State(rt::Env& e) : env(e) {}

  struct Piece {
    rt::Task work, done;
  };

  rt::Env& env;
  FairTurns turns;
  std::unordered_map<FairTurns::Ticket, Piece> waiting;
  std::string user;  // of now
  std::size_t under_way = 0;

  void add(Piece piece) {
    waiting.emplace(*turns.add(user), std::move(piece));
    begin_next();
  }

  void begin_next() {
    while (under_way < kUnderWayMax) {
      const FairTurns::Ticket ticket = turns.next();
      if (ticket == 0) return;
      ++under_way;
      Piece piece = std::move(waiting.extract(ticket).mapped());
      env.offload(std::move(piece.work), [self = shared_from_this(), done = std::move(piece.done), of = turns.user(),
                                          begun = env.uptime()]() mutable {
        --self->under_way;
        self->turns.used_by(of, self->env.uptime() - begun);
        of.swap(self->user);
        done();
        of.swap(self->user);
        self->begin_next();
      });
    }
  }
};

SideWork::SideWork(rt::Env& env) : state_(std::make_shared<State>(env)) {}
SideWork::~SideWork() = default;

void SideWork::run(rt::Task work, rt::Task done) { state_->add({std::move(work), std::move(done)}); }

std::string SideWork::work_for(std::string user) { return std::exchange(state_->user, std::move(user)); }

std::size_t SideWork::waiting() const { return state_->waiting.size(); }

}  // namespace apiserver
