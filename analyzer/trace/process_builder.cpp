#include "trace/process_builder.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::trace {

namespace {

model::Module::Kind kind_of(uint32_t flags) {
    using Kind = model::Module::Kind;
    if (flags & kModuleMain)
        return Kind::program;
    if (flags & kModuleVdso)
        return Kind::vdso;
    if (flags & kModuleKernel)
        return Kind::kernel;
    return flags & kModuleAnonymous ? Kind::anonymous : Kind::library;
}

} // namespace

uint64_t ProcessBuilder::alive(uint64_t time_ns) {
    last_ns_ = std::max(last_ns_, time_ns);
    return time_ns;
}

uint32_t ProcessBuilder::path(NodeId id, FileContext& context) {
    if (process_.paths.empty())
        process_.paths.emplace_back();
    return context.nodes.place(id, number_, context.pid(), process_.paths, tree_, context.allowance());
}

uint32_t ProcessBuilder::new_thread(uint32_t tid, uint64_t start_ns) {
    const auto index = static_cast<uint32_t>(process_.threads.size());
    threads_of_tid_[tid].push_back(index);
    thread_facts_.emplace_back();
    model::Thread& thread = process_.threads.emplace_back();
    thread.tid = tid;
    thread.start_ns = start_ns;
    return index;
}

// The thread that had the id at that time: the latest that began before, else the first.
uint32_t ProcessBuilder::thread_at(uint32_t tid, uint64_t time_ns) {
    const auto found = threads_of_tid_.find(tid);
    if (found == threads_of_tid_.end())
        return new_thread(tid, 0);
    const auto& candidates = found->second; // in order of their begin
    const auto after = std::upper_bound(candidates.begin(), candidates.end(), time_ns,
                                        [this](uint64_t time, uint32_t thread) {
                                            return time < process_.threads[thread].start_ns;
                                        });
    return after == candidates.begin() ? *after : *std::prev(after);
}

void ProcessBuilder::take(const ThreadStart& record, FileContext& context) {
    const uint64_t time = alive(context.time(record.time_ns));
    uint32_t index = thread_at(record.header.tid, time);
    if (thread_facts_[index].started)
        index = new_thread(record.header.tid, std::max(time, process_.threads[index].start_ns));
    thread_facts_[index].started = true;
    model::Thread& thread = process_.threads[index];
    if (thread.start_ns == 0)
        thread.start_ns = time;
    thread.start_routine = record.start_routine;
    thread.creation_path = path(record.creation_path, context);
}

void ProcessBuilder::take(const ThreadEnd& record, FileContext& context) {
    const uint64_t time = alive(context.time(record.time_ns));
    const uint32_t index = thread_at(record.header.tid, time);
    process_.threads[index].end_ns = time;
    thread_facts_[index].cpu_time_ns = record.cpu_time_ns;
}

void ProcessBuilder::take(const ThreadName& record, FileContext& context) {
    // It bears no time, but a thread's records follow each other: it is the latest of that id.
    process_.threads[thread_at(record.header.tid, UINT64_MAX)].name = context.text(record.name);
}

void ProcessBuilder::take(const ThreadSchedule& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns);
    const uint64_t last = alive(context.time(record.last_ns));
    uint32_t index = thread_at(record.header.tid, last);
    if (thread_facts_[index].scheduled)
        index = new_thread(record.header.tid, std::max(first, process_.threads[index].start_ns));
    thread_facts_[index].scheduled = true;
    model::Thread& thread = process_.threads[index];
    if (!thread_facts_[index].started)
        thread.start_ns = first;
    if (thread.end_ns == 0 && (record.flags & kScheduleEnded))
        thread.end_ns = last;
    if (const std::string name = context.text(record.name); !name.empty())
        thread.name = name;
    thread.run_ns = record.run_ns;
    thread.run_delay_ns = record.run_delay_ns;
    thread.user_ns = record.user_ns;
    thread.system_ns = record.system_ns;
    thread.voluntary_switches = record.voluntary_switches;
    thread.involuntary_switches = record.involuntary_switches;
    thread.migrations = record.migrations;
    thread.migrations_exact = (record.flags & kScheduleExactMigrations) != 0;
    thread.minor_faults = record.minor_faults;
    thread.major_faults = record.major_faults;
    thread.allowed_cpus = context.cpus(record.allowed_cpus);
}

