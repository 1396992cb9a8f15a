// The threads of one model::Process under construction: merges what the shim and the recorder report of each. A thread id that
// the system gives out again is another thread.
#pragma once

#include "model/run.h"
#include "trace/context/file_context.h"
#include "trace/file/mixed_hash.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace plumb::trace {

class ThreadBuilder {
  public:
    explicit ThreadBuilder(model::Process& process) : process_(process) {} // outlives the builder

    // The thread that had the id at that time: the latest that began before, else the first. Adds it where none had the id.
    uint32_t at(uint32_t tid, uint64_t time_ns);

    void take(const ThreadStart& record, uint64_t time_ns, uint32_t creation_path); // a path of the process's own
    void take(const ThreadEnd& record, uint64_t time_ns);
    void take(const ThreadName& record, const FileContext& context);
    void take(const ThreadSchedule& record, FileContext& context);
    void take(const ThreadInterval& record, const FileContext& context);
    void take(const Placement& record, uint64_t time_ns);
    void take(const ThreadWall& record, const FileContext& context);
    void take(const ThreadSwitches& record, const FileContext& context);
    void take(const Preemption& record, const FileContext& context);

    // Fills what follows from the rest. The process's own start and end are known by then.
    void finish();

  private:
    struct Facts { // beside model::Thread, same index
        bool started = false;   // by a ThreadStart of the shim
        bool scheduled = false; // by a ThreadSchedule of the recorder
        uint64_t cpu_time_ns = 0;
    };
    uint32_t add(uint32_t tid, uint64_t start_ns);

    model::Process& process_;
    std::vector<Facts> facts_;
    std::unordered_map<uint32_t, std::vector<uint32_t>, MixedHash> of_tid_;
};

} // namespace plumb::trace
