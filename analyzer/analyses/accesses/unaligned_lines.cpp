#include "analyses/accesses/unaligned_lines.h"

#include "analyses/accesses/replayed_cost.h"
#include "analyses/time/run_totals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace plumb {

namespace {

constexpr uint64_t kLeastSamples = 5;        // of unaligned or crossing accesses: fewer may be misread addresses
constexpr double kLeastSampledShare = 0.1;   // the same
constexpr uint64_t kTrustedSamples = 20;     // from here on they tell an instruction's time better than its neighbours do
constexpr uint64_t kTrustedHits = 100;       // from here on those caught tell what share of the accesses crosses
constexpr size_t kMostNamed = 32;            // addresses of a site whose data are looked up, spread over its life
constexpr double kLeastNaturalPart = 0.02;   // of a run's CPU time is not in traps, for certain

using PlaceKey = std::tuple<std::string, std::string, uint32_t, std::string>; // module, file, line, function
using LeafKey = std::pair<std::string, std::string>;                         // function, module
using KindKey = std::tuple<uint32_t, bool, bool, bool, bool, bool, bool>;

PlaceKey place_key(const model::SourceFrame& frame) {
    return {frame.module, frame.file, frame.line, frame.line ? "" : frame.function};
}

// Functions are kept apart, their instructions are not, where anything but the module is known of them.
model::SourceFrame function_of(model::SourceFrame frame) {
    const size_t offset = frame.function.rfind("+0x");
    if (offset != std::string::npos && frame.function.compare(0, offset, frame.module) != 0)
        frame.function.resize(offset);
    return frame;
}

KindKey kind_key(const model::AccessKind& kind) {
    return {kind.width, kind.load, kind.store, kind.locked, kind.string, kind.stack, kind.packed};
}

struct SampledTime {
    double seconds = 0;
    uint64_t samples = 0;
};

struct Draft { // a line under construction
    AccessLine line;
    std::map<std::string, AccessObject> objects; // share: number of kept addresses
    std::set<std::pair<size_t, uint32_t>> threads;
    std::set<size_t> processes;
    double limited_s = 0; // of the cost, what the time samples of the line itself limit; a replay is limited by its loop
};

class Gatherer {
  public:
    explicit Gatherer(model::CallPaths& paths) : paths_(paths), run_(paths.run()) {}

    UnalignedAccesses gather() {
        for (const model::Host& host : run_.hosts)
            if (host.access_penalties && !result_.penalties)
                result_.penalties = &*host.access_penalties;
        result_.exact = true;
        for (size_t process = 0; process < run_.processes.size(); process++)
            add_process(process);
        result_.exact &= result_.trap_ran;
        limit_costs();
        for (auto& [key, draft] : drafts_)
            result_.lines.push_back(finished(draft));
        std::stable_sort(result_.lines.begin(), result_.lines.end(), [](const AccessLine& left, const AccessLine& right) {
            return std::pair(left.cost.total_s(), left.counts.hits + left.samples) >
                   std::pair(right.cost.total_s(), right.counts.hits + right.samples);
        });
        return std::move(result_);
    }

  private:
    void add_process(size_t index) {
        const model::Process& process = run_.processes[index];
        const model::Alignment& alignment = process.alignment;
        result_.trap_ran |= alignment.mode != model::Alignment::Mode::off;
        if (alignment.mode == model::Alignment::Mode::find)
            result_.exact = false;
        result_.excluded_hits += alignment.excluded_hits;
        result_.lost_hits += alignment.lost_hits;
        result_.trap_s += static_cast<double>(alignment.trap_ns + alignment.stand_in_ns) * 1e-9;
        if (alignment.sites.empty() && process.sampled_accesses.empty() && process.replayed_accesses.empty())
            return;
        take_times(process);
        const model::AccessPenalties* penalties = penalties_of(process);
        replayed_ = replayed_costs(process, penalties);
        std::unordered_map<uint64_t, const model::SampledAccess*> sampled;
        for (const model::SampledAccess& access : process.sampled_accesses)
            sampled.emplace(access.address, &access);
        for (const model::UnalignedSite& site : alignment.sites) {
            const auto found = sampled.find(site.address);
            add_site(index, site, penalties, found == sampled.end() ? nullptr : found->second);
            if (found != sampled.end())
                sampled.erase(found);
        }
        for (const model::SampledAccess& access : process.sampled_accesses)
            if (sampled.contains(access.address) && (is_telling(index, access) || is_replayed(index, access.address)))
                add_sampled(index, access, penalties);
            else
                sampled.erase(access.address);
        for (const auto& [address, replayed] : replayed_)
            if (!sampled.contains(address) && !is_site(alignment, address) && is_replayed(index, address))
                add_replayed(index, *replayed.access);
    }

