// Threads bound to one CPU each, which sleep until there is a turn for them.
#pragma once

#include "probe/measured.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace plumb::probe {

class Crew {
  public:
    // Throws Error when a CPU cannot be used. The calling thread stays where it is.
    explicit Crew(const std::vector<int>& cpus);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    size_t count() const { return members_.size(); }

    using Task = std::function<void()>;
    struct Order {
        size_t member = 0; // in the order of `cpus`
        Task task;
    };
    // Runs all tasks, each by its thread; they begin together (within some microseconds where the CPUs are free). Returns when
    // all have ended.
    void run(const std::vector<Order>& orders);

  private:
    struct Member {
        std::condition_variable wakes;
        const Task* task = nullptr;
    };
    void serve(size_t index, int cpu);

    std::mutex mutex_;
    std::condition_variable done_;
    std::vector<std::unique_ptr<Member>> members_;
    std::vector<std::thread> threads_;
    size_t busy_ = 0;
    bool quits_ = false;
    int refused_errno_ = 0, refused_cpu_ = -1;
    std::atomic<size_t> missing_{0}; // of those that begin together
};

} // namespace plumb::probe
