#include "trace/builders/process_builder.h"

#include <algorithm>

namespace plumb::trace {

uint64_t ProcessBuilder::alive(uint64_t time_ns) {
    last_ns_ = std::max(last_ns_, time_ns);
    return time_ns;
}

uint32_t ProcessBuilder::path(NodeId id, FileContext& context) {
    if (process_.paths.empty())
        process_.paths.emplace_back();
    return context.nodes.place(id, number_, context.pid(), process_.paths, tree_, context.allowance());
}

void ProcessBuilder::take(const ThreadStart& record, FileContext& context) {
    const uint64_t time = alive(context.time(record.time_ns));
    threads_.take(record, time, path(record.creation_path, context));
}

void ProcessBuilder::take(const ThreadEnd& record, FileContext& context) {
    threads_.take(record, alive(context.time(record.time_ns)));
}

void ProcessBuilder::take(const ThreadName& record, FileContext& context) { threads_.take(record, context); }

void ProcessBuilder::take(const ThreadSchedule& record, FileContext& context) {
    alive(context.time(record.last_ns));
    threads_.take(record, context);
}

void ProcessBuilder::take(const ThreadInterval& record, FileContext& context) {
    alive(context.time(record.end_ns));
    threads_.take(record, context);
}

void ProcessBuilder::take(const Placement& record, FileContext& context) {
    threads_.take(record, alive(context.time(record.time_ns)));
}

void ProcessBuilder::take(const ThreadWall& record, FileContext& context) { threads_.take(record, context); }

void ProcessBuilder::take(const ThreadSwitches& record, FileContext& context) {
    alive(context.time(record.last_ns));
    threads_.take(record, context);
}

void ProcessBuilder::take(const Preemption& record, FileContext& context) {
    alive(context.time(record.end_ns));
    threads_.take(record, context);
}

void ProcessBuilder::take(const Region& record, FileContext& context) {
    const uint64_t time = alive(context.time(record.time_ns));
    regions_.take(context.text(record.name), record.begin != 0, threads_.at(record.header.tid, time), time,
                  context.allowance());
}

void ProcessBuilder::take(const ModuleLoad& record, FileContext& context) {
    modules_.take(record, alive(context.time(record.time_ns)), context.text(record.path));
}

void ProcessBuilder::take(const ModuleUnload& record, FileContext& context) {
    modules_.take(record, context.time(record.time_ns));
}

void ProcessBuilder::take(const SampleSite& record, FileContext& context) {
    alive(context.time(record.last_ns));
    const uint32_t thread = threads_.at(record.header.tid, context.time(record.first_ns));
    const uint32_t leaf = path(record.path, context);
    const auto place = static_cast<uint32_t>(process_.samples.size());
    const auto [found, is_new] = samples_.try_emplace(static_cast<uint64_t>(thread) << 32 | leaf, place);
    if (is_new)
        process_.samples.push_back({.thread = thread, .path = leaf});
    model::SampleSite& site = process_.samples[found->second];
    site.samples += record.samples;
    site.time_ns += record.time_ns;
    site.kernel_samples += record.kernel;
    site.last_ns = std::max(site.last_ns, context.time(record.last_ns));
    site.alone_ns += std::min(record.alone_ns, record.time_ns);
}

void ProcessBuilder::take(const CounterSite& record, FileContext& context) {
    const uint64_t first_ns = context.time(record.first_ns);
    alive(context.time(record.last_ns));
    if (record.event == 0 || !context.allowance().take(sizeof(model::CounterSite)))
        return;
    process_.counter_sites.push_back({.event = context.text(record.event),
                                      .thread = threads_.at(record.header.tid, first_ns),
                                      .path = path(record.path, context),
                                      .samples = record.samples,
                                      .events = record.events});
}

void ProcessBuilder::take(const CounterSample& record, FileContext& context) {
    const uint64_t time_ns = alive(context.time(record.time_ns));
    if (record.event != 0)
        regions_.take_sample(context.text(record.event), threads_.at(record.header.tid, time_ns), time_ns, context.allowance());
}

void ProcessBuilder::take(const BlockedSite& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns), last = alive(context.time(record.last_ns));
    process_.blocked.push_back({.thread = threads_.at(record.header.tid, first),
                                .path = path(record.path, context),
                                .system_call = record.system_call,
                                .descriptor = context.text(record.descriptor),
                                .object = record.object,
                                .looks = record.looks,
                                .time_ns = record.time_ns,
                                .waits = record.waits,
                                .bytes = record.bytes,
                                .first_ns = first,
                                .last_ns = last,
                                .wall_ns = record.wall_ns,
                                .alone_ns = record.alone_ns,
                                .at_set_time = record.at_set_time,
                                .shortest_ask_ns = record.shortest_ask_ns,
                                .longest_ask_ns = record.longest_ask_ns,
                                .quiet_ns = record.quiet_ns,
                                .overdue_ns = record.overdue_ns});
}

