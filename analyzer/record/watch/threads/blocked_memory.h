// What is read from the memory of a thread that is blocked: the lowest part of its stack, where it waits for a futex the
// words of the lock, and where it sleeps how long.
#pragma once

#include "platform/task_syscall.h"

#include <cstdint>
#include <ctime>
#include <vector>

namespace plumb::record {

class BlockedMemory {
  public:
    // What cannot be read is missing afterwards.
    void read(uint32_t pid, const platform::TaskSyscall& call);

    const std::vector<char>& stack() const { return stack_; } // from the stack pointer on

    uint32_t futex_word() const { return has_futex_ ? futex_[0] : 0; } // that is waited on

    // What a sleep asks for: how long, or until when; 0: not known.
    uint64_t asked_ns() const;

    // The thread id that stands where a lock of the C library has its holder's; 0: none does. A lock of the program's own can
    // look like one by chance: it is a holder only if a thread of the process has this id. In a PID namespace of its own the
    // ids are others than those seen from outside.
    uint32_t lock_holder() const;

  private:
    std::vector<char> stack_;
    uint32_t futex_[5] = {}; // the words from the futex on
    bool has_futex_ = false;
    timespec asked_ = {};
    bool has_asked_ = false;
};

} // namespace plumb::record
