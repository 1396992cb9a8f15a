#include "trace/builders/alignment_builder.h"

#include "trace/context/access_kind.h"

#include <algorithm>

namespace plumb::trace {

namespace {

model::UnalignedAddress::Block block_of(uint32_t kind) {
    using Block = model::UnalignedAddress::Block;
    switch (static_cast<BlockKind>(kind)) {
    case BlockKind::heap:
        return Block::heap;
    case BlockKind::stack:
        return Block::stack;
    case BlockKind::mapping:
        return Block::mapping;
    default:
        return Block::unknown;
    }
}

// One entry a thread: a thread that ran out of room in a chunk began another record.
void merge_threads(std::vector<model::UnalignedThread>& threads) {
    std::ranges::stable_sort(threads, {}, &model::UnalignedThread::thread);
    size_t kept = 0;
    for (const model::UnalignedThread& thread : threads) {
        if (kept > 0 && threads[kept - 1].thread == thread.thread) {
            threads[kept - 1].hits += thread.hits;
            threads[kept - 1].page_crossings += thread.page_crossings;
        } else {
            threads[kept++] = thread;
        }
    }
    threads.resize(kept);
}

void merge_accesses(std::vector<model::SampledAccess>& accesses) {
    std::ranges::stable_sort(accesses, {}, &model::SampledAccess::address);
    size_t kept = 0;
    for (const model::SampledAccess& access : accesses) {
        if (kept == 0 || accesses[kept - 1].address != access.address) {
            accesses[kept++] = access;
            continue;
        }
        model::SampledAccess& same = accesses[kept - 1];
        same.samples += access.samples;
        same.time_ns += access.time_ns;
        same.unaligned += access.unaligned;
        same.line_crossings += access.line_crossings;
        same.page_crossings += access.page_crossings;
    }
    accesses.resize(kept);
}

// Where several pieces hold an address, the one that begins last counts.
const model::StandInCode* find(const std::vector<model::StandInCode>& stand_ins, uint64_t address) {
    const auto after = std::ranges::upper_bound(stand_ins, address, {}, &model::StandInCode::start);
    return after == stand_ins.begin() || address >= std::prev(after)->end ? nullptr : &*std::prev(after);
}

} // namespace

model::UnalignedSite* AlignmentBuilder::site(uint32_t id, Allowance& allowance) {
    std::vector<model::UnalignedSite>& sites = process_.alignment.sites;
    if (const auto known = sites_.find(id); known != sites_.end())
        return &sites[known->second];
    if (!allowance.take(sizeof(model::UnalignedSite)))
        return nullptr;
    sites_.emplace(id, static_cast<uint32_t>(sites.size()));
    sites.emplace_back().exact = true; // until a count says otherwise
    return &sites.back();
}

void AlignmentBuilder::take(const AlignSite& record, uint32_t path, uint64_t time_ns, Allowance& allowance) {
    model::UnalignedSite* known = site(record.id, allowance);
    if (!known || known->address != 0)
        return;
    known->address = record.address;
    known->kind = access_kind(record.flags, record.width);
    known->code.assign(record.code, record.code + std::min<size_t>(record.instruction_bytes, sizeof record.code));
    known->path = path;
    known->first_ns = time_ns;
}

void AlignmentBuilder::take(const AlignCount& record, uint32_t thread, uint64_t last_ns, Allowance& allowance) {
    model::UnalignedSite* known = site(record.site, allowance);
    if (!known)
        return;
    known->exact &= record.exact != 0;
    known->hits += record.hits;
    known->page_crossings += record.page_crossings;
    for (size_t residue = 0; residue < known->residues.size(); ++residue)
        known->residues[residue] += record.residues[residue];
    if (record.highest_address != 0) {
        const bool first = known->highest_address == 0;
        known->lowest_address =
            first ? record.lowest_address : std::min(known->lowest_address, record.lowest_address);
        known->highest_address = std::max(known->highest_address, record.highest_address);
    }
    known->last_ns = std::max(known->last_ns, last_ns);
    known->threads.push_back({.thread = thread, .hits = record.hits, .page_crossings = record.page_crossings});
}

void AlignmentBuilder::take(const AlignAddress& record, uint32_t thread, uint64_t time_ns, uint32_t block_path,
                            Allowance& allowance) {
    model::UnalignedSite* known = site(record.site, allowance);
    if (!known)
        return;
    known->addresses.push_back({.thread = thread,
                                .address = record.address,
                                .time_ns = time_ns,
                                .block = block_of(record.block_kind),
                                .block_start = record.block_start,
                                .block_bytes = record.block_bytes,
                                .block_path = block_path,
                                .base_value = record.base_value,
                                .stack_pointer = record.stack_pointer,
                                .frame_address = record.frame_address});
}

void AlignmentBuilder::take(const AlignTotals& record) {
    model::Alignment& alignment = process_.alignment;
    using Mode = model::Alignment::Mode;
    alignment.mode = record.mode == static_cast<uint32_t>(AlignMode::exact)  ? Mode::exact
                     : record.mode == static_cast<uint32_t>(AlignMode::find) ? Mode::find
                                                                             : alignment.mode;
    alignment.hits += record.hits;
    alignment.excluded_hits += record.excluded_hits;
    alignment.lost_hits += record.lost_hits;
    alignment.windows += record.windows;
    alignment.armed_ns += record.armed_ns;
    alignment.stepped += record.stepped;
    alignment.slots += record.slots;
    alignment.rewritten += record.rewritten;
    alignment.trap_ns += record.trap_ns;
}

void AlignmentBuilder::take(const AlignCode& record) {
    if (record.start < record.end)
        process_.alignment.stand_ins.push_back({record.start, record.end, record.address});
}

void AlignmentBuilder::take(const AccessSite& record) {
    const auto place = static_cast<uint32_t>(process_.sampled_accesses.size());
    const auto [found, is_new] = sampled_accesses_.try_emplace(record.address, place);
    if (is_new)
        process_.sampled_accesses.push_back(
            {.address = record.address, .kind = access_kind(record.flags, record.width)});
    model::SampledAccess& access = process_.sampled_accesses[found->second];
    access.samples += record.samples;
    access.time_ns += record.time_ns;
    access.unaligned += record.unaligned;
    access.line_crossings += record.line_crossings;
    access.page_crossings += record.page_crossings;
    access.last_address = record.last_address;
}

void AlignmentBuilder::take(const AccessStride& record, uint64_t last_ns, Allowance& allowance) {
    if (record.stride == 0 || record.line_bytes == 0 || record.sets == 0 || !allowance.take(sizeof(model::StridedWalk)))
        return;
    process_.strided_walks.push_back({.address = record.address,
                                      .kind = access_kind(record.flags, record.width),
                                      .cache_level = record.level,
                                      .ways = record.ways,
                                      .line_bytes = record.line_bytes,
                                      .sets = record.sets,
                                      .sets_used = record.sets_used,
                                      .samples = record.samples,
                                      .time_ns = record.time_ns,
                                      .moved_samples = std::min(record.moved_samples, record.samples),
                                      .moved_time_ns = std::min(record.moved_time_ns, record.time_ns),
                                      .stride = record.stride,
                                      .length = record.walk,
                                      .advance = record.advance,
                                      .lowest_address = record.lowest_address,
                                      .highest_address = std::max(record.lowest_address, record.highest_address),
                                      .last_address = record.last_address,
                                      .padded_stride = record.padded_stride,
                                      .seen_ns = static_cast<double>(record.seen_ps) * 1e-3,
                                      .padded_ns = static_cast<double>(record.padded_ps) * 1e-3,
                                      .last_ns = last_ns});
}

void AlignmentBuilder::take(const ReplayedAccess& record, Allowance& allowance) {
    constexpr double kParts = 1e6;
    if (record.samples == 0 || !allowance.take(sizeof(model::ReplayedAccess)))
        return;
    process_.replayed_accesses.push_back(
        {.address = record.address,
         .kind = access_kind(record.flags, record.width),
         .loop = record.loop,
         .steady = record.steady != 0,
         .loop_begin = record.loop_begin,
         .loop_end = record.loop_end,
         .samples = record.samples,
         .time_ns = record.time_ns,
         .round = record.round,
         .line_share = std::min(1.0, static_cast<double>(record.line_ppm) / kParts),
         .page_share = std::min(1.0, static_cast<double>(record.page_ppm) / kParts),
         .last_address = record.last_address,
         .seen_ns = static_cast<double>(record.seen_ps) * 1e-3,
         .aligned_ns = static_cast<double>(record.aligned_ps) * 1e-3,
         .spread_ns = static_cast<double>(record.spread_ps) * 1e-3,
         .round_ns = static_cast<double>(record.round_ps) * 1e-3,
         .rounds_at_once = record.rounds_at_once,
         .footprint_bytes = record.footprint_bytes});
}

void AlignmentBuilder::give_back_samples() {
    std::vector<model::StandInCode>& stand_ins = process_.alignment.stand_ins;
    std::ranges::stable_sort(stand_ins, {}, &model::StandInCode::start);
    if (stand_ins.empty())
        return;
    std::vector<bool> moved(process_.paths.size());
    for (size_t i = 0; i < process_.paths.size(); ++i) {
        model::PathNode& node = process_.paths[i];
        const uint64_t looked_up = node.leaf || node.address == 0 ? node.address : node.address - 1;
        if (const model::StandInCode* code = node.kernel ? nullptr : find(stand_ins, looked_up)) {
            node.address = code->address + (node.leaf ? 0 : 1);
            moved[i] = true;
        }
    }
    for (const model::SampleSite& samples : process_.samples)
        if (samples.path < moved.size() && moved[samples.path])
            process_.alignment.stand_in_ns += samples.time_ns;
    for (model::SampledAccess& access : process_.sampled_accesses)
        if (const model::StandInCode* code = find(stand_ins, access.address))
            access.address = code->address;
    for (model::ReplayedAccess& access : process_.replayed_accesses)
        if (const model::StandInCode* code = find(stand_ins, access.address))
            access.address = code->address;
    for (model::StridedWalk& walk : process_.strided_walks)
        if (const model::StandInCode* code = find(stand_ins, walk.address))
            walk.address = code->address;
    for (model::PageScatter& scatter : process_.page_scatters)
        if (const model::StandInCode* code = find(stand_ins, scatter.address))
            scatter.address = code->address;
    for (model::SharedLine& line : process_.shared_lines)
        for (model::LineUse& use : line.uses)
            if (const model::StandInCode* code = find(stand_ins, use.instruction))
                use.instruction = code->address;
    merge_accesses(process_.sampled_accesses);
}

void AlignmentBuilder::finish() {
    model::Alignment& alignment = process_.alignment;
    for (const model::UnalignedSite& site : alignment.sites)
        if (site.address == 0)
            alignment.lost_hits += site.hits;
    std::erase_if(alignment.sites, [](const model::UnalignedSite& site) { return site.address == 0; });
    for (model::UnalignedSite& site : alignment.sites) {
        site.exact &= !site.threads.empty(); // its count was lost: it was caught at least once
        merge_threads(site.threads);
        std::ranges::stable_sort(site.addresses, {}, &model::UnalignedAddress::time_ns);
    }
    give_back_samples();
}

} // namespace plumb::trace
