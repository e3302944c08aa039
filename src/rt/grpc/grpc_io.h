// The shared parts of clients and servers of gRPC: the thread, and addresses as Asio has them.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <thread>

#include "rt/grpc/grpc.h"

namespace rt {

// Sockets need the context as long as they live, and some live longer than the GrpcIo: on a loop, or with whoever has
// still to answer. They share it. Tasks that wait in the context hold them in turn, so that the end of the GrpcIo drops
// all tasks, and takes no more: else each would keep the other.
struct GrpcIo::State {
  class Context : public boost::asio::io_context {
   public:
    Context() : boost::asio::io_context(1) {}
    void drop() { shutdown(); }  // handlers, without running them
  };
  Context context;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{context.get_executor()};
  std::thread thread;

  // Any thread. After the end of the GrpcIo the task is dropped.
  template <class Task>
  void post(Task task) {
    const std::lock_guard lock(mutex_);
    if (!ended_) boost::asio::post(context, std::move(task));
  }
  // The thread has been joined.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    context.drop();
  }

 private:
  std::mutex mutex_;
  bool ended_ = false;
};

using GrpcSocket = boost::asio::generic::stream_protocol::socket;
using GrpcEndpoint = boost::asio::generic::stream_protocol::endpoint;

base::Result<GrpcEndpoint> grpc_endpoint(const GrpcTarget& target);
std::string grpc_place(const GrpcTarget& target);  // for people

}  // namespace rt