    void add_site(size_t process, const model::UnalignedSite& site, const model::AccessPenalties* penalties,
                  const model::SampledAccess* sampled) {
        if (site.hits == 0)
            return;
        Draft& draft = draft_at(process, site.address, site.path, site.kind);
        AccessLine& line = draft.line;
        const AccessCounts counts{site.hits, site.line_crossings(), site.page_crossings, site.exact};
        line.counts.exact = (line.counts.hits == 0 || line.counts.exact) && counts.exact;
        line.counts.hits += counts.hits;
        line.counts.line_crossings += counts.line_crossings;
        line.counts.page_crossings += counts.page_crossings;
        for (const model::UnalignedThread& thread : site.threads)
            if (thread.hits > 0)
                draft.threads.emplace(process, thread.thread);
        draft.processes.insert(process);
        const size_t step = (site.addresses.size() + kMostNamed - 1) / kMostNamed;
        for (size_t i = 0; i < site.addresses.size(); i += step)
            add_object(draft, touched_data(paths_, process, site, site.addresses[i]), site.addresses[i].address);
        const ExtraTime extra = extra_time_of(penalties, site.kind);
        line.priced |= extra.known;
        AccessCost cost = cost_of_counts(extra, site.kind, counts, time_at(site));
        if (sampled) {
            add_samples(line, *sampled);
            if (!counts.exact && sampled->samples >= kTrustedSamples)
                cost = counts.hits >= kTrustedHits
                           ? cost_of_counts(extra, site.kind, counts, static_cast<double>(sampled->time_ns) * 1e-9)
                           : larger(cost_of_counts(extra, site.kind, counts, 0),
                                    cost_of_samples(extra, site.kind, *sampled));
        }
        add_cost(draft, site.address, cost);
    }

    // What was measured by a replay of the loop holds, also where it is nothing.
    void add_cost(Draft& draft, uint64_t address, const AccessCost& cost) {
        const auto replayed = replayed_.find(address);
        if (replayed == replayed_.end()) {
            draft.line.cost.add(cost);
            draft.limited_s += cost.total_s();
            return;
        }
        draft.line.cost.add(replayed->second.cost);
        draft.line.replayed = replayed->second.access;
    }

    // Neither caught nor sampled, but in a loop that loses time by it.
    void add_replayed(size_t process, const model::ReplayedAccess& access) {
        Draft& draft = draft_at(process, access.address, 0, access.kind);
        draft.line.priced = true;
        draft.processes.insert(process);
        draft.line.samples += access.samples;
        const auto crossing = [&](double share) { return static_cast<uint64_t>(share * static_cast<double>(access.samples)); };
        draft.line.sampled_unaligned += crossing(access.line_share);
        draft.line.sampled_line_crossings += crossing(access.line_share);
        draft.line.sampled_page_crossings += crossing(access.page_share);
        model::SampledAccess place;
        place.address = access.address;
        place.kind = access.kind;
        place.last_address = access.last_address;
        add_object(draft, touched_static(paths_, process, place), access.last_address);
        add_cost(draft, access.address, {});
    }

    bool is_replayed(size_t process, uint64_t address) const {
        const auto replayed = replayed_.find(address);
        return replayed != replayed_.end() && replayed->second.cost.total_s() > 0 && is_own_code(process, address);
    }

    static bool is_site(const model::Alignment& alignment, uint64_t address) {
        return std::ranges::any_of(alignment.sites, [&](const auto& site) { return site.address == address && site.hits > 0; });
    }

    void add_sampled(size_t process, const model::SampledAccess& access, const model::AccessPenalties* penalties) {
        Draft& draft = draft_at(process, access.address, 0, access.kind);
        const ExtraTime extra = extra_time_of(penalties, access.kind);
        draft.line.priced |= extra.known;
        draft.processes.insert(process);
        add_samples(draft.line, access);
        add_object(draft, touched_static(paths_, process, access), access.last_address);
        add_cost(draft, access.address, cost_of_samples(extra, access.kind, access));
    }

