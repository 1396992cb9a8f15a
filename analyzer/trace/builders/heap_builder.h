// The heap of one model::Process under construction: adds up what its threads allocated, by call path.
#pragma once

#include "model/run.h"
#include "trace/context/file_context.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <vector>

namespace plumb::trace {

class HeapBuilder {
  public:
    explicit HeapBuilder(model::Process& process) : process_(process) {} // outlives the builder

    void take(const HeapTotals& record);
    void take(const HeapSite& record, uint32_t path, const FileContext& context); // `path`: of the process's own

    void finish();

  private:
    model::Process& process_;
    std::vector<uint32_t> sites_; // by path, index + 1
};

} // namespace plumb::trace
