#include "replay/cycle_parts.h"

#include "replay/events/rank_time.h"
#include "replay/messages/window_waits.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace plumb::replay {

namespace {

constexpr double kAsMuch = 0.9; // of the longest time that cycles of one site cover

bool all_wait_in(const Epoch& epoch) {
    return epoch.complete && (epoch.kind & trace::kMpiSynchronising) != 0 && !epoch.is_neighbour();
}

using SiteKey = std::tuple<uint32_t, uint32_t, uint32_t>; // communicator, row, site
SiteKey site_key(const Epoch& epoch) { return {epoch.comm, epoch.site_row, epoch.site}; }

// Of the call sites whose cycles cover most of the time, or about as much, the one with most cycles: a collective of a few
// steps may come at the begin and at the end as well. Sites are distinguished by the lowest rank's.
std::optional<SiteKey> main_site(const EpochTable& epochs) {
    struct Site {
        Nanoseconds sum = 0, last = 0; // of cycles; the last moment
        uint64_t cycles = 0;
    };
    std::map<SiteKey, Site> sites;
    Nanoseconds longest = 0;
    for (const Epoch& epoch : epochs.epochs()) { // by communicator, then sequence: in order of time within each
        if (!all_wait_in(epoch))
            continue;
        const auto [found, is_new] = sites.try_emplace(site_key(epoch));
        Site& site = found->second;
        if (!is_new && epoch.last.begin > site.last) {
            accumulate(site.sum, epoch.last.begin - site.last);
            site.cycles++;
        }
        site.last = epoch.last.begin;
        longest = std::max(longest, site.sum);
    }
    std::optional<SiteKey> main;
    uint64_t most = 0;
    for (const auto& [key, site] : sites)
        if (site.cycles > most && seconds(site.sum) >= kAsMuch * seconds(longest)) {
            most = site.cycles;
            main = key;
        }
    return main;
}

} // namespace

CycleShape CycleShape::of(const Job& job, const EpochTable& epochs) {
    CycleShape shape;
    const std::optional<SiteKey> main = epochs.stride() > 1 ? std::nullopt : main_site(epochs); // else those between are not known
    if (!main)
        return shape;
    const std::vector<Epoch>& all = epochs.epochs();
    shape.is_meeting.resize(all.size());
    for (uint32_t at = 0; at < all.size(); ++at) {
        const Epoch& epoch = all[at];
        if (!all_wait_in(epoch) || (epoch.comm != std::get<0>(*main) && epoch.arrivals < job.ranks.size()))
            continue;
        const bool is_end = site_key(epoch) == *main;
        if (is_end && !shape.ends.empty() && epoch.last.begin <= all[shape.ends.back()].last.begin)
            continue; // clocks that disagree
        if (is_end)
            shape.ends.push_back(at);
        shape.meetings.push_back(at);
        shape.is_meeting[at] = true;
    }
    std::ranges::stable_sort(shape.meetings, {}, [&](uint32_t at) { return all[at].last.begin; });
    return shape;
}

void MeetingReader::take(const Epoch& epoch, const Collective& event) {
    const auto at = static_cast<size_t>(&epoch - input_.epochs.epochs().data());
    if (input_.shape.ends.empty())
        return;
    accumulate(compute_, event.compute());
    const Nanoseconds own = event.compute();
    accumulate(usual_, std::clamp(epoch.others_compute.of(own), Nanoseconds{0}, std::max(Nanoseconds{0}, own)));
    accumulate(waiting_, waits_before(input_.messages, row_, event).sum);
    accumulate(in_mpi_, event.gap_mpi);
    if (!input_.shape.is_meeting[at]) {
        accumulate(in_mpi_, event.end - event.begin);
        return;
    }
    const uint32_t responsible = input_.responsible[at] < input_.job.ranks.size() ? input_.responsible[at] : epoch.last.row;
    if (responsible == row_) {
        if (!off_cpu_) {
            const model::Process& process = input_.run.processes[input_.job.ranks[row_].process];
            off_cpu_.emplace(input_.run, process, main_mpi_thread(process));
        }
        const Nanoseconds left = has_left_ ? left_ : event.begin - event.gap;
        MeetingParts parts{.epoch = at, .compute = std::max(Nanoseconds{0}, compute_), .usual = usual_};
        parts.without_cpu = std::clamp(off_cpu_->delayed(left, event.begin), Nanoseconds{0}, parts.compute);
        // Asleep outside MPI for certain: more than all the time in its calls, the meeting before among them, because looks do
        // not end where it does.
        const Nanoseconds asleep = off_cpu_->asleep(has_left_ ? entered_ : left, event.begin);
        const Nanoseconds in_mpi = std::clamp(in_mpi_, -kMost, kMost) + (has_left_ ? left_ - entered_ : 0);
        parts.blocked = std::clamp(asleep - in_mpi, Nanoseconds{0}, parts.compute - parts.without_cpu);
        if (has_left_ && left_ > std::max(entered_, complete_))
            parts.without_cpu_in_mpi = std::max(Nanoseconds{0}, off_cpu_->delayed(std::max(entered_, complete_), left_));
        parts.waiting = std::max(Nanoseconds{0}, waiting_);
        found_.push_back(parts);
    }
    compute_ = usual_ = waiting_ = in_mpi_ = 0;
    entered_ = event.begin;
    complete_ = epoch.last.begin;
    left_ = event.end;
    has_left_ = true;
}

} // namespace plumb::replay
