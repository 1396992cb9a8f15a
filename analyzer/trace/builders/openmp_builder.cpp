#include "trace/builders/openmp_builder.h"

#include <algorithm>

namespace plumb::trace {

namespace {

constexpr uint64_t kRecordAllowanceBytes = 512; // what one record becomes, at most
constexpr uint64_t kMostNs = uint64_t{1} << 62;

model::OmpSchedule schedule_of(uint32_t value) {
    using Schedule = model::OmpSchedule;
    switch (static_cast<OmpSchedule>(value)) {
    case OmpSchedule::dynamic: return Schedule::dynamic;
    case OmpSchedule::guided: return Schedule::guided;
    case OmpSchedule::runtime: return Schedule::runtime;
    case OmpSchedule::sections: return Schedule::sections;
    case OmpSchedule::fixed: return Schedule::fixed;
    case OmpSchedule::automatic: return Schedule::automatic;
    case OmpSchedule::none: break;
    }
    return Schedule::none;
}

bool kind_of(uint32_t value, model::OmpWaitKind& kind) {
    using Kind = model::OmpWaitKind;
    switch (static_cast<OmpWaitKind>(value)) {
    case OmpWaitKind::barrier: kind = Kind::barrier; return true;
    case OmpWaitKind::loop_end: kind = Kind::loop_end; return true;
    case OmpWaitKind::critical: kind = Kind::critical; return true;
    case OmpWaitKind::lock: kind = Kind::lock; return true;
    case OmpWaitKind::ordered: kind = Kind::ordered; return true;
    case OmpWaitKind::task_wait: kind = Kind::task_wait; return true;
    }
    return false;
}

} // namespace

bool OpenMpBuilder::has_room(uint64_t bytes, Allowance& allowance) { return allowance.take(bytes); }

void OpenMpBuilder::take(const OmpRuntime& record, std::string name) {
    openmp_.runtime = std::move(name);
    openmp_.refused += record.refused;
    openmp_.unmatched += record.unmatched;
    if (record.flags & kOmpTicksAreNanoseconds)
        ns_per_tick_ = 1;
    else if (record.last_ticks > record.first_ticks && record.last_ns > record.first_ns)
        ns_per_tick_ = static_cast<double>(record.last_ns - record.first_ns) /
                       static_cast<double>(record.last_ticks - record.first_ticks);
}

void OpenMpBuilder::take(const OmpRegion& record, uint32_t thread, uint32_t path, Allowance& allowance) {
    if (has_room(kRecordAllowanceBytes, allowance))
        regions_.push_back({record, thread, path});
}

void OpenMpBuilder::take(const OmpPart& record, uint32_t thread, Allowance& allowance) {
    if (has_room(kRecordAllowanceBytes, allowance))
        parts_.push_back({record, thread, 0});
}

void OpenMpBuilder::take(const OmpWait& record, uint32_t thread, uint32_t path, Allowance& allowance) {
    if (has_room(kRecordAllowanceBytes, allowance))
        waits_.push_back({record, thread, path});
}

uint64_t OpenMpBuilder::ns(uint64_t ticks) const {
    const double value = static_cast<double>(ticks) * ns_per_tick_;
    return value < static_cast<double>(kMostNs) ? static_cast<uint64_t>(value) : 0; // a damaged record
}

model::OmpRegion& OpenMpBuilder::region(const RegionKey& key) {
    const auto [found, is_new] = region_at_.try_emplace(key, openmp_.regions.size());
    if (is_new) {
        model::OmpRegion& added = openmp_.regions.emplace_back();
        std::tie(added.call_site, added.function) = key;
    }
    return openmp_.regions[found->second];
}

void OpenMpBuilder::add(const Taken<OmpRegion>& taken) {
    const OmpRegion& from = taken.record;
    model::OmpRegion& to = region({from.call_site, from.function});
    if (to.path == 0)
        to.path = taken.path;
    to.nested |= (from.flags & kOmpNested) != 0;
    to.has_tasks |= (from.flags & kOmpTasks) != 0;
    to.schedule = schedule_of(from.schedule);
    to.chunk = from.chunk;
    to.most_threads = std::max(to.most_threads, from.most_threads);
    to.begun += from.begun;
    to.ended += from.ended;
    to.wall_ns += ns(from.wall_ticks);
    to.longest_ns = std::max(to.longest_ns, ns(from.longest_ticks));
    to.compared += from.compared;
    to.compared_ns += ns(from.compared_ticks);
    to.threads += from.threads;
    to.longest_spans_ns += ns(from.longest_spans);
    to.most_work_ns += ns(from.most_work);
    to.mean_work_ns += ns(from.mean_work);
    to.imbalance_ns += ns(from.imbalance);
    to.clocked += from.clocked;
    to.clocked_imbalance_ns += ns(from.clocked_imbalance);
    to.cpu_imbalance_ns += ns(from.cpu_imbalance);
    for (size_t i = 0; i < std::size(to.lengths); ++i)
        to.lengths[i] += from.lengths[i];
    if (std::ranges::find(to.masters, taken.thread) == to.masters.end())
        to.masters.push_back(taken.thread);
}

void OpenMpBuilder::add(const Taken<OmpPart>& taken) {
    const OmpPart& from = taken.record;
    model::OmpRegion& in = region({from.call_site, from.function});
    auto to = std::ranges::find(in.parts, taken.thread, &model::OmpPart::thread);
    if (to == in.parts.end()) {
        in.parts.push_back({.thread = taken.thread});
        to = std::prev(in.parts.end());
    }
    to->number = from.number;
    to->parts += from.parts;
    to->span_ns += ns(from.span_ticks);
    to->wait_ns += ns(from.wait_ticks);
    to->end_wait_ns += ns(from.end_wait_ticks);
    to->lasts += from.lasts;
    to->work_ns += ns(from.compared_work);
    to->clocked += from.clocked;
    to->clocked_ns += ns(from.clocked_ticks);
    to->cpu_ns += from.cpu_ns;
}

void OpenMpBuilder::add(const Taken<OmpWait>& taken) {
    const OmpWait& from = taken.record;
    model::OmpWaitKind kind;
    if (!kind_of(from.kind, kind))
        return;
    const RegionKey region_key{from.region_site, from.region};
    const auto [found, is_new] =
        wait_at_.try_emplace({from.kind, from.call_site, from.object, region_key}, openmp_.waits.size());
    if (is_new) {
        const auto its_region = region_at_.find(region_key);
        openmp_.waits.push_back({.kind = kind,
                                 .call_site = from.call_site,
                                 .object = from.object,
                                 .path = taken.path,
                                 .region = its_region == region_at_.end() ? UINT32_MAX
                                                                          : static_cast<uint32_t>(its_region->second),
                                 .schedule = schedule_of(from.schedule),
                                 .waiters = {}});
    }
    model::OmpWait& at = openmp_.waits[found->second];
    auto to = std::ranges::find(at.waiters, taken.thread, &model::OmpWaiter::thread);
    if (to == at.waiters.end()) {
        at.waiters.push_back({.thread = taken.thread});
        to = std::prev(at.waiters.end());
    }
    to->calls += from.calls;
    to->timed += from.timed;
    to->wait_ns += ns(from.wait_ticks);
    to->longest_ns = std::max(to->longest_ns, ns(from.longest_wait));
    to->holds += from.holds;
    to->hold_ns += ns(from.hold_ticks);
}

void OpenMpBuilder::finish() {
    if (regions_.empty() && waits_.empty())
        return;
    for (const auto& taken : regions_)
        add(taken);
    for (const auto& taken : parts_)
        add(taken);
    for (const auto& taken : waits_)
        add(taken);
    for (model::OmpRegion& in : openmp_.regions)
        std::ranges::sort(in.parts, {}, &model::OmpPart::thread);
    for (model::OmpWait& at : openmp_.waits)
        std::ranges::sort(at.waiters, {}, &model::OmpWaiter::thread);
    process_.openmp = std::move(openmp_);
}

} // namespace plumb::trace
