#include "replay/events/host_clocks.h"

#include "trace/file/mixed_hash.h"

#include <cmath>
#include <map>
#include <unordered_map>

namespace plumb::replay {

namespace {

constexpr double kSameCounter_ns = 100'000; // two ranks of a host agree on the time of a tick to within this
constexpr size_t kMostEpochs = 1 << 18;

// The two moments of the host's ranks that lie farthest apart: the longer the base, the better the rate.
struct HostBase {
    uint64_t first_ticks = UINT64_MAX, last_ticks = 0;
    uint64_t first_ns = 0, last_ns = 0;
};

struct Meeting { // of the first host's ranks with others, at one collective
    Nanoseconds last_begin = INT64_MIN, first_end = INT64_MAX;
};

// For certain: nobody can leave before all have entered.
bool all_meet(const Collective& event) {
    return (event.kind & (trace::kMpiSynchronising | trace::kMpiNeighbour | trace::kMpiMayPass)) == trace::kMpiSynchronising;
}

class Meetings {
  public:
    explicit Meetings(uint64_t stride) : stride_(stride) {}

    void take(const Collective& event) {
        if (!all_meet(event) || event.sequence % stride_)
            return;
        Meeting& meeting = meetings_[key(event)];
        meeting.last_begin = std::max(meeting.last_begin, event.begin);
        meeting.first_end = std::min(meeting.first_end, event.end);
        if (meetings_.size() > kMostEpochs) {
            stride_ *= 2;
            std::erase_if(meetings_, [&](const auto& entry) { return sequence_of(entry.first) % stride_ != 0; });
        }
    }

    const Meeting* find(const Collective& event) const {
        if (!all_meet(event))
            return nullptr;
        const auto found = meetings_.find(key(event));
        return found == meetings_.end() ? nullptr : &found->second;
    }

  private:
    static uint64_t key(const Collective& event) {
        return static_cast<uint64_t>(event.membership->comm) << 40 | (event.sequence & ((uint64_t{1} << 40) - 1));
    }
    static uint64_t sequence_of(uint64_t key) { return key & ((uint64_t{1} << 40) - 1); }

    uint64_t stride_;
    std::unordered_map<uint64_t, Meeting, trace::MixedHash> meetings_;
};

struct Extent {
    Nanoseconds begin = 0, end = 0;
};

// The first host of the run whose counter is this one's as well: itself, or another name of the same machine.
uint32_t with_its_counter(const model::Run& run, uint32_t host) {
    const uint64_t machine = run.hosts[host].machine;
    for (uint32_t first = 0; machine != 0 && first < host; ++first)
        if (run.hosts[first].machine == machine)
            return first;
    return host;
}

Extent extent_of(const model::Run& run, const Job& job) {
    Extent extent{INT64_MAX, INT64_MIN};
    for (const Rank& rank : job.ranks) {
        const model::MpiProcess& mpi = *run.processes[rank.process].mpi;
        extent.begin = std::min(extent.begin, since(run.begin_ns, mpi.origin_ns));
        extent.end = std::max(extent.end, since(run.begin_ns, std::max(mpi.last_ns, mpi.origin_ns)));
    }
    return extent;
}

size_t stretch_of(const Extent& extent, Nanoseconds moment) {
    const double part = static_cast<double>(moment - extent.begin) /
                        std::max(1.0, static_cast<double>(extent.end - extent.begin));
    return static_cast<size_t>(std::clamp(part, 0.0, 1.0) * (ShiftBounds::kStretches - 1e-9));
}

struct HostBounds {
    explicit HostBounds(size_t count) : hosts(count), count_(count) {}
    std::vector<ShiftBounds> hosts;

    void merge(HostBounds&& other) {
        for (size_t host = 0; host < hosts.size(); ++host)
            hosts[host].merge(other.hosts[host]);
    }
    template <class Carrier> void carry(Carrier& carrier) { carrier(hosts); }
    bool fits(const Job&) const {
        return hosts.size() == count_ && std::ranges::all_of(hosts, [](const ShiftBounds& host) {
            return host.bounds.size() == ShiftBounds::kStretches;
        });
    }

