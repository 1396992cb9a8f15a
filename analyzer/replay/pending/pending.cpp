#include "replay/pending/pending.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sys/wait.h>

namespace plumb::replay {

namespace {

using model::MpiAwaited;
using model::MpiPendingRank;
using State = MpiPendingRank::State;

constexpr uint32_t kNone = UINT32_MAX;
constexpr size_t kMostComms = 64, kMostGroups = 256, kMostAwaited = 64; // looked at: files are untrusted, and jobs large
constexpr double kStuck_s = 1; // a wait that is not proven, but so long that it is reported
constexpr uint32_t kReturnsAtOnce = trace::kMpiNonblocking | trace::kMpiPersistent | trace::kMpiPoll;

bool tags_match(int one, int other) { return one < 0 || other < 0 || one == other; }

class Pending {
  public:
    Pending(const model::Run& run, const Job& job) : run_(run), job_(job), place_of_row_(job.ranks.size(), kNone) {}

    model::MpiPending find() {
        bool any_open = false;
        for (uint32_t row = 0; row < job_.ranks.size(); ++row) {
            if (has_ended_mpi(row)) {
                result_.finished++;
                continue;
            }
            place_of_row_[row] = static_cast<uint32_t>(result_.ranks.size());
            rows_.push_back(row);
            result_.ranks.push_back(rank_at(row));
            if (mpi_of(row).aborted)
                result_.aborting.push_back(place_of_row_[row]);
            any_open |= mpi_of(row).shows_calls &&
                        (result_.ranks.back().state != State::ended || result_.ranks.back().aborted);
        }
        if (!any_open)
            return {};
        for (uint32_t place = 0; place < rows_.size(); ++place)
            find_awaited(place);
        for (uint32_t place = 0; place < rows_.size(); ++place)
            for (MpiAwaited& awaited : result_.ranks[place].awaits)
                awaited.proven = awaited.sends ? is_not_received(place, awaited) : is_not_sent(place, awaited);
        find_ring();
        find_incomplete();
        return std::move(result_);
    }

  private:
    const model::Process& process_of(uint32_t row) const { return run_.processes[job_.ranks[row].process]; }
    const model::MpiProcess& mpi_of(uint32_t row) const { return *process_of(row).mpi; }

    // Of a record that does not show calls nothing more is known than that MPI_Finalize began.
    bool has_ended_mpi(uint32_t row) const {
        const model::MpiProcess& mpi = mpi_of(row);
        return mpi.finalize_end_ns != 0 || (mpi.finalize_begin_ns != 0 && !mpi.shows_calls);
    }

    // The one that a rank has been in for the longest, were there several threads; null: none. The thread that ended the
    // process had left its call, unless that was MPI_Abort; the others had not: where the launcher is gone, a thread of the
    // library's own ends a rank whose threads all wait.
    const model::MpiInside* call_of(uint32_t row) const {
        const model::MpiInside* longest = nullptr;
        for (const model::MpiInside& inside : mpi_of(row).inside)
            if ((!longest || inside.begin_ns < longest->begin_ns) && (mpi_of(row).aborted || !has_left(process_of(row), inside)))
                longest = &inside;
        return longest;
    }
    static bool has_left(const model::Process& process, const model::MpiInside& inside) {
        const bool knows_who = process.ending_tid != 0 && inside.thread < process.threads.size();
        return process.shim_closed && (!knows_who || process.threads[inside.thread].tid == process.ending_tid);
    }

    double seconds_since(uint32_t row, uint64_t begin_ns) const {
        const uint64_t until = process_of(row).end_ns >= begin_ns ? process_of(row).end_ns : run_.end_ns;
        return begin_ns != 0 && until >= begin_ns ? static_cast<double>(until - begin_ns) * 1e-9 : -1;
    }

    MpiPendingRank rank_at(uint32_t row) const {
        const model::Process& process = process_of(row);
        MpiPendingRank rank;
        rank.rank = job_.ranks[row].rank;
        rank.process = job_.ranks[row].process;
        rank.aborted = process.mpi->aborted;
        add_end(process, rank);
        if (const model::MpiInside* const call = call_of(row)) {
            rank.state = State::inside;
            rank.call = call->call;
            rank.kind = call->kind;
            rank.has_path = true;
            rank.path = call->path;
            rank.for_s = seconds_since(row, call->begin_ns);
            rank.requests = call->kind & trace::kMpiWait ? call->requests : 0;
            return rank;
        }
        rank.state = process.shim_closed && !is_ended_by_helper(process) ? State::ended : State::outside;
        const auto& sites = process.mpi->sites;
        if (const auto last = std::ranges::max_element(sites, {}, &model::MpiSite::last_ns); last != sites.end()) {
            rank.call = last->call;
            rank.kind = last->kind;
            rank.for_s = seconds_since(row, last->last_ns);
            find_computing(process, last->last_ns, rank);
        }
        return rank;
    }

