// How many threads of each process are active at the same time, from the kernel's records of switches (ThreadsActive records).
// Active: on a CPU, or preempted. A thread that was woken and has no CPU yet is not counted: no record says so.
#pragma once

#include "record/perf/perf_record.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <unordered_map>

namespace plumb::record {

class ActiveThreads {
  public:
    explicit ActiveThreads(NodeTraceWriter& file) : file_(file) {}

    void take(const PerfRecord& record); // in the order of time; ignores what it does not need

    // At the latest record: the thread is active, and no other one of its process is.
    bool is_alone(uint32_t pid, uint32_t tid) const;

    void write(); // what changed; once a tick, and at the end

    // Nothing further comes. What is known ends with the latest record of each process.
    void stop();

  private:
    struct Thread {
        uint32_t pid = 0;
        bool active = false;
    };
    struct Image { // one program of a process
        size_t active = 0;
        uint64_t since_ns = 0; // of this number; 0: nothing is known yet
        trace::ThreadsActive counts{};
        trace::ThreadsActive* record = nullptr;
        bool changed = false;
    };
    void set(uint32_t tid, uint32_t pid, bool active, uint64_t time_ns);
    void remove(uint32_t tid, uint64_t time_ns);
    void end_image(uint32_t pid, uint64_t time_ns);
    void write(uint32_t pid, Image& image);
    static void advance(Image& image, uint64_t time_ns);

    NodeTraceWriter& file_;
    std::unordered_map<uint32_t, Thread> threads_; // living, by tid
    std::unordered_map<uint32_t, Image> images_;   // living, by pid
    bool stopped_ = false;
};

} // namespace plumb::record
