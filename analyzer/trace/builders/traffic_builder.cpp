#include "trace/builders/traffic_builder.h"

#include "trace/context/access_kind.h"

#include <algorithm>

namespace plumb::trace {

void TrafficBuilder::take(const MemoryStream& record, uint64_t first_ns, uint64_t last_ns, Allowance& allowance) {
    std::vector<model::StreamingLoop>& loops = process_.streaming_loops;
    if (!allowance.take(sizeof(model::MemoryStream)))
        return;
    const auto [known, is_new] = loops_.try_emplace(record.loop, static_cast<uint32_t>(loops.size()));
    if (is_new) {
        if (!allowance.take(sizeof(model::StreamingLoop))) {
            loops_.erase(known);
            return;
        }
        loops.push_back({.begin = record.loop_begin, .end = record.loop_end, .first_ns = first_ns, .last_ns = last_ns,
                         .after = 0, .streams = {}, .bursts = {}});
        after_.push_back(record.after_loop);
    }
    loops[known->second].streams.push_back({.instruction = record.instruction,
                                            .kind = access_kind(record.flags, record.width),
                                            .past_caches = record.past_caches != 0,
                                            .round_bytes = record.round_bytes,
                                            .read_bytes = record.read_bytes,
                                            .written_bytes = record.written_bytes,
                                            .footprint_bytes = record.footprint_bytes,
                                            .lowest_address = record.lowest_address,
                                            .highest_address = std::max(record.lowest_address, record.highest_address),
                                            .last_address = record.last_address});
}

void TrafficBuilder::take(const TrafficBurst& record, uint64_t begin_ns, uint64_t end_ns, Allowance& allowance) {
    const auto known = loops_.find(record.loop);
    if (known == loops_.end() || record.end_ns <= record.begin_ns || !allowance.take(sizeof(model::TrafficBurst)))
        return;
    process_.streaming_loops[known->second].bursts.push_back(
        {.begin_ns = begin_ns,
         .end_ns = end_ns,
         .threads = static_cast<double>(record.threads_milli) * 1e-3,
         .read_bytes_per_s = static_cast<double>(record.read_bytes_per_s),
         .written_bytes_per_s = static_cast<double>(record.written_bytes_per_s)});
}

void TrafficBuilder::end_file() {
    for (const auto& [number, loop] : loops_)
        if (const auto before = loops_.find(after_[loop]); before != loops_.end() && before->second != loop)
            process_.streaming_loops[loop].after = process_.streaming_loops[before->second].begin;
    loops_.clear();
}

void TrafficBuilder::finish() {
    for (model::StreamingLoop& loop : process_.streaming_loops)
        std::ranges::stable_sort(loop.bursts, {}, &model::TrafficBurst::begin_ns);
}

} // namespace plumb::trace