void ProcessBuilder::take(const PageRead& record, FileContext& context) {
    using Source = model::PageRead::Source;
    const Source source = (record.flags & kPageOfSwap) != 0      ? Source::swap
                          : (record.flags & kPageOfUnknown) != 0 ? Source::unknown
                          : (record.flags & kPageOfCode) != 0    ? Source::code
                                                                 : Source::file;
    process_.page_reads.push_back({.thread = threads_.at(record.header.tid, context.time(record.first_ns)),
                                   .address = record.address,
                                   .source = source,
                                   .file = context.text(record.file),
                                   .faults = record.faults,
                                   .ahead = std::min(record.ahead, record.faults),
                                   .mapped_bytes = record.mapped_bytes});
}

void ProcessBuilder::take(const ThreadsActive& record, FileContext& context) {
    process_.threads_active.first_ns = context.time(record.first_ns);
    process_.threads_active.last_ns = alive(context.time(record.last_ns));
    std::ranges::copy(record.active_ns, process_.threads_active.active_ns.begin());
}

void ProcessBuilder::take(const GoroutineWait& record, FileContext& context) {
    alive(context.time(record.last_ns));
    process_.goroutines.waits.push_back({.path = path(record.path, context),
                                         .reason = context.text(record.reason),
                                         .looks = record.looks,
                                         .time_ns = record.time_ns,
                                         .saved_ns = std::min(record.saved_ns, record.time_ns)});
}

void ProcessBuilder::take(const GoroutineLooks& record, FileContext&) {
    model::Goroutines& goroutines = process_.goroutines;
    goroutines.processors = record.processors;
    goroutines.looks += record.looks;
    goroutines.time_ns += record.time_ns;
    goroutines.runnable_ns += record.runnable_ns;
    goroutines.most = std::max(goroutines.most, record.most);
}

void ProcessBuilder::take(const WaitedFor& record, uint32_t peer_process, ProcessBuilder& peer, FileContext& context) {
    if (record.relation < kWaitsForPeer || record.relation > kWaitsForWork)
        return;
    using Relation = model::WaitedFor::Relation;
    constexpr Relation kRelations[] = {Relation::peer, Relation::child, Relation::end, Relation::work};
    const uint64_t first = context.time(record.first_ns);
    model::WaitedFor waited{.thread = threads_.at(record.header.tid, first),
                            .path = path(record.path, context),
                            .system_call = record.system_call,
                            .descriptor = context.text(record.descriptor),
                            .object = record.object,
                            .relation = kRelations[record.relation - kWaitsForPeer],
                            .peer_process = peer_process,
                            .peer_call = record.peer_call,
                            .looks = record.looks,
                            .time_ns = record.time_ns,
                            .wall_ns = record.wall_ns};
    context.set_pid(record.peer_pid);
    waited.peer_thread = peer.threads_.at(record.peer_tid, first);
    waited.peer_path = peer.path(record.peer_path, context);
    process_.waited_for.push_back(std::move(waited));
}

void ProcessBuilder::take(const LockHolder& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns);
    process_.lock_holders.push_back({.thread = threads_.at(record.header.tid, first),
                                     .path = path(record.path, context),
                                     .object = record.object,
                                     .holder = threads_.at(record.holder, first),
                                     .holder_path = path(record.holder_path, context),
                                     .holder_call = record.holder_call,
                                     .holder_lacks_cpu = (record.flags & trace::kHolderLacksCpu) != 0,
                                     .looks = record.looks,
                                     .time_ns = record.time_ns,
                                     .wall_ns = record.wall_ns});
}

void ProcessBuilder::take(const SpinLoop& record, FileContext& context) {
    if (record.loop_end <= record.loop_begin || !context.allowance().take(sizeof(model::SpinLoop)))
        return;
    process_.spin_loops.push_back({.begin = record.loop_begin,
                                   .end = record.loop_end,
                                   .instruction = record.instruction,
                                   .width = record.width,
                                   .pauses = (record.flags & trace::kSpinPauses) != 0,
                                   .stores = (record.flags & trace::kSpinStores) != 0,
                                   .address = record.variables == 1 ? record.last_address : 0,
                                   .samples = record.samples,
                                   .time_ns = record.time_ns,
                                   .yield_return = record.yield_return,
                                   .yield_kernel_factor = static_cast<double>(record.yield_kernel_milli) / 1000});
}

// A record is about all of its thread's life: the last thread that had its number.
void ProcessBuilder::take(const OmpRuntime& record, FileContext& context) { openmp_.take(record, context.text(record.name)); }

