#include "trace/builders/host_builder.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <tuple>

namespace plumb::trace {

namespace {

// Of a text of numbers separated by blanks; ends at whatever is none, or larger than a firmware's distance can be.
std::vector<int> numbers_of(const std::string& text) {
    std::vector<int> numbers;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
        uint8_t number = 0;
        const auto [behind, error] = std::from_chars(at, end, number);
        if (error != std::errc())
            break;
        numbers.push_back(number);
        at = behind < end ? behind + 1 : end;
    }
    return numbers;
}

void keep_smallest(double& known_ns, uint64_t picoseconds) {
    const double ns = static_cast<double>(picoseconds) * 1e-3;
    if (ns > 0 && (known_ns == 0 || ns < known_ns))
        known_ns = ns;
}

} // namespace

uint64_t HostBuilder::alive(uint64_t time_ns) {
    last_ns_ = std::max(last_ns_, time_ns);
    return time_ns;
}

void HostBuilder::take(const CpuInterval& record, FileContext& context) {
    host_.cpu_intervals.push_back({.cpu = static_cast<int>(record.cpu),
                                   .allowed = (record.flags & kCpuAllowed) != 0,
                                   .begin_ns = context.time(record.begin_ns),
                                   .end_ns = alive(context.time(record.end_ns)),
                                   .user_ns = record.user_ns,
                                   .system_ns = record.system_ns,
                                   .idle_ns = record.idle_ns,
                                   .interrupt_ns = record.interrupt_ns,
                                   .steal_ns = record.steal_ns,
                                   .run_own_ns = record.run_own_ns});
}

void HostBuilder::take(const NodeMemory& record, FileContext& context) {
    host_.memory.push_back({.node = static_cast<int>(record.node),
                            .time_ns = alive(context.time(record.time_ns)),
                            .total_bytes = record.total_bytes,
                            .free_bytes = record.free_bytes,
                            .file_bytes = record.file_bytes,
                            .anonymous_bytes = record.anonymous_bytes,
                            .local_allocations = record.local_allocations,
                            .missed_allocations = record.missed_allocations,
                            .foreign_allocations = record.foreign_allocations,
                            .reclaimable_bytes = record.reclaimable_bytes});
}

// One recorder may have taken the watch over from another, and gone on counting.
void HostBuilder::take(const OtherProcess& record, FileContext& context) {
    const std::string name = context.text(record.name);
    const auto [known, is_new] = others_.try_emplace({record.header.tid, name}, host_.others.size());
    if (!is_new && host_.others[known->second].last_ns <= context.time(record.first_ns)) {
        model::OtherProcess& other = host_.others[known->second];
        other.cpu_ns += record.cpu_ns;
        other.last_cpu = record.last_cpu;
        other.last_ns = alive(context.time(record.last_ns));
        return;
    }
    known->second = host_.others.size();
    host_.others.push_back({.pid = record.header.tid,
                            .name = name,
                            .last_cpu = record.last_cpu,
                            .cpu_ns = record.cpu_ns,
                            .first_ns = context.time(record.first_ns),
                            .last_ns = alive(context.time(record.last_ns)),
                            .allowed_cpus = context.cpus(record.allowed_cpus),
                            .user_id = record.user_id,
                            .leaves_cpus = (record.flags & kLeavesCpus) != 0});
}

void HostBuilder::take(const OtherActivity& record, FileContext& context) {
    const uint64_t begin = context.time(record.begin_ns), end = context.time(record.end_ns);
    if (end > begin)
        activities_.push_back({record.header.tid, {.begin_ns = begin, .end_ns = end, .cpu_ns = record.cpu_ns, .cpu = record.cpu}});
}

// A pid that the system gave out again is another process: the activity is of the latest that was seen by then.
void HostBuilder::place_activities() {
    std::ranges::stable_sort(activities_, {}, [](const auto& entry) { return entry.second.begin_ns; });
    std::map<uint32_t, std::vector<size_t>> of_pid;
    for (size_t i = 0; i < host_.others.size(); ++i)
        of_pid[host_.others[i].pid].push_back(i);
    for (auto& [pid, places] : of_pid)
        std::ranges::stable_sort(places, {}, [&](size_t place) { return host_.others[place].first_ns; });
    for (const auto& [pid, activity] : activities_) {
        const auto places = of_pid.find(pid);
        if (places == of_pid.end())
            continue;
        size_t place = places->second.front();
        for (const size_t later : places->second)
            if (host_.others[later].first_ns <= activity.end_ns)
                place = later;
        host_.others[place].activities.push_back(activity);
    }
    activities_.clear();
}

