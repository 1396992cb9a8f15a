// No signal may arrive while a lock of the shim's is held that others wait for without end: a handler that leaves by a jump,
// or a cancellation, would leave it locked for ever. An unaligned access would then be deadly, so the alignment trap is off
// meanwhile. Two system calls.
#pragma once

#include "platform/code/alignment_flag.h"
#include "platform/os/system_call.h"

#include <signal.h>
#include <stdint.h>

namespace plumb::shim {

class SignalsBlocked {
  public:
    SignalsBlocked() {
        const uint64_t all = ~uint64_t{0};
        system_call(SYS_rt_sigprocmask, SIG_BLOCK, word(&all), word(&former_), sizeof all);
    }
    ~SignalsBlocked() { system_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&former_), 0, sizeof former_); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    AlignmentTrapOff trap_off_;
    uint64_t former_ = 0;
};

} // namespace plumb::shim
