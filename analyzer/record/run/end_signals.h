// Ctrl-C and its like end what is measured, not the process: blocked in all threads that are made from now on, and read here.
#pragma once

#include <csignal>

namespace plumb::record {

class EndSignals { // SIGINT, SIGTERM, SIGHUP
  public:
    EndSignals();
    ~EndSignals(); // what came meanwhile is forgotten: a second Ctrl-C was meant for the same
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    int fd() const { return fd_; } // readable when one has come

  private:
    sigset_t mask_, before_;
    int fd_ = -1;
};

} // namespace plumb::record