    // What address sampling alone shows: packed accesses that cross lines, which never trap, and any unaligned one
    // where there was no trap.
    bool is_telling(size_t process, const model::SampledAccess& access) const {
        if (!is_own_code(process, access.address))
            return false;
        const bool trapped = run_.processes[process].alignment.mode != model::Alignment::Mode::off;
        const uint64_t telling = access.kind.packed ? access.line_crossings : trapped ? 0 : access.unaligned;
        return telling >= kLeastSamples &&
               static_cast<double>(telling) >= kLeastSampledShare * static_cast<double>(access.samples);
    }

    bool is_own_code(size_t process, uint64_t address) const {
        const model::Module* module = paths_.module_of(process, address);
        return module && module->kind != model::Module::Kind::vdso && module->kind != model::Module::Kind::kernel &&
               !model::is_system_module(module->path);
    }

    static void add_samples(AccessLine& line, const model::SampledAccess& access) {
        line.samples += access.samples;
        line.sampled_unaligned += access.unaligned;
        line.sampled_line_crossings += access.line_crossings;
        line.sampled_page_crossings += access.page_crossings;
    }

    static AccessCost larger(const AccessCost& left, const AccessCost& right) {
        return left.total_s() >= right.total_s() ? left : right;
    }

    Draft& draft_at(size_t process, uint64_t address, uint32_t caller, const model::AccessKind& kind) {
        const model::SourceFrame frame = paths_.user_frame_at(process, address, caller);
        const std::vector<model::SourceFrame> frames = paths_.frames_at(process, address);
        const model::SourceFrame leaf = frames.empty() ? model::SourceFrame() : function_of(frames.front());
        Draft& draft = drafts_[{place_key(frame), LeafKey(leaf.function, leaf.module), kind_key(kind)}];
        if (draft.line.instructions++ == 0) {
            draft.line.frame = frame;
            draft.line.leaf_function = leaf.function;
            draft.line.leaf_module = leaf.module;
            draft.line.kind = kind;
        }
        return draft;
    }

    static void add_object(Draft& draft, TouchedData data, uint64_t address) {
        AccessObject& object = draft.objects[data.key()];
        if (object.share == 0 || data.offset < object.data.offset) { // the first element says more than any other
            object.cause = why_unaligned(data, draft.line.kind, address);
            object.data = std::move(data);
        }
        object.share += 1;
    }

    const model::AccessPenalties* penalties_of(const model::Process& process) const {
        for (const model::Host& host : run_.hosts)
            if (host.name == process.host && host.access_penalties)
                return &*host.access_penalties;
        return result_.penalties;
    }

    // User-mode samples by instruction.
    void take_times(const model::Process& process) {
        times_.clear();
        for (const model::SampleSite& site : process.samples) {
            if (site.path >= process.paths.size() || process.paths[site.path].kernel || site.samples == 0)
                continue;
            const uint64_t user = site.samples - std::min(site.kernel_samples, site.samples);
            SampledTime& time = times_[process.paths[site.path].address];
            time.samples += user;
            time.seconds += static_cast<double>(site.time_ns) * 1e-9 * static_cast<double>(user) /
                            static_cast<double>(site.samples);
        }
    }

    // A sample stands at the slow instruction or at the one after it.
    double time_at(const model::UnalignedSite& site) const {
        double seconds = 0;
        for (const uint64_t address : {site.address, site.address + std::max<uint64_t>(site.code.size(), 1)})
            if (const auto found = times_.find(address); found != times_.end())
                seconds += found->second.seconds;
        return seconds;
    }

