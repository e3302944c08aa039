// How does the memory that a thread has freed go back to the system?
//
// The allocator keeps what a thread frees for the next use by that thread. A list of a large cluster is read once, and
// then most of it is of no use to anybody: a thread that has become quiet gives it back.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <functional>

namespace rt {

// After so many handlers a thread may have freed something worth giving back: those of a loop are small, and each piece
// of work on a pool is large.
inline constexpr std::size_t kHandlersOfWork = 200;
inline constexpr std::size_t kPiecesOfWork = 1;
inline constexpr std::chrono::milliseconds kQuietSpan{5000};

// Pages that this thread has freed; nothing where the allocator is not ours.
void give_back_memory();

// io_context::run(), with `at_rest` on this thread once after work: when fewer than `handlers_of_work` have run within
// `span`. A context without work is waited for without any further look.
void run_with_rests(boost::asio::io_context& context, std::size_t handlers_of_work = kHandlersOfWork,
                    const std::function<void()>& at_rest = give_back_memory,
                    std::chrono::milliseconds span = kQuietSpan);

}  // namespace rt