void ProcessBuilder::take(const ThreadInterval& record, FileContext& context) {
    const uint64_t begin = context.time(record.begin_ns), end = alive(context.time(record.end_ns));
    process_.threads[thread_at(record.header.tid, end)].intervals.push_back(
        {.begin_ns = begin,
         .end_ns = end,
         .cpu = record.cpu,
         .run_ns = record.run_ns,
         .run_delay_ns = record.run_delay_ns,
         .migrations = record.migrations,
         .state = record.state >= ' ' && record.state < 0x7f ? static_cast<char>(record.state) : '?'});
}

void ProcessBuilder::take(const Placement& record, FileContext& context) {
    const uint64_t time = alive(context.time(record.time_ns));
    process_.threads[thread_at(record.header.tid, time)].placement = model::Placement{
        .slot = record.slot, .cpu = record.cpu, .memory_node = record.memory_node, .error = record.error};
}

void ProcessBuilder::take(const Region& record, FileContext& context) {
    const uint64_t time = alive(context.time(record.time_ns));
    regions_.take(context.text(record.name), record.begin != 0, thread_at(record.header.tid, time), time,
                  context.allowance());
}

void ProcessBuilder::take(const ModuleLoad& record, FileContext& context) {
    const uint64_t time = alive(context.time(record.time_ns));
    std::string build_id;
    for (size_t i = 0; i < std::min<size_t>(record.build_id_size, sizeof record.build_id); ++i)
        build_id += fmt::format("{:02x}", record.build_id[i]);
    const std::string path = context.text(record.path);
    if (const auto known = module_at_.find(record.start); known != module_at_.end()) {
        model::Module& module = process_.modules[known->second];
        if (module.path == path && module.file_offset == record.file_offset && time < module.unloaded_ns) {
            module.end = std::max(module.end, record.end);
            module.loaded_ns = std::min(module.loaded_ns, time);
            module.deleted |= (record.flags & kModuleDeleted) != 0;
            if (module.build_id.empty())
                module.build_id = build_id;
            module_ids_[record.id] = known->second;
            return;
        }
    }
    const auto index = static_cast<uint32_t>(process_.modules.size());
    process_.modules.push_back({.kind = kind_of(record.flags),
                                .path = path,
                                .build_id = build_id,
                                .start = record.start,
                                .end = record.end,
                                .file_offset = record.file_offset,
                                .loaded_ns = time,
                                .deleted = (record.flags & kModuleDeleted) != 0});
    module_at_[record.start] = index;
    module_ids_[record.id] = index;
}

void ProcessBuilder::take(const ModuleUnload& record, FileContext& context) {
    const auto found = module_ids_.find(record.id);
    if (found != module_ids_.end() && record.time_ns != 0)
        process_.modules[found->second].unloaded_ns = context.time(record.time_ns);
}

void ProcessBuilder::take(const SampleSite& record, FileContext& context) {
    alive(context.time(record.last_ns));
    const uint32_t thread = thread_at(record.header.tid, context.time(record.first_ns));
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

void ProcessBuilder::take(const BlockedSite& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns), last = alive(context.time(record.last_ns));
    process_.blocked.push_back({.thread = thread_at(record.header.tid, first),
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
                                .alone_ns = record.alone_ns});
}

void ProcessBuilder::take(const ThreadWall& record, FileContext& context) {
    const uint32_t thread = thread_at(record.header.tid, context.time(record.first_ns));
    process_.threads[thread].wall_running_ns += record.running_ns;
    process_.threads[thread].wall_no_cpu_ns += std::min(record.no_cpu_ns, record.running_ns);
}

void ProcessBuilder::take(const PageRead& record, FileContext& context) {
    using Source = model::PageRead::Source;
    const Source source = (record.flags & kPageOfSwap) != 0      ? Source::swap
                          : (record.flags & kPageOfUnknown) != 0 ? Source::unknown
                          : (record.flags & kPageOfCode) != 0    ? Source::code
                                                                 : Source::file;
    process_.page_reads.push_back({.thread = thread_at(record.header.tid, context.time(record.first_ns)),
                                   .address = record.address,
                                   .source = source,
                                   .file = context.text(record.file),
                                   .faults = record.faults,
                                   .ahead = std::min(record.ahead, record.faults),
                                   .mapped_bytes = record.mapped_bytes});
}

