// The unaligned accesses of one model::Process under construction: what the alignment trap of the shim and the
// address sampling of the recorder say about its instructions.
#pragma once

#include "model/run.h"
#include "trace/context/allowance.h"
#include "trace/file/mixed_hash.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <unordered_map>

namespace plumb::trace {

class AlignmentBuilder {
  public:
    explicit AlignmentBuilder(model::Process& process) : process_(process) {} // outlives the builder

    // Threads and paths are indexes into the process's own lists, times those of the run. The records of an
    // instruction come in any order: each thread writes into a chunk of its own.
    void take(const AlignSite& record, uint32_t path, uint64_t time_ns, Allowance& allowance);
    void take(const AlignCount& record, uint32_t thread, uint64_t last_ns, Allowance& allowance);
    void take(const AlignAddress& record, uint32_t thread, uint64_t time_ns, uint32_t block_path, Allowance& allowance);
    void take(const AlignTotals& record);
    void take(const AlignCode& record);
    void take(const AccessSite& record);
    void take(const AccessStride& record, uint64_t last_ns, Allowance& allowance);
    void take(const ReplayedAccess& record, Allowance& allowance);

    void end_file() { sites_.clear(); } // ids of instructions are private to their file

    // Puts everything in order; moves call paths that end in code of the shim to the instruction it stood for.
    // Counts of instructions that no record describes go to Alignment::lost_hits.
    void finish();

  private:
    model::UnalignedSite* site(uint32_t id, Allowance& allowance); // null: the allowance is used up
    void give_back_samples();

    model::Process& process_;
    std::unordered_map<uint32_t, uint32_t, MixedHash> sites_;            // by id, index into Alignment::sites
    std::unordered_map<uint64_t, uint32_t, MixedHash> sampled_accesses_; // by address of the instruction
};

} // namespace plumb::trace
