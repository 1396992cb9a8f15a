// How often and how much each process of the run reads and writes. Writes ProcessMemory (updated), of which the other fields
// stay 0.
#pragma once

#include "record/watch/process_rounds.h"

#include <string>

namespace plumb::record {

class IoWatch {
  public:
    IoWatch(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns);

    // Looks at all living processes that were sampled, if that is due (process_rounds.h). About 10 us a process.
    void look(ProcessTable& processes, uint64_t now_ns);

  private:
    void read_one(const Process& process, uint64_t now_ns, trace::ProcessMemory*& record);

    NodeTraceWriter& file_;
    std::string proc_root_;
    ProcessRounds rounds_;
};

} // namespace plumb::record
