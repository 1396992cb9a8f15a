// The part of Call that follows requests from the call that begins an operation to the one that completes it.
#include "record/mpi/calls/operations.h"
#include "record/mpi/calls/thread_calls.h"
#include "record/mpi/tables/counters.h"

#include <string.h>

namespace plumb::shim::mpi {
namespace {

// MPI_Isendrecv: MPICH 4.0 leaves the status of its request as it was. The receive is taken to have filled its room then.
constexpr uint32_t kBothWays = trace::kMpiSend | trace::kMpiReceive;

bool is_silent(const Library& library, const Function& function, const Message&) {
    return library.kind == trace::MpiLibrary::mpich && (function.kind & kBothWays) == kBothWays;
}

bool is_silent(const Library&, const Function&, const Collective&) { return false; }

// A place for an operation under its request's handle. What need not be remembered (null requests) or finds no room, which
// is counted, has a place for this call only.
class NewOperation {
  public:
    NewOperation(Rank& rank, Handle request) {
        if (request == rank.library->null_request)
            return;
        remembered_ = rank.requests.add(request);
        if (!remembered_)
            count_unmatched(rank);
    }
    NewOperation(const NewOperation&) = delete;
    NewOperation& operator=(const NewOperation&) = delete;

    Operation* place() { return remembered_ ? remembered_ : &lost_; }
    bool is_remembered() const { return remembered_ != nullptr; }

