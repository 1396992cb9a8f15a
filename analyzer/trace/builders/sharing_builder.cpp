#include "trace/builders/sharing_builder.h"

#include "trace/context/access_kind.h"

#include <algorithm>
#include <bit>

namespace plumb::trace {

namespace {

constexpr uint64_t kMostSamples = uint64_t{1} << 52; // files may say anything; parts of it are calculated with doubles

} // namespace

void SharingBuilder::take(const SharedLine& record, Allowance& allowance) {
    if (!std::has_single_bit(record.line_bytes) || !allowance.take(sizeof(model::SharedLine)))
        return;
    lines_[record.address] = static_cast<uint32_t>(process_.shared_lines.size());
    process_.shared_lines.push_back({.address = record.address,
                                     .bytes = record.line_bytes,
                                     .samples = record.samples,
                                     .time_ns = record.time_ns,
                                     .pairs = record.pairs,
                                     .handovers = std::min(record.handovers, record.pairs),
                                     .close_pairs = std::min(record.close_pairs, record.pairs),
                                     .close_handovers = std::min(record.close_handovers, record.close_pairs),
                                     .same_handovers = record.same_handovers,
                                     .other_handovers = record.other_handovers,
                                     .same_slices = record.same_slices,
                                     .other_slices = record.other_slices,
                                     .slice_ns = record.slice_ns,
                                     .threads = record.threads,
                                     .uses = {}});
}

void SharingBuilder::take(const LineUse& record, uint32_t thread, uint32_t path, uint64_t first_ns, uint64_t last_ns,
                          Allowance& allowance) {
    const auto line = lines_.find(record.line);
    if (line == lines_.end() || !allowance.take(sizeof(model::LineUse) + sizeof record.code))
        return;
    const size_t code_bytes = std::min<size_t>(record.code_bytes, sizeof record.code);
    process_.shared_lines[line->second].uses.push_back({.thread = thread,
                                                        .path = path,
                                                        .instruction = record.instruction,
                                                        .code = {record.code, record.code + code_bytes},
                                                        .kind = access_kind(record.flags, record.width),
                                                        .offset = record.offset,
                                                        .base_value = record.base_value,
                                                        .samples = std::min(record.samples, kMostSamples),
                                                        .time_ns = record.time_ns,
                                                        .shared_ns = std::min(record.shared_ns, record.time_ns),
                                                        .polled_ns = std::min(record.polled_ns, record.time_ns),
                                                        .same_handovers = record.same_handovers,
                                                        .other_handovers = record.other_handovers,
                                                        .first_ns = first_ns,
                                                        .last_ns = last_ns});
}

} // namespace plumb::trace