    // By a thread that is not the first one, and never called MPI: the program had not come to its end.
    static bool is_ended_by_helper(const model::Process& process) {
        return process.ending_tid != 0 && process.ending_tid != process.pid &&
               std::ranges::none_of(process.mpi->sites, [&](const model::MpiSite& site) {
                   return site.thread < process.threads.size() && process.threads[site.thread].tid == process.ending_tid;
               });
    }

    void add_end(const model::Process& process, MpiPendingRank& rank) const {
        rank.end_s = process.end_ns > run_.begin_ns ? static_cast<double>(process.end_ns - run_.begin_ns) * 1e-9 : 0;
        rank.end_seen = process.end_seen;
        if (process.wait_status && WIFSIGNALED(*process.wait_status))
            rank.signal = WTERMSIG(*process.wait_status);
        else if (process.wait_status && WIFEXITED(*process.wait_status))
            rank.exit_status = WEXITSTATUS(*process.wait_status);
    }

    // Where its time samples saw it last, if that was after its last call.
    static void find_computing(const model::Process& process, uint64_t since_ns, MpiPendingRank& rank) {
        const auto latest = std::ranges::max_element(process.samples, {}, &model::SampleSite::last_ns);
        if (latest == process.samples.end() || latest->last_ns < since_ns)
            return;
        rank.has_path = true;
        rank.path = latest->path;
    }

    const Membership* membership(uint32_t row, uint32_t comm_id) const {
        const auto& comms = job_.ranks[row].comms;
        const auto found = std::ranges::lower_bound(comms, comm_id, {}, &Membership::id);
        return comm_id != 0 && found != comms.end() && found->id == comm_id ? &*found : nullptr;
    }

    // World rank of a member of a communicator; -1: not known.
    int world_rank(uint32_t row, uint32_t comm_id, int member) {
        const Membership* const known = membership(row, comm_id);
        if (!known || member < 0 || job_.comms[known->comm].inter)
            return -1;
        if (job_.comms[known->comm].world)
            return member;
        if (!members_.contains(known->comm) && members_.size() >= kMostComms)
            return -1;
        const auto [members, is_new] = members_.try_emplace(known->comm);
        if (is_new)
            for (const Rank& rank : job_.ranks)
                for (const Membership& other : rank.comms)
                    if (other.comm == known->comm)
                        members->second.try_emplace(other.member, rank.rank);
        const auto found = members->second.find(member);
        return found == members->second.end() ? -1 : found->second;
    }

    // Members that wait in a collective are known by its communicator and its number there.
    void take_part(MpiPendingRank& rank, uint32_t row, uint32_t comm_id, std::optional<uint64_t> sequence) const {
        const Membership* const known = membership(row, comm_id);
        if (!known)
            return;
        rank.comm = known->comm;
        rank.sequence = sequence ? *sequence : collectives_of(row, known->id);
    }
    // Begun and recorded so far: what it is inside of comes next.
    uint64_t collectives_of(uint32_t row, uint32_t comm_id) const {
        uint64_t calls = 0;
        for (const model::MpiSite& site : mpi_of(row).sites)
            if (site.comm == comm_id && site.kind & trace::kMpiCollectiveCall)
                calls += site.calls - std::min(site.calls, site.failed);
        return calls;
    }

    void find_awaited(uint32_t place) {
        const uint32_t row = rows_[place];
        MpiPendingRank& rank = result_.ranks[place];
        const model::MpiInside* const call = rank.state == State::inside ? call_of(row) : nullptr;
        if (call && call->comm != 0 && !(call->kind & kReturnsAtOnce)) {
            const bool receives = call->kind & (trace::kMpiReceive | trace::kMpiProbe), sends = call->kind & trace::kMpiSend;
            const auto add = [&](int member, int tag, bool is_sent) {
                rank.awaits.push_back({.rank = world_rank(row, call->comm, member), .tag = tag, .sends = is_sent,
                                       .alone = receives != sends});
            };
            if (receives)
                add(call->source, call->source_tag, false);
            if (sends)
                add(call->target, call->target_tag, true);
            if (call->kind & (trace::kMpiCollectiveCall | trace::kMpiSetUp) && !rank.aborted)
                take_part(rank, row, call->comm, std::nullopt);
        }
        if (call ? call->kind & trace::kMpiWait : rank.state == State::outside && rank.kind & trace::kMpiPoll)
            add_requests(place, call);
    }