void ProcessBuilder::take(const ThreadSwitches& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns), last = alive(context.time(record.last_ns));
    model::ThreadSwitches& switches = process_.threads[thread_at(record.header.tid, first)].switches;
    switches = {.stopped = (record.flags & kSwitchesStopped) != 0,
                .first_ns = first,
                .last_ns = last,
                .on_ns = record.on_ns,
                .blocked_count = record.blocked_count,
                .blocked_ns = record.blocked_ns,
                .preempted_count = record.preempted_count,
                .preempted_ns = record.preempted_ns,
                .broken_count = record.broken_count,
                .broken_ns = record.broken_ns};
    std::ranges::copy(record.blocked_counts, switches.blocked_counts.begin());
    std::ranges::copy(record.blocked_times_ns, switches.blocked_times_ns.begin());
    std::ranges::copy(record.preempted_counts, switches.preempted_counts.begin());
}

void ProcessBuilder::take(const ThreadsActive& record, FileContext& context) {
    process_.threads_active.first_ns = context.time(record.first_ns);
    process_.threads_active.last_ns = alive(context.time(record.last_ns));
    std::ranges::copy(record.active_ns, process_.threads_active.active_ns.begin());
}

void ProcessBuilder::take(const WaitedFor& record, uint32_t peer_process, ProcessBuilder& peer, FileContext& context) {
    if (record.relation < kWaitsForPeer || record.relation > kWaitsForWork)
        return;
    using Relation = model::WaitedFor::Relation;
    constexpr Relation kRelations[] = {Relation::peer, Relation::child, Relation::end, Relation::work};
    const uint64_t first = context.time(record.first_ns);
    model::WaitedFor waited{.thread = thread_at(record.header.tid, first),
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
    waited.peer_thread = peer.thread_at(record.peer_tid, first);
    waited.peer_path = peer.path(record.peer_path, context);
    process_.waited_for.push_back(std::move(waited));
}

void ProcessBuilder::take(const LockHolder& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns);
    process_.lock_holders.push_back({.thread = thread_at(record.header.tid, first),
                                     .path = path(record.path, context),
                                     .object = record.object,
                                     .holder = thread_at(record.holder, first),
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
                                   .time_ns = record.time_ns});
}

// A record is about all of its thread's life: the last thread that had its number.
void ProcessBuilder::take(const OmpRuntime& record, FileContext& context) { openmp_.take(record, context.text(record.name)); }

void ProcessBuilder::take(const OmpRegion& record, FileContext& context) {
    openmp_.take(record, thread_at(record.header.tid, UINT64_MAX), path(record.path, context), context.allowance());
}

void ProcessBuilder::take(const OmpPart& record, FileContext& context) {
    openmp_.take(record, thread_at(record.header.tid, UINT64_MAX), context.allowance());
}

void ProcessBuilder::take(const OmpWait& record, FileContext& context) {
    openmp_.take(record, thread_at(record.header.tid, UINT64_MAX), path(record.path, context), context.allowance());
}

void ProcessBuilder::take(const HeapTotals& record, FileContext&) {
    model::Heap& heap = process_.heap;
    heap.recorded = true;
    heap.allocations += record.allocations;
    heap.allocated_bytes += record.allocated_bytes;
    heap.frees += record.frees;
    heap.reallocations += record.reallocations;
    heap.failed += record.failed;
    for (size_t i = 0; i < std::size(heap.size_histogram); ++i)
        heap.size_histogram[i] += record.size_histogram[i];
}

