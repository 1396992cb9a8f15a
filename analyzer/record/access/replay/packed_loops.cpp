#include "record/access/replay/packed_loops.h"

#include "record/access/replay/loop_replay.h"
#include "record/access/replay/wide_form.h"

#include <plumb/trace_format.h>

namespace plumb::record {

namespace {

constexpr uint64_t kPacking_ns = 4'000'000; // of one loop, about

trace::PackedLoop record_of(const MomentsOfLoop& loop, const ReplayedPair& time) {
    trace::PackedLoop record{};
    record.pid = loop.pid;
    record.loop_begin = loop.begin;
    record.loop_end = loop.end;
    record.samples = loop.samples;
    record.time_ns = loop.time_ns;
    record.scalar_ps = time.seen_ps;
    record.packed_ps = time.other_ps;
    record.spread_ps = time.spread_ps;
    record.round_ps = loop.round_ps;
    record.footprint_bytes = loop.footprint_bytes();
    record.first_ns = loop.first_ns;
    record.last_ns = loop.last_ns;
    return record;
}

trace::PackedLoop packed(const MomentsOfLoop& loop) {
    const ReplayedPacked time = replay_packed(loop.instructions(), loop.moments.front().accesses, loop.sweep_rounds(), loop.round_ps);
    trace::PackedLoop record = record_of(loop, time.packed);
    record.flags = time.made_adjacent ? uint32_t{trace::kPackedMadeAdjacent} : 0;
    record.lanes = static_cast<uint16_t>(time.lanes);
    record.vector_bytes = static_cast<uint16_t>(time.vector_bytes);
    record.chains = time.chains;
    record.unchained_ps = time.unchained_ps;
    record.wide_ps = time.wide_ps;
    return record;
}

trace::PackedLoop widened(const MomentsOfLoop& loop) {
    const ReplayedPair time = replay_wide(loop.instructions(), loop.moments.front().accesses, loop.sweep_rounds(), loop.round_ps);
    trace::PackedLoop record = record_of(loop, time);
    record.flags = trace::kPackedAlready;
    record.lanes = 2;
    record.vector_bytes = 32;
    return record;
}

} // namespace

void write_packed_loops(std::span<const MomentsOfLoop> loops, uint64_t allowed_ns, NodeTraceWriter& file) {
    const uint64_t begin_ns = monotonic_ns();
    for (const MomentsOfLoop& loop : loops) {
        const bool is_scalar = computes_scalars(loop.instructions());
        if (!is_scalar && !computes_narrow(loop.instructions()))
            continue;
        if (monotonic_ns() - begin_ns + kPacking_ns > allowed_ns)
            break;
        const trace::PackedLoop record = is_scalar ? packed(loop) : widened(loop);
        if (record.scalar_ps > 0 && record.packed_ps > 0)
            file.append(trace::RecordType::PackedLoop, 0, record);
    }
}

} // namespace plumb::record