    // A call that was given one request waits for that; else for any that the thread began.
    void add_requests(uint32_t place, const model::MpiInside* call) {
        const uint32_t row = rows_[place];
        MpiPendingRank& rank = result_.ranks[place];
        const model::MpiProcess& mpi = mpi_of(row);
        std::vector<const model::MpiRequest*> requests;
        for (const model::MpiRequest& request : mpi.requests)
            if (!call || (call->requests == 1 ? request.handle == call->request
                                              : request.tid == process_of(row).threads[call->thread].tid))
                requests.push_back(&request);
        if (call && call->requests == 1 && requests.size() > 1)
            requests.resize(1); // a handle that several share is that of operations that are complete
        for (const model::MpiRequest* const request : requests)
            if (request->collective)
                take_part(rank, row, request->comm, request->sequence);
            else if (rank.awaits.size() < kMostAwaited)
                rank.awaits.push_back({.rank = world_rank(row, request->comm, request->peer), .tag = request->tag,
                                       .sends = request->sent, .alone = call && requests.size() == 1});
    }

    // The pending rank of that number; kNone: it is not recorded, or ended MPI.
    uint32_t place_of(int rank) const {
        const Rank* const found = rank < 0 ? nullptr : job_.find(rank);
        return found ? place_of_row_[job_.row_of(*found)] : kNone;
    }

    // No message for this receive can be on its way.
    bool is_not_sent(uint32_t place, const MpiAwaited& awaited) {
        const Rank* const sender = awaited.rank < 0 ? nullptr : job_.find(awaited.rank);
        if (!sender)
            return false;
        const uint32_t sender_row = job_.row_of(*sender);
        const int own = result_.ranks[place].rank;
        using Direction = model::MpiPeer::Direction;
        if (messages_between(mpi_of(sender_row), own, Direction::sent) >
            messages_between(mpi_of(rows_[place]), awaited.rank, Direction::received))
            return false;
        for (const model::MpiRequest& request : mpi_of(sender_row).requests)
            if (request.sent && world_rank(sender_row, request.comm, request.peer) == own && tags_match(awaited.tag, request.tag))
                return false;
        const uint32_t other = place_of_row_[sender_row];
        return other == kNone || std::ranges::none_of(result_.ranks[other].awaits, [&](const MpiAwaited& its) {
                   return its.sends && its.rank == own && tags_match(awaited.tag, its.tag);
               });
    }

    // Whom it sends to is in a call, and no receive of its is under way that would take the message.
    bool is_not_received(uint32_t place, const MpiAwaited& awaited) {
        const uint32_t other = place_of(awaited.rank);
        if (other == kNone || result_.ranks[other].state != State::inside)
            return false;
        const int own = result_.ranks[place].rank;
        const auto takes = [&](bool sends, int from, int tag) {
            return !sends && (from < 0 || from == own) && tags_match(tag, awaited.tag);
        };
        for (const MpiAwaited& its : result_.ranks[other].awaits)
            if (takes(its.sends, its.rank, its.tag))
                return false;
        for (const model::MpiRequest& request : mpi_of(rows_[other]).requests)
            if (!request.collective &&
                takes(request.sent, world_rank(rows_[other], request.comm, request.peer), request.tag))
                return false;
        return true;
    }

    // Each rank once, along one of its waits.
    template <class Follows> bool find_ring(const Follows& follows) {
        std::vector<uint8_t> seen(rows_.size()); // 1: on the way from where the search began, 2: leads to no ring
        for (uint32_t first = 0; first < rows_.size(); ++first) {
            struct Step {
                uint32_t place;
                size_t next;
            };
            std::vector<Step> way;
            if (!seen[first]) {
                way.push_back({first, 0});
                seen[first] = 1;
            }
            while (!way.empty()) {
                Step& step = way.back();
                const auto& awaits = result_.ranks[step.place].awaits;
                if (step.next == awaits.size()) {
                    seen[step.place] = 2;
                    way.pop_back();
                    continue;
                }
                const uint32_t from = step.place;
                const MpiAwaited& awaited = awaits[step.next++];
                const uint32_t to = place_of(awaited.rank);
                if (to == kNone || seen[to] == 2 || !follows(result_.ranks[from], awaited))
                    continue;
                if (seen[to] == 1) {
                    const auto begin = std::ranges::find(way, to, &Step::place);
                    for (auto at = begin; at != way.end(); ++at)
                        result_.ring.push_back(at->place);
                    return true;
                }
                seen[to] = 1;
                way.push_back({to, 0});
            }
        }
        return false;
    }

