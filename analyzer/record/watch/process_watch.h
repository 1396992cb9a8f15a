// Of each process of the run: how often and how much it reads and writes, where its stack begins, how large its environment is, and how
// much of its memory lies on huge pages. Writes ProcessMemory (updated), of which the other fields stay 0.
#pragma once

#include "record/watch/process_rounds.h"

#include <string>
#include <unordered_map>

namespace plumb::record {

class ProcessWatch {
  public:
    ProcessWatch(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns);

    // Looks at all living processes that were sampled, if that is due (process_rounds.h). About 20 us a process, and what the kernel
    // takes to walk its page tables, 20 ms at most: some 10 to 50 ns for each small page. Of one that is larger than that allows, what
    // it had before is known.
    void look(ProcessTable& processes, uint64_t now_ns);

  private:
    void read_one(const Process& process, uint64_t now_ns, trace::ProcessMemory*& record);
    void look_at_pages(uint32_t pid, trace::ProcessMemory& record);
    trace::ProcessMemory* begin_record(uint32_t pid, uint64_t now_ns);

    NodeTraceWriter& file_;
    std::string proc_root_;
    ProcessRounds rounds_;
    std::unordered_map<const trace::ProcessMemory*, double> walks_; // nanoseconds a resident byte, when it was looked at last
};

} // namespace plumb::record