void ProcessBuilder::take(const OmpRegion& record, FileContext& context) {
    openmp_.take(record, threads_.at(record.header.tid, UINT64_MAX), path(record.path, context), context.allowance());
}

void ProcessBuilder::take(const OmpPart& record, FileContext& context) {
    openmp_.take(record, threads_.at(record.header.tid, UINT64_MAX), context.allowance());
}

void ProcessBuilder::take(const OmpWait& record, FileContext& context) {
    openmp_.take(record, threads_.at(record.header.tid, UINT64_MAX), path(record.path, context), context.allowance());
}

void ProcessBuilder::take(const HeapTotals& record, FileContext&) { heap_.take(record); }

void ProcessBuilder::take(const HeapSite& record, FileContext& context) {
    alive(context.time(record.last_ns));
    heap_.take(record, path(record.path, context), context);
}

void ProcessBuilder::take(const AlignSite& record, FileContext& context) {
    alignment_.take(record, path(record.path, context), alive(context.time(record.time_ns)), context.allowance());
}

void ProcessBuilder::take(const AlignCount& record, FileContext& context) {
    const uint64_t last = alive(context.time(record.last_ns));
    alignment_.take(record, threads_.at(record.header.tid, last), last, context.allowance());
}

void ProcessBuilder::take(const AlignAddress& record, FileContext& context) {
    const uint64_t time = alive(context.time(record.time_ns));
    alignment_.take(record, threads_.at(record.header.tid, time), time, path(record.block_path, context),
                    context.allowance());
}

void ProcessBuilder::take(const AlignTotals& record, FileContext&) { alignment_.take(record); }
void ProcessBuilder::take(const AlignCode& record, FileContext&) { alignment_.take(record); }
void ProcessBuilder::take(const AccessSite& record, FileContext&) { alignment_.take(record); }
void ProcessBuilder::take(const AccessStride& record, FileContext& context) {
    alignment_.take(record, alive(context.time(record.last_ns ? record.last_ns : record.first_ns)), context.allowance());
}

void ProcessBuilder::take(const ReplayedAccess& record, FileContext& context) {
    alignment_.take(record, context.allowance());
}

void ProcessBuilder::take(const PackedLoop& record, FileContext& context) {
    constexpr double kNs = 1e-3;
    if (record.scalar_ps == 0 || record.packed_ps == 0 || record.lanes < 2 || !context.allowance().take(sizeof(model::PackedLoop)))
        return;
    process_.packed_loops.push_back({.loop_begin = record.loop_begin,
                                     .loop_end = record.loop_end,
                                     .samples = record.samples,
                                     .time_ns = record.time_ns,
                                     .lanes = record.lanes,
                                     .vector_bytes = record.vector_bytes,
                                     .is_packed = (record.flags & kPackedAlready) != 0,
                                     .made_adjacent = (record.flags & kPackedMadeAdjacent) != 0,
                                     .scalar_ns = kNs * static_cast<double>(record.scalar_ps),
                                     .packed_ns = kNs * static_cast<double>(record.packed_ps),
                                     .spread_ns = kNs * static_cast<double>(record.spread_ps),
                                     .unchained_ns = kNs * static_cast<double>(record.unchained_ps),
                                     .wide_ns = kNs * static_cast<double>(record.wide_ps),
                                     .round_ns = kNs * static_cast<double>(record.round_ps),
                                     .footprint_bytes = record.footprint_bytes});
}

void ProcessBuilder::take(const MemoryArea& record, FileContext& context) {
    memory_.take(record, context.text(record.path), context.allowance());
}

void ProcessBuilder::take(const MemoryTraffic& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns), last = alive(context.time(record.last_ns));
    memory_.take(record, threads_.at(record.header.tid, first), path(record.path, context), first, last,
                 context.allowance());
}

void ProcessBuilder::take(const MemoryEpoch& record, FileContext& context) {
    const uint64_t begin = context.time(record.begin_ns), end = context.time(record.end_ns);
    memory_.take(record, threads_.at(record.header.tid, end), begin, end, context.allowance());
}

void ProcessBuilder::take(const FirstTouch& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns), last = alive(context.time(record.last_ns));
    memory_.take(record, threads_.at(record.header.tid, first), path(record.path, context), first, last,
                 context.allowance());
}

void ProcessBuilder::take(const PageScatter& record, FileContext& context) {
    memory_.take(record, context.text(record.path), context.text(record.why_not_timed), context.time(record.first_ns),
                 context.time(record.last_ns), context.allowance());
}

void ProcessBuilder::take(const MemoryStream& record, FileContext& context) {
    traffic_.take(record, context.time(record.first_ns), alive(context.time(record.last_ns)), context.allowance());
}

void ProcessBuilder::take(const TrafficBurst& record, FileContext& context) {
    traffic_.take(record, context.time(record.begin_ns), context.time(record.end_ns), context.allowance());
}

