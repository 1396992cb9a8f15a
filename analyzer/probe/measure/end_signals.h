// Ctrl-C and its like: what was measured until then is reported.
#pragma once

#include <csignal>
#include <cstdint>

namespace plumb::probe {

// While it lives, SIGINT, SIGTERM and SIGHUP do not end this process. From the first of them on they do again: who presses
// Ctrl-C twice does not want the report either.
class EndSignals {
  public:
    EndSignals();
    ~EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    // The signal that came, 0: none. wait() returns when one comes, or after `longest_ns`.
    int wait(uint64_t longest_ns);
    int come() { return wait(0); }

  private:
    void give_back();

    sigset_t mask_, before_;
    int fd_ = -1, signal_ = 0;
    bool is_blocked_ = true;
};

} // namespace plumb::probe
