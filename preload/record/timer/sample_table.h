// The samples of one thread, counted in place: one SampleSite record for each call path that was seen.
#pragma once

#include "record/process/trace_writer.h"

namespace plumb::shim {

class SampleTable {
  public:
    // Zeroed memory is a valid empty table. Signal-safe under the thread's guard.
    void add(const Guard&, trace::NodeId path, uint64_t samples, uint64_t time_ns, bool in_kernel, uint64_t now_ns);

    // Forgets the records, which stay in the file as they are: another thread begins.
    void clear();

  private:
    struct Entry {
        trace::NodeId path; // 0: free
        trace::SampleSite* site;
    };
    static constexpr uint32_t kEntries = 8192;
    static constexpr uint32_t kProbes = 32;

    Entry entries_[kEntries];
    bool used_;
};

} // namespace plumb::shim
