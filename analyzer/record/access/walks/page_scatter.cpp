#include "record/access/walks/page_scatter.h"

#include "platform/available_memory.h"
#include "record/access/walks/alike.h"
#include "record/access/walks/walker_key.h"
#include "support/memory_units.h"

#include <algorithm>

namespace plumb::record {

namespace {

constexpr size_t kMostScatterSites = 1 << 13, kMostScattered = 1 << 10, kMostPlaces = 256, kMostForms = 4;
constexpr uint64_t kFewestScattered = 24;
constexpr uint64_t kLongestApart = 17;    // quarters of the time between samples
constexpr uint64_t kLookCostFactor = 200; // 0.5 % of the time, for accesses that no look has seen
constexpr uint64_t kLaterLookCostFactor = 1000;
constexpr uint64_t kPageWalk_ns = 20; // of one small page, about
constexpr uint64_t kMostPageTiming_ns = 2'000'000'000;
constexpr uint64_t kFewestWatched = 16; // accesses that follow one another
// Of them: fewer need another page than the others together take as long as, with all that is in the caches.
constexpr double kLeastNewPages = 0.25;
constexpr uint32_t kMostTries = 4;       // threads, or moments, at which nobody came by
constexpr uint64_t kMostBursts = 32;     // of one process: 0.4 ms each
constexpr uint64_t kLongestBurst_ns = 1'000'000'000;

const platform::PageBacking* area_at(const std::vector<platform::PageBacking>& areas, uint64_t address) {
    const auto after = std::ranges::upper_bound(areas, address, {}, [](const auto& area) { return area.mapping.start; });
    return after == areas.begin() || address >= std::prev(after)->mapping.end ? nullptr : &*std::prev(after);
}

double coverage(const platform::PageBacking& backing) {
    return backing.resident_bytes == 0 ? 0
                                       : std::min(1.0, static_cast<double>(backing.huge_bytes) /
                                                           static_cast<double>(backing.resident_bytes));
}

} // namespace

void PageScatter::take(const SampledAccess& access) {
    total_ns_ += access.weight_ns;
    Traced& process = processes_[access.pid];
    process.time_ns += access.weight_ns;
    if (process.first_ns == 0)
        process.first_ns = access.time_ns;
    if (access.move || (access.flags & (trace::kAlignStack | trace::kAlignString)))
        return; // its steps are known
    const WalkerKey key{access.instruction, access.generation};
    auto known = process.sites.find(key);
    if (known == process.sites.end()) {
        if (sites_ >= kMostScatterSites)
            return;
        ++sites_;
        known = process.sites.try_emplace(key).first;
        known->second.width = access.width;
        known->second.flags = access.flags;
        known->second.first_ns = access.time_ns;
        known->second.in_loop = access.in_loop;
        known->second.chases = access.chases;
        known->second.length = access.length;
        known->second.operand = access.operand;
    }
    Site& site = known->second;
    ++site.samples;
    site.time_ns += access.weight_ns;
    site.last_ns = access.time_ns;
    site.lowest = std::min(site.lowest, access.address);
    site.highest = std::max(site.highest, access.address);
    SampledPlace place{access.address, 0, 0, 0};
    Latest& latest = site.latest[access.tid % kThreadsKept];
    if (latest.tid == access.tid && access.time_ns - latest.time_ns <= access.weight_ns * kLongestApart / 4) {
        place.before = latest.address;
        place.apart_ns = access.time_ns - latest.time_ns;
        place.earlier = latest.before;
    }
    latest = {access.tid, access.address, access.time_ns, place.before};
    if (site.places.size() < kMostPlaces) {
        site.places.push_back(place);
        return;
    }
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const uint64_t at = (random_ >> 33) % site.samples; // reservoir sampling
    if (at < kMostPlaces)
        site.places[at] = place;
}

bool PageScatter::matters(const Traced& process, const Site& site) {
    return site.samples >= kFewestScattered && site.highest - site.lowest >= kLeastScatteredBytes &&
           site.time_ns * 100 >= process.time_ns;
}

// Shares out the time since the last look by where the samples fell.
void PageScatter::settle(Site& site, const std::vector<platform::PageBacking>& areas) {
    if (site.time_ns == site.settled_ns)
        return;
    const double each_ns =
        static_cast<double>(site.time_ns - site.settled_ns) / static_cast<double>(std::max<size_t>(site.places.size(), 1));
    site.settled_ns = site.time_ns;
    uint64_t last = 0;
    std::vector<uint64_t> addresses;
    for (const SampledPlace& place : site.places)
        addresses.push_back(place.address);
    std::ranges::sort(addresses);
    for (const uint64_t address : addresses) {
        const platform::PageBacking* area = area_at(areas, address);
        if (!area || area->mapping.path == "[stack]")
            continue;
        Use& use = site.uses[area->mapping.start];
        use.time_ns += each_ns;
        use.small_ns += each_ns * (1 - coverage(*area));
        if (area->mapping.start != last) {
            last = area->mapping.start;
            use.backing = *area;
            ++use.looks;
        }
    }
}

// What came after the last look lies on such pages as that found.
void PageScatter::share_out_rest(Site& site) {
    double seen_ns = 0;
    for (const auto& [start, use] : site.uses)
        seen_ns += use.time_ns;
    if (seen_ns <= 0)
        return;
    const double rest_ns = static_cast<double>(site.time_ns - site.settled_ns);
    for (auto& [start, use] : site.uses) {
        const double more_ns = rest_ns * use.time_ns / seen_ns;
        use.time_ns += more_ns;
        use.small_ns += more_ns * (1 - coverage(use.backing));
    }
    site.settled_ns = site.time_ns;
}

void PageScatter::take_burst(Traced& process) {
    const auto site = process.sites.find(process.burst_at);
    const std::vector<uint64_t>& addresses = process.burst->addresses();
    if (site != process.sites.end() && addresses.size() >= kFewestWatched) {
        site->second.watched = addresses.size() - 1;
        site->second.new_pages = static_cast<uint64_t>(
            new_page_fraction(addresses) * static_cast<double>(addresses.size() - 1) + 0.5);
    }
    process.burst.reset();
}

// One instruction at a time: the one with most time of those that scatter and were not watched yet.
void PageScatter::watch(Traced& process, uint64_t now_ns) {
    if (process.burst) {
        if (process.burst->addresses().size() < AccessBurst::kRounds && now_ns < process.burst_end_ns)
            return;
        take_burst(process);
    }
    if (process.bursts >= kMostBursts)
        return;
    std::pair<const WalkerKey, Site>* next = nullptr;
    for (auto& site : process.sites)
        if (site.second.watched == 0 && site.second.tries < kMostTries && matters(process, site.second) &&
            (!next || site.second.time_ns > next->second.time_ns) &&
            scatter_of(site.second.places, site.second.in_loop).scattered)
            next = &site;
    if (!next)
        return;
    auto& [key, site] = *next;
    std::array<Latest, kThreadsKept> latest = site.latest; // most recent first
    std::ranges::sort(latest, std::greater<>(), &Latest::time_ns);
    const uint32_t tid = latest[site.tries % kThreadsKept].tid;
    ++site.tries;
    if (tid == 0)
        return;
    ++process.bursts;
    process.burst = start_burst_({tid, key.instruction, site.length, site.operand});
    process.burst_at = key;
    process.burst_end_ns = now_ns + kLongestBurst_ns;
}

void PageScatter::look(uint64_t now_ns) {
    for (auto& [pid, process] : processes_) {
        watch(process, now_ns);
        if (now_ns < process.earliest_look_ns || process.first_ns == 0)
            continue;
        const bool is_due = now_ns >= process.next_look_ns;
        if (std::ranges::none_of(process.sites, [is_due, &process = process](const auto& site) {
                return (is_due || site.second.uses.empty()) && matters(process, site.second);
            }))
            continue;
        const uint64_t likely_ns = platform::resident_bytes(proc_root_, pid) / kPage * kPageWalk_ns;
        if (process.next_look_ns == 0 && process.first_ns + likely_ns * kLookCostFactor > now_ns) {
            process.earliest_look_ns = process.first_ns + likely_ns * kLookCostFactor;
            continue;
        }
        const uint64_t begin_ns = thread_cpu_ns(); // the time of a wait for the CPU costs nobody anything
        const std::vector<platform::PageBacking> areas = platform::read_page_backing(proc_root_, pid);
        process.refuses = platform::refuses_huge_pages(proc_root_, pid);
        if (!areas.empty())
            for (auto& [key, site] : process.sites)
                if (matters(process, site))
                    settle(site, areas);
        const uint64_t cost_ns = thread_cpu_ns() - begin_ns;
        // A few times a run, however long it is.
        process.earliest_look_ns = now_ns + cost_ns * kLookCostFactor;
        process.next_look_ns = now_ns + std::max(cost_ns * kLaterLookCostFactor, (now_ns - process.first_ns) / 2);
    }
}

void PageScatter::judge(uint32_t pid, Traced& process) {
    if (process.burst)
        take_burst(process);
    for (auto& [key, site] : process.sites) {
        if (!matters(process, site))
            continue;
        share_out_rest(site);
        if (site.watched > 0 && static_cast<double>(site.new_pages) < kLeastNewPages * static_cast<double>(site.watched))
            continue; // blocks, within which it goes in order
        if (site.uses.empty()) {
            if (scatter_of(site.places, site.in_loop).scattered)
                unseen_ns_ += site.time_ns;
            continue;
        }
        for (const auto& [start, use] : site.uses) {
            std::vector<SampledPlace> places;
            for (const SampledPlace& place : site.places)
                if (place.address >= use.backing.mapping.start && place.address < use.backing.mapping.end)
                    places.push_back(place);
            const Scatter scatter = scatter_of(places, site.in_loop);
            if (!scatter.scattered || candidates_.size() >= kMostScattered)
                continue;
            Site kept = site; // without what is large
            kept.places.clear();
            kept.uses.clear();
            candidates_.push_back({pid, key, std::move(kept), use, scatter, places.back().address, process.refuses});
        }
    }
}

void PageScatter::forget(uint32_t pid) {
    const auto known = processes_.find(pid);
    if (known == processes_.end())
        return;
    judge(pid, known->second);
    sites_ -= known->second.sites.size();
    processes_.erase(known);
}

void PageScatter::write(NodeTraceWriter& file, uint64_t sharers) {
    for (auto& [pid, process] : processes_)
        judge(pid, process);
    processes_.clear();
    if (unseen_ns_ * 100 > total_ns_)
        file.evidence("huge-pages", trace::EvidenceState::limited,
                      "a process with scattered accesses to much memory ended before its pages were examined, or its "
                      "/proc/PID/smaps may not be read", "");
    double small_ns = 0;
    for (const Candidate& each : candidates_)
        small_ns += each.use.small_ns;
    if (small_ns * 100 < static_cast<double>(total_ns_))
        return;
    std::erase_if(candidates_, [&](const Candidate& each) { return each.use.small_ns * 100 < small_ns; });
    std::ranges::stable_sort(candidates_, std::greater{}, [](const Candidate& each) { return each.use.small_ns; });

    struct Timed {
        ScatteredAccesses accesses;
        PageTime time;
    };
    std::vector<Timed> timed;
    const uint64_t begin_ns = monotonic_ns();
    const uint64_t most_bytes = platform::available_memory("") / 4 / std::max<uint64_t>(sharers, 1);
    for (const Candidate& candidate : candidates_) {
        const Site& site = candidate.site;
        const ScatteredAccesses accesses{candidate.scatter.footprint, site.chases, (site.flags & trace::kAlignLoad) != 0,
                                         (site.flags & trace::kAlignStore) != 0};
        auto same = std::ranges::find_if(timed, [&](const Timed& other) {
            return other.accesses.chases == accesses.chases && other.accesses.loads == accesses.loads &&
                   other.accesses.stores == accesses.stores && alike(other.accesses.span, accesses.span);
        });
        if (same == timed.end()) {
            PageTime time;
            time.why_not = "there were too many kinds of such accesses to time each";
            if (timed.size() < kMostForms && monotonic_ns() - begin_ns < kMostPageTiming_ns)
                time = time_pages(accesses, most_bytes);
            same = timed.insert(timed.end(), {accesses, time});
        }
        const platform::PageBacking& backing = candidate.use.backing;
        trace::PageScatter record{};
        record.pid = candidate.pid;
        record.flags = site.flags;
        record.address = candidate.key.instruction;
        record.width = site.width;
        record.form = site.chases ? trace::kScatterChase : trace::kScatterGather;
        record.area_flags = (backing.mapping.path == "[heap]" ? uint32_t{trace::kAreaHeap} : 0) |
                            (backing.mapping.inode != 0 ? uint32_t{trace::kAreaFile} : 0) |
                            (backing.mapping.shared ? uint32_t{trace::kAreaShared} : 0) |
                            (backing.mapping.writable ? uint32_t{trace::kAreaWritable} : 0);
        record.page_flags = (backing.eligible ? uint32_t{trace::kPagesEligible} : 0) |
                            (backing.advised ? uint32_t{trace::kPagesAdvised} : 0) |
                            (backing.forbidden ? uint32_t{trace::kPagesForbidden} : 0) |
                            (candidate.refuses ? uint32_t{trace::kPagesRefused} : 0);
        record.path = file.string(backing.mapping.path);
        record.looks = static_cast<uint32_t>(candidate.use.looks);
        record.samples = static_cast<uint64_t>(candidate.use.time_ns / static_cast<double>(site.time_ns) *
                                               static_cast<double>(site.samples));
        record.places = candidate.scatter.places;
        record.pages = candidate.scatter.pages;
        record.time_ns = static_cast<uint64_t>(candidate.use.time_ns);
        record.small_ns = static_cast<uint64_t>(candidate.use.small_ns);
        record.lowest_address = candidate.scatter.lowest;
        record.highest_address = candidate.scatter.highest;
        record.last_address = candidate.last_address;
        record.footprint_bytes = candidate.scatter.footprint;
        record.area_start = backing.mapping.start;
        record.area_end = backing.mapping.end;
        record.resident_bytes = backing.resident_bytes;
        record.huge_bytes = backing.huge_bytes;
        record.timed_bytes = same->time.span;
        record.small_ps = same->time.small_ps;
        record.huge_ps = same->time.huge_ps;
        record.small_touch_ns = same->time.small_touch_ns;
        record.huge_touch_ns = same->time.huge_touch_ns;
        record.why_not_timed = file.string(same->time.why_not);
        record.first_ns = site.first_ns;
        record.last_ns = site.last_ns;
        record.watched = site.watched;
        record.new_pages = site.new_pages;
        file.append(trace::RecordType::PageScatter, 0, record);
    }
    candidates_.clear();

    const platform::HugePageSettings settings = platform::read_huge_page_settings("");
    trace::HugePages record{};
    record.enabled = file.string(settings.enabled);
    record.defrag = file.string(settings.defrag);
    record.shared_enabled = file.string(settings.shared_enabled);
    record.page_bytes = settings.page_bytes;
    record.scan_pages = settings.scan_pages;
    record.scan_sleep_ms = settings.scan_sleep_ms;
    file.append(trace::RecordType::HugePages, 0, record);
}

} // namespace plumb::record