  private:
    size_t count_;
};

} // namespace

void ShiftBounds::narrow(size_t stretch, Nanoseconds least, Nanoseconds most) {
    bounds[stretch].least = std::max(bounds[stretch].least, least);
    bounds[stretch].most = std::min(bounds[stretch].most, most);
}

void ShiftBounds::leave(size_t stretch, Nanoseconds stay, Nanoseconds apart) {
    Bound& bound = bounds[stretch];
    if (stay < bound.shortest_stay || (stay == bound.shortest_stay && apart < bound.apart)) {
        bound.shortest_stay = stay;
        bound.apart = apart;
    }
}

void ShiftBounds::merge(const ShiftBounds& other) {
    for (size_t stretch = 0; stretch < kStretches; ++stretch) {
        const Bound& bound = other.bounds[stretch];
        narrow(stretch, bound.least, bound.most);
        leave(stretch, bound.shortest_stay, bound.apart);
    }
}

FittedShift fit_shift(const ShiftBounds& bounds, Nanoseconds begin, Nanoseconds end) {
    FittedShift result;
    const auto count = static_cast<Nanoseconds>(ShiftBounds::kStretches);
    const Nanoseconds step = std::max<Nanoseconds>(1, (end - begin) / count);
    std::vector<size_t> known;
    for (size_t stretch = 0; stretch < ShiftBounds::kStretches; ++stretch)
        if (bounds.bounds[stretch].known())
            known.push_back(stretch);
    if (known.empty())
        return result;
    const auto shift_in = [&](size_t stretch) {
        const ShiftBounds::Bound& bound = bounds.bounds[stretch];
        if (bound.shortest_stay == INT64_MAX || bound.least > bound.most) // the clock drifts within the stretch
            return (static_cast<double>(bound.least) + static_cast<double>(bound.most)) / 2;
        return static_cast<double>(std::clamp(bound.apart, bound.least, bound.most));
    };
    for (const size_t stretch : known) // a clock that drifts within a stretch can leave nothing between its bounds
        for (const Nanoseconds bound : {bounds.bounds[stretch].least, bounds.bounds[stretch].most})
            result.error = std::max(result.error, static_cast<Nanoseconds>(std::abs(static_cast<double>(bound) - shift_in(stretch))) + 1);
    if (known.size() > 1)
        result.drift = (shift_in(known.back()) - shift_in(known.front())) /
                       static_cast<double>(static_cast<Nanoseconds>(known.back() - known.front()) * step);
    HostShift& shift = result.shift;
    shift.begin = begin + step / 2;
    shift.step = step;
    for (size_t stretch = 0, after = 0; stretch < ShiftBounds::kStretches; ++stretch) {
        while (after < known.size() && known[after] < stretch)
            after++;
        if (after == known.size() || after == 0) { // before the first or behind the last known: they stand for it
            shift.values.push_back(shift_in(known[after == 0 ? 0 : after - 1]));
            continue;
        }
        const double part = static_cast<double>(stretch - known[after - 1]) /
                            static_cast<double>(known[after] - known[after - 1]);
        shift.values.push_back(shift_in(known[after - 1]) + part * (shift_in(known[after]) - shift_in(known[after - 1])));
    }
    return result;
}

void set_clocks(const model::Run& run, Job& job) {
    std::map<uint32_t, HostBase> bases; // by the first host of a machine
    for (const Rank& rank : job.ranks) {
        const model::MpiProcess& mpi = *run.processes[rank.process].mpi;
        HostBase& base = bases[with_its_counter(run, rank.host)];
        if (mpi.origin_ticks < base.first_ticks) {
            base.first_ticks = mpi.origin_ticks;
            base.first_ns = mpi.origin_ns;
        }
        if (mpi.last_ticks > base.last_ticks) {
            base.last_ticks = mpi.last_ticks;
            base.last_ns = mpi.last_ns;
        }
    }
    for (Rank& rank : job.ranks) {
        const model::MpiProcess& mpi = *run.processes[rank.process].mpi;
        rank.clock = {.origin_ticks = mpi.origin_ticks,
                      .origin = since(run.begin_ns, mpi.origin_ns),
                      .ns_per_tick = 1 / mpi.ticks_per_ns,
                      .shift = nullptr};
        const HostBase& base = bases[with_its_counter(run, rank.host)];
        if (base.last_ticks <= base.first_ticks || base.last_ns <= base.first_ns)
            continue;
        Clock shared{.origin_ticks = base.first_ticks,
                     .origin = since(run.begin_ns, base.first_ns),
                     .ns_per_tick = static_cast<double>(base.last_ns - base.first_ns) /
                                    static_cast<double>(base.last_ticks - base.first_ticks),
                     .shift = nullptr};
        const auto agrees = [&](uint64_t ticks, uint64_t ns) {
            return std::abs(static_cast<double>(shared.moment(ticks) - since(run.begin_ns, ns))) < kSameCounter_ns;
        };
        // Else its counter is another one: a virtual machine, or a counter that is not kept the same on all processors.
        if (agrees(mpi.origin_ticks, mpi.origin_ns) && (mpi.last_ticks == 0 || agrees(mpi.last_ticks, mpi.last_ns)))
            rank.clock = shared;
    }
}

model::MpiClocks align_hosts(const model::Run& run, Job& job, const OpenTrace& open, const RankWork& work,
                             std::vector<HostShift>& shifts) {
    model::MpiClocks clocks;
    shifts.assign(run.hosts.size(), {});
    std::vector<bool> used(run.hosts.size());
    for (const Rank& rank : job.ranks)
        used[rank.host] = true;
    clocks.hosts = static_cast<uint32_t>(std::ranges::count(used, true));
    if (clocks.hosts < 2)
        return clocks;
    const uint32_t first_host = job.ranks.front().host;
    Meetings meetings(job.collective_stride);
    for (const Rank& rank : job.ranks)
        if (rank.host == first_host)
            RankEvents(run, rank).visit(open, [&](const Collective& event) { meetings.take(event); });
    const Extent extent = extent_of(run, job);
    const auto none = [&] { return HostBounds(run.hosts.size()); };
    const HostBounds found = work.of_all(none, [&](uint32_t row, HostBounds& bounds) {
        const Rank& rank = job.ranks[row];
        if (rank.host == first_host)
            return;
        RankEvents(run, rank).visit(open, [&](const Collective& event) {
            if (const Meeting* meeting = meetings.find(event)) {
                const size_t stretch = stretch_of(extent, event.begin);
                bounds.hosts[rank.host].narrow(stretch, meeting->last_begin - event.end, meeting->first_end - event.begin);
                bounds.hosts[rank.host].leave(stretch, event.end - event.begin, meeting->first_end - event.end);
            }
        });
    });
    for (uint32_t host = 0; host < run.hosts.size(); ++host) {
        if (!used[host] || with_its_counter(run, host) == with_its_counter(run, first_host))
            continue;
        FittedShift fitted = fit_shift(found.hosts[host], extent.begin, extent.end);
        clocks.aligned &= !fitted.shift.values.empty();
        clocks.error_s = std::max(clocks.error_s, seconds(fitted.error));
        clocks.largest_drift = std::max(clocks.largest_drift, std::abs(fitted.drift));
        for (const double value : fitted.shift.values)
            clocks.largest_shift_s = std::max(clocks.largest_shift_s, std::abs(value) * 1e-9);
        shifts[host] = std::move(fitted.shift);
    }
    for (Rank& rank : job.ranks)
        rank.clock.shift = &shifts[rank.host];
    return clocks;
}

} // namespace plumb::replay
