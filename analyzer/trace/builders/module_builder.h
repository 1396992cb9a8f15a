// The modules of one model::Process under construction. A mapping that both the shim and the recorder report is one module.
#pragma once

#include "model/run.h"
#include "trace/context/allowance.h"
#include "trace/file/mixed_hash.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace plumb::trace {

class ModuleBuilder {
  public:
    explicit ModuleBuilder(model::Process& process) : process_(process) {} // outlives the builder

    void take(const ModuleLoad& record, uint64_t time_ns, const std::string& path);
    void take(const ModuleUnload& record, uint64_t time_ns);

    void end_file() { ids_.clear(); } // ids are private to their file

    // `parent`: the process it was forked from; a fork begins with its parent's mappings.
    void inherit(const model::Process& parent, Allowance& allowance);

  private:
    model::Process& process_;
    std::unordered_map<uint64_t, uint32_t, MixedHash> latest_at_; // by start
    std::unordered_map<uint32_t, uint32_t, MixedHash> ids_;
};

} // namespace plumb::trace
