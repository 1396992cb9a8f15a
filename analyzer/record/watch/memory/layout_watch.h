// Where the stack of each process of the run begins, how large its environment is, and how much of its memory lies on huge pages: what
// makes equal runs differ. Writes ProcessMemory (updated), of which the other fields stay 0.
#pragma once

#include "record/watch/process_rounds.h"

#include <string>

namespace plumb::record {

class LayoutWatch {
  public:
    LayoutWatch(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns);

    // Looks at all living processes that were sampled, if that is due (process_rounds.h).
    void look(ProcessTable& processes, uint64_t now_ns);

  private:
    void read_one(const Process& process, uint64_t now_ns, trace::ProcessMemory*& record);

    NodeTraceWriter& file_;
    std::string proc_root_;
    ProcessRounds rounds_;
};

} // namespace plumb::record