void HostBuilder::take(const InterruptSource& record, FileContext& context) {
    const std::string name = context.text(record.name);
    const auto [known, is_new] =
        interrupts_.try_emplace({static_cast<int>(record.cpu), name}, host_.interrupts.size());
    if (!is_new) {
        host_.interrupts[known->second].count += record.count;
        return;
    }
    host_.interrupts.push_back(
        {.name = name, .cpu = static_cast<int>(record.cpu), .count = record.count});
}

// A node can have several recorders (one for each rank that was started under its own plumb): costs add up.
void HostBuilder::take(const RecorderCost& record, FileContext&) {
    host_.recorder_cpu_ns += record.cpu_ns;
    host_.samples += record.samples;
    host_.lost_samples += record.lost_samples;
    host_.throttled_ns += record.throttled_ns;
    host_.sample_cost_ns = std::max(host_.sample_cost_ns, record.sample_cost_ns);
    host_.sample_period_ns = std::max(host_.sample_period_ns, record.sample_period_ns);
    host_.start_up_ns = std::max(host_.start_up_ns, record.start_up_ns);
    host_.load_cost_ns = std::max(host_.load_cost_ns, record.load_cost_ns);
    host_.switches_cost_ns += record.switches_cost_ns;
}

// Each rank's recorder knows what its rank may use; the run may use all of it. A recorder that got no mask may use
// every CPU. The machine itself is the same to all.
void HostBuilder::take(const Topology& record, FileContext& context) {
    const model::CpuSet allowed = context.cpus(record.allowed_cpus);
    allows_all_ |= allowed.empty();
    model::CpuSet joint;
    std::ranges::set_union(host_.allowed_cpus, allowed, std::back_inserter(joint));
    host_.allowed_cpus = allows_all_ ? model::CpuSet{} : std::move(joint);
    if (has_topology_)
        return;
    has_topology_ = true;
    host_.cpu_count = static_cast<int>(std::min<uint32_t>(record.cpu_count, INT32_MAX));
    std::string xml;
    for (uint32_t part = 0; part < record.xml_parts && record.xml != 0; ++part) {
        const StringId id = record.xml + part;
        if (!context.strings.contains(id))
            return; // a part was lost: half a document is none
        xml += context.text(id);
    }
    host_.topology.xml = std::move(xml);
}

void HostBuilder::take(const HugePages& record, FileContext& context) {
    host_.huge_pages = {.enabled = context.text(record.enabled),
                        .defrag = context.text(record.defrag),
                        .shared_enabled = context.text(record.shared_enabled),
                        .page_bytes = record.page_bytes,
                        .scan_pages = record.scan_pages,
                        .scan_sleep_ms = record.scan_sleep_ms};
}

void HostBuilder::take(const BandwidthRoof& record, FileContext& context) {
    const model::StreamMix mix{record.loads, record.stores, record.updates, record.past_caches};
    auto roof = std::ranges::find(host_.bandwidth_roofs, mix, &model::BandwidthRoof::mix);
    if (roof == host_.bandwidth_roofs.end()) {
        constexpr size_t kMostMixes = 64; // a recorder times one or two
        if (host_.bandwidth_roofs.size() >= kMostMixes || !context.allowance().take(sizeof(model::BandwidthRoof)))
            return;
        roof = host_.bandwidth_roofs.insert(roof, {.mix = mix, .bytes = 0, .points = {}, .why_not = ""});
    }
    roof->bytes = std::max(roof->bytes, record.bytes);
    if (const std::string why_not = context.text(record.why_not); !why_not.empty())
        roof->why_not = why_not;
    if (record.threads == 0 || record.bytes_per_s == 0 || !context.allowance().take(sizeof(model::BandwidthPoint)))
        return;
    roof->points.push_back({.threads = record.threads,
                            .cpus = context.cpus(record.cpus),
                            .nodes = record.nodes,
                            .bytes_per_s = static_cast<double>(record.bytes_per_s),
                            .low = static_cast<double>(record.low_bytes_per_s),
                            .high = static_cast<double>(record.high_bytes_per_s)});
}