void ProcessBuilder::take(const HeapSite& record, FileContext& context) {
    alive(context.time(record.last_ns));
    const uint32_t leaf = path(record.path, context);
    if (leaf >= heap_sites_.size())
        heap_sites_.resize(process_.paths.size(), 0);
    model::Heap& heap = process_.heap;
    heap.recorded = true;
    heap.every_event |= record.mode == static_cast<uint32_t>(HeapSiteMode::every_event);
    if (heap_sites_[leaf] == 0) {
        heap.sites.push_back({.path = leaf});
        heap_sites_[leaf] = static_cast<uint32_t>(heap.sites.size());
    }
    model::HeapSite& site = heap.sites[heap_sites_[leaf] - 1];
    site.allocations += record.allocations;
    site.allocated_bytes += record.allocated_bytes;
    site.frees += record.frees;
    site.freed_bytes += record.freed_bytes;
    site.temporary += record.temporary;
    // What did not change since the heap's last new maximum was then as it is now (trace_format.h).
    site.peak_live_bytes += record.peak_epoch == context.peak_epoch() ? record.peak_live_bytes
                                                                      : record.allocated_bytes - record.freed_bytes;
    site.samples += record.samples;
    site.lock_wait_ns += record.lock_wait_ns;
    if (record.first_ns != 0) {
        const uint64_t first = context.time(record.first_ns);
        site.first_ns = site.first_ns ? std::min(site.first_ns, first) : first;
    }
    site.last_ns = std::max(site.last_ns, context.time(record.last_ns));
}

void ProcessBuilder::take(const AlignSite& record, FileContext& context) {
    alignment_.take(record, path(record.path, context), alive(context.time(record.time_ns)), context.allowance());
}

void ProcessBuilder::take(const AlignCount& record, FileContext& context) {
    const uint64_t last = alive(context.time(record.last_ns));
    alignment_.take(record, thread_at(record.header.tid, last), last, context.allowance());
}

void ProcessBuilder::take(const AlignAddress& record, FileContext& context) {
    const uint64_t time = alive(context.time(record.time_ns));
    alignment_.take(record, thread_at(record.header.tid, time), time, path(record.block_path, context),
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

void ProcessBuilder::take(const MemoryArea& record, FileContext& context) {
    memory_.take(record, context.text(record.path), context.allowance());
}

void ProcessBuilder::take(const MemoryTraffic& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns), last = alive(context.time(record.last_ns));
    memory_.take(record, thread_at(record.header.tid, first), path(record.path, context), first, last,
                 context.allowance());
}

void ProcessBuilder::take(const MemoryEpoch& record, FileContext& context) {
    const uint64_t begin = context.time(record.begin_ns), end = context.time(record.end_ns);
    memory_.take(record, thread_at(record.header.tid, end), begin, end, context.allowance());
}

void ProcessBuilder::take(const FirstTouch& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns), last = alive(context.time(record.last_ns));
    memory_.take(record, thread_at(record.header.tid, first), path(record.path, context), first, last,
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
    sharing_.take(record, thread_at(record.header.tid, first), path(record.path, context), first, last,
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
    mpi_.take(record, thread_at(record.header.tid, UINT64_MAX), path(record.path, context), context.text(record.call),
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
    mpi_.take(record, thread_at(record.header.tid, UINT64_MAX), own, context.text(record.call), context.allowance());
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

void ProcessBuilder::inherit_modules(const model::Process& parent, Allowance& allowance) {
    const uint64_t begin = process_.start_ns;
    for (const model::Module& module : parent.modules) {
        if (!allowance.take(sizeof module + module.path.size() + module.build_id.size()))
            return;
        if (module.loaded_ns > begin || module.unloaded_ns < begin)
            continue;
        process_.modules.push_back(module);
    }
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
    for (model::HeapSite& site : process_.heap.sites) // a thread that only frees counts negative; its path must not
        if (static_cast<int64_t>(site.peak_live_bytes) < 0)
            site.peak_live_bytes = 0;
    for (size_t i = 0; i < process_.threads.size(); ++i) {
        model::Thread& thread = process_.threads[i];
        if (thread.start_ns == 0)
            thread.start_ns = process_.start_ns;
        if (thread.end_ns == 0)
            thread.end_ns = std::max(process_.end_ns, thread.start_ns);
        if (thread.run_ns == 0)
            thread.run_ns = thread_facts_[i].cpu_time_ns;
        if (thread.name.empty())
            thread.name = process_.name;
        std::stable_sort(thread.intervals.begin(), thread.intervals.end(),
                         [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    }
    regions_.finish();
}

} // namespace plumb::trace
