#include "record/access/replay/packed_loops.h"

#include "record/access/replay/loop_replay.h"

#include <plumb/trace_format.h>

namespace plumb::record {

namespace {

constexpr uint64_t kPacking_ns = 4'000'000; // of one loop, about

} // namespace

void write_packed_loops(std::span<const MomentsOfLoop> loops, uint64_t allowed_ns, NodeTraceWriter& file) {
    const uint64_t begin_ns = monotonic_ns();
    for (const MomentsOfLoop& loop : loops) {
        if (!computes_scalars(loop.instructions()))
            continue;
        if (monotonic_ns() - begin_ns + kPacking_ns > allowed_ns)
            break;
        const ReplayedPacked time = replay_packed(loop.instructions(), loop.moments.front().accesses, loop.sweep_rounds(), loop.round_ps);
        if (time.packed.seen_ps == 0 || time.packed.other_ps == 0)
            continue;
        trace::PackedLoop record{};
        record.pid = loop.pid;
        record.flags = time.made_adjacent ? uint32_t{trace::kPackedMadeAdjacent} : 0;
        record.loop_begin = loop.begin;
        record.loop_end = loop.end;
        record.samples = loop.samples;
        record.time_ns = loop.time_ns;
        record.lanes = static_cast<uint16_t>(time.lanes);
        record.vector_bytes = static_cast<uint16_t>(time.vector_bytes);
        record.chains = time.chains;
        record.scalar_ps = time.packed.seen_ps;
        record.packed_ps = time.packed.other_ps;
        record.spread_ps = time.packed.spread_ps;
        record.unchained_ps = time.unchained_ps;
        record.wide_ps = time.wide_ps;
        record.round_ps = loop.round_ps;
        record.footprint_bytes = loop.footprint_bytes();
        record.first_ns = loop.first_ns;
        record.last_ns = loop.last_ns;
        file.append(trace::RecordType::PackedLoop, 0, record);
    }
}

} // namespace plumb::record
