// Ctrl-C and its like: what was measured until then is reported.
#pragma once

#include "record/run/end_signals.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace plumb::probe {

// While it lives, SIGINT, SIGTERM and SIGHUP do not end this process. From the first of them on they do again: who presses
// Ctrl-C twice does not want the report either.
class EndSignals {
  public:
    // The signal that came, 0: none. wait() returns when one comes, or after `longest_ns`.
    int wait(uint64_t longest_ns);
    int come() { return wait(0); }

  private:
    std::optional<record::EndSignals> blocked_{std::in_place}; // until one comes
    int signal_ = 0;
};

} // namespace plumb::probe
