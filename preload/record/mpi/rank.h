// This process as a rank: its record in the trace, and what all its threads share.
#pragma once

#include "record/mpi/calls/site.h"
#include "record/mpi/communicators/comms.h"
#include "record/mpi/events/channels.h"
#include "record/mpi/events/requests.h"
#include "record/mpi/events/thinned_events.h"
#include "record/mpi/events/timeline.h"
#include "record/mpi/library/library.h"
#include "record/mpi/tables/clock.h"
#include "record/mpi/tables/table_lock.h"

namespace plumb::shim::mpi {

class ThreadCalls;

// Lies in pages of its own that a forked child finds wiped; zeroed memory plus begin() is valid.
class Rank {
  public:
    // The first call or MPI_Init: writes the MpiRank. Thread-safe.
    void begin(const Guard&);
    bool begun() const { return record.load(std::memory_order_acquire) != nullptr; }

    // Adds what the thread has gathered to the record, and renews the clock's second moment when it is old.
    void tell(ThreadCalls&, uint64_t now_ticks);
    bool is_stale(uint64_t now_ticks) const {
        return now_ticks - last_ticks_.load(std::memory_order_relaxed) > kTicksOfTenthSecond;
    }

    // Whether calls are recorded, or (MPI_Pcontrol(0)) only followed.
    std::atomic<uint32_t> silent;

    std::atomic<trace::MpiRank*> record;

    TableLock lock; // of all below, but for `sites`
    Comms comms;
    Peers peers;
    Channels channels;
    Requests requests;
    CollectivePlaces collectives;
    MessagePlaces messages;

    const Library* library;
    CommQuestions questions; // fixed between MPI_Init and MPI_Finalize
    Sites sites;
    Timeline timeline;

  private:
    std::atomic<uint32_t> beginning_;
    std::atomic<uint64_t> last_ticks_; // written by whichever thread finds it old
    trace::MpiRank lost_; // stands in where the file has no room
};

// Null: the collector does not run in this process. One load.
extern Rank* rank_of_process PLUMB_HIDDEN;

// The calling thread's, made at its first call; null: nothing is recorded. Takes its own Guard.
ThreadCalls* thread_calls();

// How this process was launched, set by the collector: for MpiRank::job, and for ranks where there is no world.
struct LaunchedJob {
    char name[128]; // empty: no launcher
    int32_t rank, rank_count; // -1: not said
};
extern LaunchedJob launched_job PLUMB_HIDDEN;

} // namespace plumb::shim::mpi