    void find_ring() {
        result_.ring_proven = find_ring([](const MpiPendingRank&, const MpiAwaited& it) { return it.proven && it.alone; });
        if (!result_.ring_proven)
            find_ring([](const MpiPendingRank& rank, const MpiAwaited& it) { return it.proven && rank.for_s >= kStuck_s; });
        const auto lowest = std::ranges::min_element(result_.ring);
        std::rotate(result_.ring.begin(), lowest, result_.ring.end()); // begins at its lowest rank
    }

    void find_incomplete() {
        std::map<std::pair<uint32_t, uint64_t>, model::MpiIncomplete> groups;
        for (uint32_t place = 0; place < rows_.size(); ++place) {
            const MpiPendingRank& rank = result_.ranks[place];
            const bool finalizes = rank.state == State::inside && rank.call == "MPI_Finalize";
            if ((rank.comm == kNone && !finalizes) || rank.kind & trace::kMpiNeighbour)
                continue;
            model::MpiIncomplete& group = groups[{finalizes ? kNone : rank.comm, finalizes ? 0 : rank.sequence}];
            group.comm = finalizes ? kNone : rank.comm;
            group.calls_differ |= !group.call.empty() && group.call != rank.call && !(rank.kind & trace::kMpiWait);
            if (group.call.empty())
                group.call = rank.call;
            group.inside.push_back(place);
        }
        size_t looked_at = 0;
        for (auto& [key, group] : groups) {
            if (++looked_at > kMostGroups)
                break;
            find_missing(key.second, group);
            const bool misses_others = std::ranges::any_of(group.missing, [&](uint32_t place) { return !result_.ranks[place].aborted; });
            if (misses_others || group.not_recorded > 0 || group.calls_differ)
                result_.collectives.push_back(std::move(group));
        }
    }

    // Members that have not come to it yet. Where data flow from the root, it is the root that the others wait for.
    void find_missing(uint64_t sequence, model::MpiIncomplete& group) {
        const auto is_inside = [&](uint32_t place) { return std::ranges::binary_search(group.inside, place); };
        for (uint32_t place = 0; place < rows_.size(); ++place) {
            if (is_inside(place))
                continue;
            if (group.comm == kNone) {
                group.missing.push_back(place);
                continue;
            }
            for (const Membership& membership : job_.ranks[rows_[place]].comms)
                if (membership.comm == group.comm && collectives_of(rows_[place], membership.id) <= sequence)
                    group.missing.push_back(place);
        }
        if (group.comm == kNone)
            return;
        const Communicator& comm = job_.comms[group.comm];
        group.not_recorded = comm.inter || comm.size < comm.recorded ? 0 : comm.size - comm.recorded;
        const uint32_t first = group.inside.front();
        const model::MpiInside* const call = call_of(rows_[first]);
        if (!call || !(call->kind & trace::kMpiFromRoot))
            return;
        const uint32_t root = place_of(world_rank(rows_[first], call->comm, call->target));
        if (root != kNone && std::ranges::find(group.missing, root) != group.missing.end())
            group.missing = {root};
    }

    const model::Run& run_;
    const Job& job_;
    std::vector<uint32_t> place_of_row_, rows_; // of MpiPending::ranks
    std::map<uint32_t, std::map<int, int>> members_; // of communicators: world ranks by ranks
    model::MpiPending result_;
};

} // namespace

uint64_t messages_between(const model::MpiProcess& mpi, int peer, model::MpiPeer::Direction direction) {
    uint64_t messages = 0;
    for (const model::MpiPeer& row : mpi.peers)
        if (row.peer == peer && row.direction == direction)
            messages += row.messages;
    return messages;
}

model::MpiPending find_pending(const model::Run& run, const Job& job, const OpenTrace& open) {
    model::MpiPending pending = Pending(run, job).find();
    find_stray_messages(run, job, open, pending);
    find_first_end(run, job, pending);
    return pending;
}

} // namespace plumb::replay