  private:
    Operation* remembered_ = nullptr;
    Operation lost_; // not initialised: it is described like any other
};

// Runs `body` under the lock of the rank's tables, if this thread may record and gets it.
template <class Body> void with_tables(Body body) {
    const Guard guard;
    if (!guard)
        return;
    Rank& rank = *rank_of_process;
    if (const Locked locked(rank.lock); locked)
        body(guard, rank);
}

} // namespace

void Call::note_begun(const Rank& rank, const Comm* comm, const Message& message) { note(rank, comm, message, nullptr); }

void Call::note_begun(const Rank& rank, const Comm* comm, const Collective& collective) {
    note(rank, comm, collective.root, collective.sent_bytes);
}

template <class What> void Call::begins_request(Handle request, const What& what, bool persistent) {
    const Guard guard;
    if (!guard)
        return;
    Rank& rank = *rank_of_process;
    const Comm* const comm = thread_->comm(guard, rank, what.comm);
    if (keeps_)
        find_site(guard, comm);
    const Locked locked(rank.lock);
    if (!locked)
        return;
    if (!persistent)
        note_begun(rank, comm, what);
    NewOperation operation(rank, request);
    describe(rank, what, comm, operation.place());
    if (persistent) {
        operation.place()->persistent = true;
        operation.place()->active = false;
        return;
    }
    operation.place()->silent = is_silent(*rank.library, function_, what);
    start(guard, *operation.place());
    if (operation.is_remembered())
        rank.requests.show(guard, *operation.place(), request);
}

void Call::started(Handle request, const Message& message) { begins_request(request, message, false); }
void Call::started(Handle request, const Collective& collective) { begins_request(request, collective, false); }
void Call::made_persistent(Handle request, const Message& message) { begins_request(request, message, true); }
void Call::made_persistent(Handle request, const Collective& collective) { begins_request(request, collective, true); }

void Call::made_other(Handle request) {
    with_tables([&](const Guard&, Rank& rank) {
        NewOperation operation(rank, request);
        describe_other(operation.place());
    });
}

void Call::restarted(Handle request) {
    const Guard guard;
    if (!guard)
        return;
    Rank& rank = *rank_of_process;
    if (keeps_)
        find_site(guard, nullptr); // its requests may belong to several communicators
    const Locked locked(rank.lock);
    if (!locked)
        return;
    Operation* const operation = rank.requests.find(request);
    if (!operation || !operation->persistent) {
        count_unmatched(rank);
        return;
    }
    operation->active = true;
    start(guard, *operation);
    rank.requests.show(guard, *operation, request);
}

void Call::freed(Handle request) {
    with_tables([&](const Guard& guard, Rank& rank) {
        Operation* const operation = rank.requests.find(request);
        if (!operation)
            return;
        // What nobody will see complete ends, as far as can be known, with the call that began it.
        if (operation->active)
            end_operation(guard, rank, *operation,
                          {operation->begin_ticks, operation->begun_ticks, operation->site, nullptr});
        rank.requests.hide(*operation);
        rank.requests.remove(request);
    });
}

void Call::will_complete(const void* requests, size_t count, bool fortran) {
    if (!thread_ || !requests || count == 0)
        return;
    Handle* const handles = count == 1 ? &request_ : thread_->room_for(count); // the thread's own memory: no guard is needed
    if (!handles)
        return;
    const Library& library = *rank_of_process->library;
    if (fortran) {
        const int32_t* const integers = static_cast<const int32_t*>(requests);
        for (size_t i = 0; i < count; ++i)
            handles[i] = from_fortran(HandleKind::request, integers[i]);
    } else if (library.handle_bytes == 8) {
        memcpy(handles, requests, count * sizeof(Handle));
    } else {
        const uint32_t* const integers = static_cast<const uint32_t*>(requests);
        for (size_t i = 0; i < count; ++i)
            handles[i] = integers[i];
    }
    requests_ = handles;
    request_count_ = count;
    if (inside_)
        show_requests();
}

void Call::show_requests() const {
    const uint32_t count = request_count_ < UINT32_MAX ? static_cast<uint32_t>(request_count_) : UINT32_MAX;
    __atomic_store_n(&inside_->requests, count, __ATOMIC_RELAXED);
    __atomic_store_n(&inside_->request, requests_[0], __ATOMIC_RELAXED);
}

bool Call::wants_statuses() const {
    if (!thread_ || request_count_ == 0)
        return false;
    const Guard guard;
    if (!guard)
        return false;
    Rank& rank = *rank_of_process;
    const Locked locked(rank.lock);
    for (size_t i = 0; locked && i < request_count_; ++i) {
        const Operation* const operation = rank.requests.find(requests_[i]);
        if (operation && operation->kind == Operation::Kind::message && !(operation->flags & trace::kMpiMessageSent))
            return true;
    }
    return false;
}

void Call::completed(size_t index, const Arrival* arrival) {
    const Guard guard;
    if (!guard)
        return;
    Rank& rank = *rank_of_process;
    if (index >= request_count_ || requests_[index] == rank.library->null_request)
        return;
    const Handle request = requests_[index];
    Site* const site = keeps_ ? find_site(guard, nullptr) : nullptr;
    const uint64_t end = keeps_ ? end_ticks() : 0;
    const Locked locked(rank.lock);
    if (!locked)
        return;
    Operation* const operation = rank.requests.find(request);
    if (!operation) {
        count_unmatched(rank);
        return;
    }
    if (!operation->active)
        return; // waiting for a persistent request that was not started is over at once
    // Polls that found nothing before were part of the wait, but not before the operation began.
    uint64_t wait = begin_ticks_ ? begin_ticks_ : end;
    if (const uint64_t since = keeps_ ? thread_->waiting.since(wait) : 0; since > operation->begun_ticks)
        wait = since;
    const Ending ending{wait, end, site ? site->id : 0, operation->silent ? nullptr : arrival};
    operation->kept &= keeps_; // of a persistent one: until it begins again
    bool is_collective;
    if (__builtin_expect(operation->persistent, 0)) {
        Operation once = *operation; // it begins again as the program described it
        is_collective = end_operation(guard, rank, once, ending);
    } else {
        is_collective = end_operation(guard, rank, *operation, ending);
    }
    if (is_collective)
        thread_->collective_ended(end);
    rank.requests.hide(*operation);
    if (operation->persistent)
        operation->active = false;
    else
        rank.requests.remove(request);
}

} // namespace plumb::shim::mpi