void ProcessBuilder::take(const SharedLine& record, FileContext& context) { sharing_.take(record, context.allowance()); }

void ProcessBuilder::take(const LineUse& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns), last = alive(context.time(record.last_ns));
    sharing_.take(record, threads_.at(record.header.tid, first), path(record.path, context), first, last,
                  context.allowance());
}

void ProcessBuilder::take(const ProcessMemory& record, FileContext& context) {
    model::Footprint& footprint = process_.memory.footprint;
    footprint.peak_bytes = std::max(footprint.peak_bytes, record.peak_bytes);
    footprint.shared_bytes = std::max(footprint.shared_bytes, record.shared_bytes);
    footprint.own_bytes = std::max(footprint.own_bytes,
                                   record.anonymous_bytes - std::min(record.anonymous_bytes, record.inherited_bytes));
    if (record.policy != 0)
        footprint.policy = context.text(record.policy);
    process_.read_calls = std::max(process_.read_calls, record.read_calls);
    process_.read_bytes = std::max(process_.read_bytes, record.read_bytes);
    process_.write_calls = std::max(process_.write_calls, record.write_calls);
    process_.write_bytes = std::max(process_.write_bytes, record.write_bytes);
    if (record.stack_start != 0)
        process_.memory.layout = {record.stack_start, record.environment_bytes, record.backed_bytes,
                                  std::min(record.huge_bytes, record.backed_bytes)};
}

void ProcessBuilder::take(const LargeMap& record, FileContext& context) {
    memory_.take(record, path(record.path, context), alive(context.time(record.time_ns)),
                 record.until_ns != 0 ? alive(context.time(record.until_ns)) : 0, context.allowance());
}

void ProcessBuilder::take(const LargeUnmap& record, FileContext& context) {
    memory_.take(record, alive(context.time(record.time_ns)));
}

void ProcessBuilder::take(const MpiRank& record, FileContext& context) {
    alive(context.time(std::max(record.last_ns, record.finalize_end_ns)));
    mpi_.take(record, context.text(record.library_version), context.text(record.job), context.clock_shift_ns());
}

void ProcessBuilder::take(const MpiComm& record, FileContext& context) {
    mpi_.take(record, path(record.path, context), context.text(record.name), context.allowance());
}

void ProcessBuilder::take(const MpiSite& record, FileContext& context) {
    mpi_.take(record, threads_.at(record.header.tid, UINT64_MAX), path(record.path, context), context.text(record.call),
              context.allowance());
}

void ProcessBuilder::take(const MpiPeer& record, FileContext& context) { mpi_.take(record, context.allowance()); }
void ProcessBuilder::take(const MpiRequest& record, FileContext& context) { mpi_.take(record, context.allowance()); }

// Its own path is that of the first call from there; of a later one at least the innermost frame is known.
void ProcessBuilder::take(const MpiInside& record, FileContext& context) {
    mpi_.show_calls();
    if (record.begin_ticks == 0)
        return;
    uint32_t own = path(record.path, context);
    if (process_.paths[own].address != record.return_address) {
        own = tree_.child(process_.paths, {.parent = 0, .address = record.return_address}, context.allowance());
        if (own == PathTree::kNoRoom)
            own = 0;
    }
    mpi_.take(record, threads_.at(record.header.tid, UINT64_MAX), own, context.text(record.call), context.allowance());
}

void ProcessBuilder::take(const ProcessGone& record, FileContext& context) {
    process_.end_ns = alive(context.time(record.time_ns));
    process_.end_seen = true;
    if (record.status != -1)
        process_.wait_status = record.status;
    process_.max_rss_bytes = std::max(process_.max_rss_bytes, record.max_rss_bytes);
}

void ProcessBuilder::take(const ProcessEnd& record, FileContext& context) {
    if (record.kind == static_cast<uint32_t>(EndKind::none))
        return;
    const uint64_t time = alive(context.time(record.time_ns));
    process_.end_ns = std::max(process_.end_ns, time);
    if (record.kind == static_cast<uint32_t>(EndKind::abort)) // a handler may have caught that
        return;
    process_.end_seen = true;
    process_.ending_tid = record.header.tid;
}

void ProcessBuilder::finish() {
    if (process_.paths.empty())
        process_.paths.emplace_back();
    alignment_.finish();
    memory_.finish();
    traffic_.finish();
    mpi_.finish();
    openmp_.finish();
    std::ranges::stable_sort(process_.spin_loops, {}, &model::SpinLoop::begin);
    if (process_.end_ns == 0) // nobody saw it end
        process_.end_ns = std::max(last_ns_, process_.start_ns);
    heap_.finish();
    threads_.finish(); // after the process's end is known
    regions_.finish();
}

} // namespace plumb::trace