// Of several recorders of a node, the first that could measure something.
void HostBuilder::take(const LineTransfer& record, FileContext&) {
    const auto access = [](uint64_t own_ps, uint64_t contended_ps) {
        return model::LineTransfer::Access{static_cast<double>(own_ps) * 1e-3, static_cast<double>(contended_ps) * 1e-3};
    };
    if (host_.line_transfer)
        return;
    host_.line_transfer = {.cpu = record.cpu,
                           .other_cpu = record.other_cpu,
                           .load = access(record.own_load_ps, record.contended_load_ps),
                           .store = access(record.own_store_ps, record.contended_store_ps),
                           .update = access(record.own_update_ps, record.contended_update_ps),
                           .locked = access(record.own_locked_ps, record.contended_locked_ps)};
}

// Several recorders of a node time the same machine: disturbances only make a figure larger, so the smallest one counts.
void HostBuilder::take(const AccessPenalty& record, FileContext& context) {
    if (!host_.access_penalties)
        host_.access_penalties.emplace();
    model::AccessPenalties& known = *host_.access_penalties;
    keep_smallest(known.load.aligned_ns, record.aligned_load_ps);
    keep_smallest(known.load.unaligned_ns, record.unaligned_load_ps);
    keep_smallest(known.load.line_ns, record.line_load_ps);
    keep_smallest(known.load.page_ns, record.page_load_ps);
    keep_smallest(known.load.sweep_line_ns, record.sweep_line_load_ps);
    keep_smallest(known.store.aligned_ns, record.aligned_store_ps);
    keep_smallest(known.store.unaligned_ns, record.unaligned_store_ps);
    keep_smallest(known.store.line_ns, record.line_store_ps);
    keep_smallest(known.store.page_ns, record.page_store_ps);
    keep_smallest(known.store.sweep_line_ns, record.sweep_line_store_ps);
    keep_smallest(known.locked_ns, record.locked_ps);
    keep_smallest(known.split_lock_ns, record.split_lock_ps);
    if (known.split_lock_setting.empty())
        known.split_lock_setting = context.text(record.split_lock_setting);
}

void HostBuilder::take(const EventCount& record, FileContext& context) {
    host_.event_counts.push_back({.name = context.text(record.name), .pid = record.pid, .count = record.count});
}

void HostBuilder::take(const CounterSlice& record, FileContext& context) {
    const uint64_t begin_ns = context.time(record.begin_ns), end_ns = alive(context.time(record.end_ns));
    if (record.event == 0 || end_ns <= begin_ns || !context.allowance().take(sizeof(model::CounterSlice)))
        return;
    host_.counters.push_back({.event = context.text(record.event),
                              .begin_ns = begin_ns,
                              .end_ns = end_ns,
                              .count = record.count,
                              .pid = record.pid,
                              .group = record.group,
                              .by_papi = (record.flags & kCountedByPapi) != 0});
}

// Every recorder of a node tells the same.
void HostBuilder::take(const NumaNode& record, FileContext& context) {
    const auto number = static_cast<int>(record.node);
    if (record.node > INT16_MAX || std::ranges::find(host_.nodes, number, &model::NumaNode::node) != host_.nodes.end())
        return;
    model::NumaNode node{.node = number, .total_bytes = record.total_bytes, .cpus = context.cpus(record.cpus),
                         .distances = {}};
    node.distances = numbers_of(context.text(record.distances));
    host_.nodes.push_back(std::move(node));
}

void HostBuilder::finish() {
    place_activities();
    noise_.finish();
    std::ranges::sort(host_.nodes, {}, &model::NumaNode::node);
    for (model::BandwidthRoof& roof : host_.bandwidth_roofs)
        std::ranges::stable_sort(roof.points, {}, &model::BandwidthPoint::threads);
    for (model::CpuInterval& interval : host_.cpu_intervals)
        interval.allowed |= std::ranges::binary_search(host_.allowed_cpus, interval.cpu);
    std::stable_sort(host_.cpu_intervals.begin(), host_.cpu_intervals.end(), [](const auto& a, const auto& b) {
        return std::tie(a.begin_ns, a.cpu) < std::tie(b.begin_ns, b.cpu);
    });
    std::ranges::stable_sort(host_.counters, {}, &model::CounterSlice::begin_ns);
    std::stable_sort(host_.memory.begin(), host_.memory.end(), [](const auto& a, const auto& b) {
        return std::tie(a.time_ns, a.node) < std::tie(b.time_ns, b.node);
    });
}

} // namespace plumb::trace
