// What clients and servers of gRPC share: the thread, and addresses as Asio has them.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "rt/grpc.h"

namespace rt {

struct GrpcIo::State {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{context.get_executor()};
  std::thread thread;
};

using GrpcSocket = boost::asio::generic::stream_protocol::socket;
using GrpcEndpoint = boost::asio::generic::stream_protocol::endpoint;

base::Result<GrpcEndpoint> grpc_endpoint(const GrpcTarget& target);
std::string grpc_place(const GrpcTarget& target);  // for people

}  // namespace rt
