#include "record/mpi/calls/operations.h"
#include "record/mpi/calls/thread_calls.h"
#include "record/mpi/tables/counters.h"

namespace plumb::shim::mpi {
namespace {

constexpr uint32_t kOwnCostEvery = 64; // calls to one whose recording is timed itself
constexpr uint64_t kOwnCostMost = 1 << 15; // ticks: what is longer was an interruption

} // namespace

void Call::begin() {
    const Function& function = function_;
    const Frame& caller = caller_;
    Rank* const rank = rank_of_process;
    if (!rank)
        return;
    ThreadState* const state = this_thread;
    ThreadCalls* thread = state ? state->data<ThreadCalls>(ThreadSlot::mpi) : nullptr;
    if (__builtin_expect(!thread || thread->tid() != state->tid || !state->live.load(std::memory_order_relaxed), 0))
        thread = thread_calls();
    if (!thread || !thread->enter(caller, function))
        return;
    thread_ = thread;
    keeps_ = !rank->silent.load(std::memory_order_relaxed);
    if (!(function.kind & trace::kMpiPoll))
        inside_ = thread->show(rank->sites, function, caller);
    if (!keeps_)
        return;
    stands_for_ = 1;
    if (function.kind & trace::kMpiPoll) {
        if (thread->times_this_poll())
            stands_for_ = ThreadCalls::kPollsPerTimed;
        else if (thread->waiting.has_begun()) // the first poll of a row tells when waiting began
            stands_for_ = 0;
    }
    if (stands_for_)
        begin_ticks_ = ticks();
}

uint64_t Call::end_ticks() {
    if (!end_ticks_)
        end_ticks_ = ticks();
    return end_ticks_;
}

void Call::end() {
    if (returned_ && keeps_ && !counted_) {
        const Guard guard;
        if (guard)
            count(guard);
    }
    thread_->leave();
}

void Call::found_nothing() {
    found_nothing_ = true;
    if (!keeps_ || begin_ticks_ || !counts_again())
        return;
    thread_->leave();
    thread_ = nullptr;
}

// What a program does all the time that waits by polling: an untimed poll that found nothing, again from the same path. False:
// it is not that. Needs no guard: nothing here is used by others than the thread's calls of MPI.
bool Call::counts_again() {
    const uint32_t comm = thread_->known_comm_id(*rank_of_process, about_);
    Site* const site = comm != UINT32_MAX ? thread_->sites.find_again(function_, caller_, comm) : nullptr;
    if (!site)
        return false;
    add_to(site->record->calls, 1);
    add_to(site->record->found_nothing, 1);
    ++thread_->calls;
    thread_->waiting.goes_on(0, site->id);
    thread_->call_ended(0);
    return true;
}

// Saves the destructor a guard. Not where the timeline wants all that the call has to say.
void Call::count_at_once(const Guard& guard, const Rank& rank) {
    if (!keeps_ || counted_ || __builtin_expect(rank.timeline.is_kept(), 0))
        return;
    counted_ = true;
    count(guard);
}

void Call::count(const Guard& guard) {
    trace::MpiSite& site = *find_site(guard, about_ ? thread_->comm(guard, *rank_of_process, about_) : nullptr)->record;
    add_to(site.calls, 1);
    if (found_nothing_)
        add_to(site.found_nothing, 1);
    if (failed_)
        add_to(site.failed, 1);
    const bool polls = function_.kind & trace::kMpiPoll;
    ++thread_->calls;
    if (Rank& rank = *rank_of_process; __builtin_expect(rank.timeline.is_kept(), 0))
        keep(guard, rank);
    const bool waits_on = found_nothing_ || function_.kind & trace::kMpiProbe;
    const uint64_t between = !waits_on && thread_->waiting.has_begun() ? end_waiting(*rank_of_process) : 0;
    if (!begin_ticks_) { // a poll that was not timed
        if (waits_on)
            thread_->waiting.goes_on(0, site_->id);
        thread_->call_ended(between);
        return;
    }
    const uint64_t elapsed = end_ticks_ > begin_ticks_ ? end_ticks_ - begin_ticks_ : 0;
    const uint64_t stands_for_ticks = elapsed * stands_for_;
    if (waits_on) {
        thread_->waiting.begins(begin_ticks_);
        thread_->waiting.goes_on(stands_for_ticks, site_->id);
    }
    add_to(site.timed_calls, 1);
    site_->timed_ticks += elapsed;
    uint64_t inside_ticks = site_->timed_ticks;
    if (polls) // as many as there were for each one that was timed
        inside_ticks = scaled(inside_ticks, site.calls, site.timed_calls);
    set(site.ticks, inside_ticks + site_->between_ticks);
    if (elapsed > site.longest_ticks)
        set(site.longest_ticks, elapsed);
    set(site.last_ticks, end_ticks_);
    thread_->call_ended(stands_for_ticks + between);
    Rank& rank = *rank_of_process;
    if (__builtin_expect(thread_->calls >= kOwnCostEvery || rank.is_stale(end_ticks_), 0)) {
        const uint64_t own = ticks() - end_ticks_ + clock_read_ticks;
        thread_->own_ticks += (own < kOwnCostMost ? own : kOwnCostMost) * thread_->calls;
        rank.tell(*thread_, end_ticks_);
    }
}

uint64_t Call::end_waiting(Rank& rank) {
    const uint64_t now = begin_ticks_ ? begin_ticks_ : end_ticks_; // neither: it completed nothing that was known
    const uint64_t between = now ? thread_->waiting.between(now) : 0;
    if (Site* const site = rank.sites.at(thread_->waiting.site()); site && between) {
        site->between_ticks += between;
        add_to(site->record->ticks, between);
    }
    thread_->waiting.is_over();
    return between;
}

// A poll that was not timed took no time that anybody could see.
void Call::keep(const Guard& guard, Rank& rank) {
    if (found_nothing_ || !site_->id)
        return;
    trace::MpiEvent event{};
    event.end_ticks = end_ticks();
    event.begin_ticks = begin_ticks_ ? begin_ticks_ : event.end_ticks;
    event.site = site_->id;
    event.peer = noted_peer_;
    event.bytes = noted_bytes_;
    rank.timeline.store(guard, event);
}

void Call::note(const Rank& rank, const Comm* comm, const Message& message, const Arrival* arrival) {
    const int32_t peer = arrival ? arrival->source : message.peer;
    note(rank, comm, peer, peer == rank.library->no_process ? 0 : arrival ? arrival->bytes : message.bytes);
}

void Call::note(const Rank& rank, const Comm* comm, int32_t peer, uint64_t bytes) {
    if (__builtin_expect(!rank.timeline.is_kept(), 1))
        return;
    noted_peer_ = comm && peer >= 0 ? comm->world_rank_of(peer) : -1;
    noted_bytes_ = bytes;
}

Site* Call::look_up_site(const Guard& guard, const Comm* comm) {
    site_ = thread_->sites.find(guard, rank_of_process->sites, function_, caller_, comm ? comm->id : 0, begin_ticks_);
    return site_;
}

void Call::start(const Guard& guard, Operation& operation) {
    operation.kept = keeps_;
    operation.begin_ticks = begin_ticks_;
    operation.begun_ticks = end_ticks_;
    if (operation.kind == Operation::Kind::collective) {
        const ThreadCalls::Gap gap = thread_->gap_before(begin_ticks_);
        operation.gap_ticks = gap.ticks;
        operation.gap_mpi_ticks = gap.mpi_ticks;
    }
    begin_operation(guard, *rank_of_process, operation, keeps_ ? site_ : nullptr);
}

void Call::message(const Message& message, const Arrival* arrival) {
    const Guard guard;
    if (!guard)
        return;
    Rank& rank = *rank_of_process;
    const Comm* const comm = thread_->comm(guard, rank, message.comm);
    Site* const site = keeps_ ? find_site(guard, comm) : nullptr;
    {
        const Locked locked(rank.lock);
        if (!locked)
            return;
        note(rank, comm, message, arrival);
        CallTimes times{begin_ticks_, end_ticks_, 0, 0, 0};
        if (const uint64_t since = arrival && keeps_ ? thread_->waiting.since(begin_ticks_) : 0; __builtin_expect(since != 0, 0)) {
            times.begin_ticks = since;
            times.wait_site = thread_->waiting.site();
        }
        record_message(guard, rank, comm, message, arrival, site, times);
    }
    count_at_once(guard, rank);
}

void Call::collective(const Collective& collective) {
    const Guard guard;
    if (!guard)
        return;
    Rank& rank = *rank_of_process;
    collective_on(guard, rank, thread_->comm(guard, rank, collective.comm), collective, false);
}

void Call::takes_apart(Handle key) {
    if (!thread_)
        return;
    const Guard guard;
    thread_->remember_last(guard ? thread_->comm(guard, *rank_of_process, key) : nullptr);
}

// By now the library may have given the handle to another one, made by another thread.
void Call::took_apart() {
    const Guard guard;
    if (!guard)
        return;
    Rank& rank = *rank_of_process;
    if (Comm* const comm = thread_->last_remembered(rank))
        collective_on(guard, rank, comm, {comm->handle, -1, 0, 0}, true);
}

void Call::collective_on(const Guard& guard, Rank& rank, Comm* comm, const Collective& collective, bool is_last) {
    Site* const site = keeps_ ? find_site(guard, comm) : nullptr;
    const ThreadCalls::Gap gap = thread_->gap_before(begin_ticks_);
    {
        const Locked locked(rank.lock);
        if (!locked)
            return;
        note(rank, comm, collective.root, collective.sent_bytes);
        record_collective(guard, rank, comm, collective, site, {begin_ticks_, end_ticks_, gap.ticks, gap.mpi_ticks, 0});
        if (is_last)
            rank.comms.remove(collective.comm);
    }
    thread_->collective_ended(end_ticks_);
    count_at_once(guard, rank);
}

void Call::one_sided(Handle window_key, int32_t target, uint64_t bytes, trace::MpiDirection direction) {
    const Guard guard;
    if (!guard || !keeps_)
        return;
    Rank& rank = *rank_of_process;
    const Comm* const comm = thread_->comm(guard, rank, window_key);
    trace::MpiSite& site = *find_site(guard, comm)->record;
    if (target == rank.library->no_process)
        return;
    const Locked locked(rank.lock);
    if (!locked)
        return;
    note(rank, comm, target, bytes);
    add_to(direction == trace::MpiDirection::put ? site.sent_bytes : site.received_bytes, bytes);
    add_to(site.size_histogram[size_class(bytes)], 1);
    rank.peers.count(guard, comm ? comm->world_rank_of(target) : -1, direction, bytes);
}

void Call::file(uint64_t read_bytes, uint64_t written_bytes) {
    const Guard guard;
    if (!guard || !keeps_)
        return;
    trace::MpiSite& site = *find_site(guard, nullptr)->record;
    note(*rank_of_process, nullptr, -1, read_bytes + written_bytes);
    add_to(site.sent_bytes, written_bytes);
    add_to(site.received_bytes, read_bytes);
    add_to(site.size_histogram[size_class(written_bytes + read_bytes)], 1);
}

} // namespace plumb::shim::mpi
