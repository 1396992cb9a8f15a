// Measures this machine in rounds: each does all there is to measure once, so that what changes with time meets all alike.
#pragma once

#include "probe/measure/end_signals.h"
#include "probe/measured.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace plumb::probe {

struct ProbeOptions {
    std::string cpus = "all"; // or a list
    double time_s = 60;
    std::string folder = ".";  // whose disk is measured
    bool is_short = false;     // what each CPU does alone, and nothing else
};

class Prober {
  public:
    // Threads and memory; takes some seconds on large machines. Throws UsageError and Error.
    Prober(const ProbeOptions& options, EndSignals& signals);
    ~Prober();

    // Rounds for the time that was asked for; at least one. `progress`: called after each round with the share that is done.
    Measured measure(const std::function<void(double)>& progress);

  private:
    class Session;
    std::unique_ptr<Session> session_;
};

} // namespace plumb::probe
