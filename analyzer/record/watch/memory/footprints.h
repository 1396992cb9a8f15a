// How much memory each process of the run needs at its largest, and by which policy it gets it. Writes ProcessMemory
// (updated).
#pragma once

#include "record/watch/process_rounds.h"

#include <string>

namespace plumb::record {

class Footprints {
  public:
    Footprints(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns);

    // Looks at all living processes, if that is due (process_rounds.h).
    void look(ProcessTable& processes, uint64_t now_ns);
    uint64_t next_ns() const { return rounds_.next_ns(); }

  private:
    void read_one(const Process& process, uint64_t now_ns, trace::ProcessMemory*& record);

    NodeTraceWriter& file_;
    std::string proc_root_;
    ProcessRounds rounds_;
};

} // namespace plumb::record