    // No line can have lost more time than was spent there. n samples mean that hardly more than n + 2 sqrt(n) + 3
    // sample periods were (the upper end of the 95 % interval of a Poisson count).
    void limit_costs() {
        std::map<PlaceKey, double> claimed;
        for (const auto& [key, draft] : drafts_)
            if (draft.limited_s > 0)
                claimed[std::get<PlaceKey>(key)] += draft.limited_s;
        SampledTime all;
        std::map<PlaceKey, SampledTime> spent;
        if (!claimed.empty())
            spent = spent_by_line(claimed, all);
        if (all.samples == 0)
            return;
        const double period_s = all.seconds / static_cast<double>(all.samples);
        for (auto& [key, draft] : drafts_) {
            const auto claim = claimed.find(std::get<PlaceKey>(key));
            if (claim == claimed.end() || draft.limited_s <= 0)
                continue;
            const double count = static_cast<double>(spent[std::get<PlaceKey>(key)].samples);
            const double limit_s = (count + 2 * std::sqrt(count) + 3) * period_s;
            if (claim->second > limit_s) {
                const double too_much_s = draft.limited_s * (1 - limit_s / claim->second);
                draft.line.cost.scale(1 - too_much_s / draft.line.cost.total_s());
                draft.line.cost.how = AccessCost::How::bound;
            }
        }
    }

    std::map<PlaceKey, SampledTime> spent_by_line(const std::map<PlaceKey, double>& lines, SampledTime& all) {
        std::map<PlaceKey, SampledTime> spent;
        for (size_t index = 0; index < run_.processes.size(); index++) {
            const model::Process& process = run_.processes[index];
            for (const model::SampleSite& site : process.samples) {
                all.samples += site.samples;
                all.seconds += static_cast<double>(site.time_ns) * 1e-9;
                // From the innermost frame outwards, callers included: a line also pays for what it calls.
                const PlaceKey key = place_key(paths_.user_frame(index, site.path));
                if (!lines.contains(key))
                    continue;
                spent[key].samples += site.samples;
                spent[key].seconds += static_cast<double>(site.time_ns) * 1e-9;
            }
        }
        return spent;
    }

    static AccessLine finished(Draft& draft) {
        AccessLine& line = draft.line;
        double addresses = 0;
        for (const auto& [key, object] : draft.objects)
            addresses += object.share;
        for (auto& [key, object] : draft.objects) {
            object.share /= addresses;
            line.objects.push_back(std::move(object));
        }
        std::stable_sort(line.objects.begin(), line.objects.end(),
                         [](const AccessObject& left, const AccessObject& right) { return left.share > right.share; });
        line.threads = draft.threads.size();
        line.processes = draft.processes.size();
        return std::move(line);
    }

    model::CallPaths& paths_;
    const model::Run& run_;
    UnalignedAccesses result_;
    std::map<std::tuple<PlaceKey, LeafKey, KindKey>, Draft> drafts_;
    std::unordered_map<uint64_t, ReplayedCost> replayed_; // of the process that is being added, by instruction
    std::unordered_map<uint64_t, SampledTime> times_; // of the process that is being added, by instruction
};

double share_of(uint64_t part, uint64_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

} // namespace

std::string AccessLine::called_code() const {
    if (leaf_module.empty())
        return frame.line ? "unnamed code" : "";
    if (leaf_module != frame.module && leaf_function.starts_with(leaf_module)) // "libpmix.so.2+0x13e63e"
        return leaf_function;
    if (leaf_module != frame.module)
        return leaf_function.empty() ? leaf_module : leaf_function + " of " + leaf_module;
    return leaf_function == function_of(frame).function ? "" : leaf_function;
}

double AccessLine::crossing_share() const {
    return trapped() ? share_of(counts.line_crossings, counts.hits) : share_of(sampled_line_crossings, samples);
}

UnalignedAccesses unaligned_accesses_of(model::CallPaths& paths) { return Gatherer(paths).gather(); }

Cost run_cost(const AccessCost& cost, const UnalignedAccesses& accesses, const model::Run& run) {
    const RunTotals totals = totals_of(run);
    Cost result;
    constexpr double kMostly = 0.9;
    result.how = to_string(cost.measured_s > kMostly * cost.total_s() ? AccessCost::How::measured : cost.how);
    if (totals.cpu_s <= 0 || totals.wall_s <= 0)
        return result;
    const double natural_part = std::clamp(1 - accesses.trap_s / totals.cpu_s, kLeastNaturalPart, 1.0);
    result.seconds = totals.wall_of_share(cost.total_s() / totals.cpu_s);
    result.fraction = std::min(1.0, result.seconds / (natural_part * totals.wall_s));
    return result;
}

} // namespace plumb
