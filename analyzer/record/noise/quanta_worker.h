// The threads that measure: one on each CPU, scheduled as any program is, which does fixed work and reads the clock.
#pragma once

#include "record/noise/quanta_ring.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace plumb::record {

// Of the calling thread; false with errno.
bool bind_thread_to(int cpu);

class QuantaWorkers {
  public:
    // Starts a thread on each CPU, lets all calibrate their quanta, and returns when they are ready to begin. Throws Error when a
    // CPU cannot be used.
    QuantaWorkers(const std::vector<int>& cpus, uint64_t quantum_ns);
    ~QuantaWorkers(); // stops them
    QuantaWorkers(const QuantaWorkers&) = delete;
    QuantaWorkers& operator=(const QuantaWorkers&) = delete;

    struct Worker {
        int cpu = 0;
        uint32_t tid = 0;
        uint64_t begin_ns = 0; // of its first quantum; known when the ring is not empty
        QuantaRing ring;
    };
    size_t count() const { return workers_.size(); }
    Worker& at(size_t index) { return *workers_[index]; }

    void go();   // all begin together
    void stop(); // behind the quantum that each works on; returns when all have ended

  private:
    enum State : int { waits, works, ends };
    void work(Worker& worker, uint64_t quantum_ns);

    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::thread> threads_;
    std::atomic<size_t> ready_{0};
    std::atomic<int> refused_errno_{0}, refused_cpu_{-1};
    alignas(64) std::atomic<int> state_{waits}; // alone in its line: read after every quantum, written twice
};

} // namespace plumb::record
