// One MPI job: what comes out when the files of its ranks are laid side by side (replay/). Ranks are those of
// MPI_COMM_WORLD. Bounded: rows for ranks, call sites and communicators, and pictures of at most 512 x 512.
//
// Who is charged with what:
//  - Waiting in a collective: from a rank's arrival to the moment at which it could have gone on had data moved at
//    once: the last arrival (operations that synchronise), the root's arrival (data from the root), the last arrival for
//    the root only (data to the root), the last of the lower ranks (prefixes). The rest of the call is the operation.
//  - Late sender: a receive waited until the send began. Late receiver: a send waited until the receive began.
//  - A rank that arrives last is charged with the waiting of all others. What it would gain the job if its time since
//    its last collective had been the median of the others' is its gain.
#pragma once

#include "model/mpi.h"
#include "model/mpi_cycles.h"
#include "model/mpi_pending.h"
#include "model/mpi_steps.h"
#include "model/noise.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

// Why a rank came later than the median of the others to collectives at which it came last, or made the last one late;
// seconds that add up.
struct MpiLateness {
    double computing_s = 0;   // more work, much the same each time
    double irregular_s = 0;   // more time outside MPI now and then, the CPU being its own as far as the scheduler knows:
                              // work that comes and goes, or an interrupt, or the hypervisor
    double starved_s = 0;     // runnable without a CPU (run delay), much the same each time
    double interrupted_s = 0; // likewise, but now and then: another program took the CPU away
    double blocked_s = 0;     // asleep outside MPI: files, locks, sleep()
    double waiting_s = 0;     // waiting for others in MPI calls since its last such collective: a delay they passed on
    double other_s = 0;       // none of these: in MPI calls that waited for a rank that is not known

    double sum_s() const { return computing_s + irregular_s + starved_s + interrupted_s + blocked_s + waiting_s + other_s; }
};

// Where the time of one rank went, between the end of MPI_Init and the beginning of MPI_Finalize.
struct MpiRankRow {
    int rank = -1;
    uint32_t process = 0; // index into Run::processes
    uint32_t host = 0;    // index into Run::hosts
    uint32_t thread = 0;   // index into the process's threads: the one that spent most time in MPI, of which the times are
    double elapsed_s = 0, mpi_s = 0;
    double compute_s = 0;            // elapsed_s - mpi_s
    double collective_wait_s = 0, collective_s = 0; // waiting; the operations themselves
    double late_sender_s = 0, late_receiver_s = 0;
    double other_mpi_s = 0; // the rest of mpi_s: transfer of messages, polls, RMA, files, set-up
    double run_delay_s = 0;  // runnable without a CPU
    double asleep_s = 0;     // neither on a CPU nor runnable; ranks that wait in MPI without spinning are that, too
    uint64_t involuntary_switches = 0;
    uint64_t collectives = 0; // that were laid side by side, scaled up to all
    uint64_t times_last = 0;  // of these, the others waiting for it
    uint64_t times_responsible = 0; // the last one had waited for this one's message since its last collective
    double caused_wait_s = 0; // rank-seconds that others waited in collectives at which it came last
    double caused_message_wait_s = 0; // rank-seconds that others waited for its sends and receives, passed-on delay included
    double gain_s = 0;        // of the whole job, had this rank been as quick as the median of the others
    double lateness_s = 0;    // behind the median arrival, sum over the collectives at which it came last
    MpiLateness lateness;     // lateness_s by its reason
    uint32_t late_path = 0;   // of the collective call to which most of it belongs; 0: none
    std::string late_call;
    int delayed_by = -1;      // rank at the root of most of lateness.waiting_s; -1: none
};

// Ranks that compute longer than the rest and as long as one another, so that each hides behind the others; or ranks that hide
// behind such.
struct MpiLateGroup {
    std::vector<uint32_t> rows; // indexes into MpiJob::ranks, ascending
    // Of the whole job, had all of them been as quick as the median rank: what that gains beyond the cure of the groups before.
    double gain_s = 0;
};

// Calls of one MPI function from one place of the program on one communicator, all ranks together.
struct MpiCallSite {
    std::string call;
    uint32_t kind = 0;        // trace::MpiKind
    uint32_t process = 0, path = 0; // one of its call paths: index into Run::processes, and into their paths
    uint32_t comm = 0;        // index into MpiJob::comms; kNoComm: none
    uint32_t ranks = 0;       // that called there
    uint64_t calls = 0, found_nothing = 0, failed = 0;
    uint64_t sent_bytes = 0, received_bytes = 0;
    double time_s = 0;        // rank-seconds
    double wait_s = 0;        // of these: waiting for other ranks, as far as events were kept
    double operation_s = 0;   // of these: collective operations themselves
    double longest_s = 0;     // one call
    int longest_rank = -1;
    double least_rank_s = 0, most_rank_s = 0; // time of the ranks that called there
    int most_rank = -1;
    SizeHistogram sizes = {};
    static constexpr uint32_t kNoComm = UINT32_MAX;
};

struct MpiCommRow {
    std::string name; // "MPI_COMM_WORLD", the program's name, or empty
    uint32_t size = 0, members_recorded = 0;
    bool world = false, inter = false;
    CommKind kind = CommKind::communicator;
    uint64_t epochs = 0;      // collectives laid side by side, scaled up to all
    double wait_s = 0, operation_s = 0; // rank-seconds
    double imbalance_s = 0;   // sum over its epochs of last - mean arrival
};

// When the ranks arrived at collectives, against the median arrival of each. Rows: the outliers first, each alone, then all
// ranks in bins of consecutive ones. Columns: bins of consecutive epochs by time.
struct MpiHeatMap {
    struct Row {
        int first_rank = 0;
        uint32_t ranks = 1;
        bool outlier = false; // a rank that others waited for (or that waited) most; it is in its bin, too
    };
    struct Column {
        double begin_s = 0, end_s = 0; // since the job began
        uint64_t epochs = 0;
    };
    std::vector<Row> rows;
    std::vector<Column> columns;
    std::vector<float> mean_s, latest_s; // [row * columns.size() + column]; NaN: nobody of the row was in it
};

// Sparse; a place stands for `bin` x `bin` ranks, 1: exact.
struct MpiMatrix {
    struct Place {
        uint32_t from = 0, to = 0; // first rank / bin
        uint64_t messages = 0, bytes = 0;
    };
    uint32_t bin = 1;
    std::vector<Place> places; // by from, then to
    std::vector<Place> heaviest_pairs; // of single ranks, by bytes
    uint64_t unplaced_messages = 0, unplaced_bytes = 0; // whose other end was not recorded
};

// Time of a message = latency + bytes / bandwidth, fitted to messages of this run whose receiver was waiting already.
struct MpiTransferFit {
    bool known = false;
    double latency_s = 0, seconds_per_byte = 0; // 0 seconds_per_byte: the sizes differ too little to fit it
    double spread_s = 0;   // median absolute deviation from the fit
    uint64_t messages = 0; // fitted
};

// Work done one rank after another: c waits for the message of b, which had waited for that of a, and no single rank's
// work makes up most of c's waiting. Two ranks in turns: a waits while b works, which had waited while a worked.
struct MpiChains {
    uint64_t waits = 0;      // of receives at the end of such a chain of at least three ranks, or of a turn
    uint32_t longest = 0;    // ranks
    double mean_length = 0;  // ranks
    double wait_s = 0;       // rank-seconds of these waits; of turns: the part in which both could work
    double collective_wait_s = 0; // rank-seconds in collectives whose last rank came late because of such a wait
    std::vector<int> longest_ranks; // of one longest chain, at most 64, the one that began it first
    uint32_t process = 0, path = 0; // call path of the receive that waited most, as in MpiCallSite
    std::string call;
    double site_share = 0;   // of wait_s
};

// Compute intervals between collectives that synchronise.
struct MpiGranularity {
    uint64_t intervals = 0;
    double mean_s = 0, least_s = 0, tenth_s = 0, median_s = 0, ninetieth_s = 0, most_s = 0;
    // A cycle goes from one collective of all ranks to the next from the same call site. The quickest is what the
    // others could be, were nothing in their way.
    uint64_t cycles = 0;
    double mean_cycle_s = 0, least_cycle_s = 0;
};

// What is known of the clocks of its hosts.
struct MpiClocks {
    uint32_t hosts = 1;
    bool aligned = true;     // false: some host shares no collective or message with the others
    double error_s = 0;      // bound on the difference of two ranks' clocks after alignment
    double largest_shift_s = 0, largest_drift = 0; // what had to be corrected; drift: seconds a second
};

// Who took CPUs away from ranks, and what that cost. Known for the thread of each rank that calls MPI most.
struct MpiNoise {
    // What it would lose, did only one in so many of its collectives of all ranks make the ranks wait for one another.
    struct Grouping {
        uint32_t joints = 1;
        double lost_s = 0;
    };
    bool replayed = false;    // the job has collectives of all its ranks, and preemptions were recorded
    double recorded_share = 1; // of the ranks' time without their CPUs, what is known one by one
    double lost_s = 0;        // to all takers that are noise (NoiseTaker::is_noise)
    std::vector<Grouping> groupings; // ascending; groups of at least two
    std::vector<NoiseTaker> takers; // by lost_s, the most first; a few
};

struct MpiJob {
    std::string name; // as the launcher calls it, may be empty
    MpiProcess::Library library = MpiProcess::Library::unknown;
    std::string library_version;
    bool spawned = false;
    int size = 0;
    uint32_t hosts = 0;
    double begin_s = 0, elapsed_s = 0; // begin_s: since the run began; from the first end of MPI_Init to the last beginning of MPI_Finalize

    std::vector<MpiRankRow> ranks; // recorded ones, by rank
    std::vector<MpiLateGroup> late_groups; // the slowest first; empty where groups say no more than single ranks
    std::vector<MpiCommRow> comms;
    std::vector<MpiCallSite> sites; // by time, heaviest first
    MpiHeatMap arrivals;
    MpiMatrix matrix;
    SizeHistogram message_sizes = {}; // sent messages
    MpiTransferFit within_host, between_hosts;
    double messages_in_burst = 0; // mean; sends to one rank with hardly any work in between. 0: none were kept
    MpiChains chains;
    MpiGranularity granularity;
    MpiNoise noise;
    MpiSteps steps; // only where the replay was asked for them
    MpiCycles cycles;
    MpiClocks clocks;
    MpiPending pending;

    // What rests on events rests on these parts of them (memory of the recording and of the analysis is bounded).
    uint64_t epochs = 0;            // laid side by side
    uint64_t epoch_stride = 1;      // one in so many collectives
    uint64_t incomplete_epochs = 0; // left out: not all recorded members were found in them
    uint64_t matched_messages = 0, unmatched_ends = 0;
    uint64_t message_stride = 1;    // one in so many messages

    double wait_s = 0, operation_s = 0; // in collectives, rank-seconds
    double late_sender_s = 0, late_receiver_s = 0; // rank-seconds
    // Sum over collectives of last - mean arrival, weighted by the share of the job's ranks that take part: wall time that
    // ranks of equal speed would save.
    double imbalance_s = 0;
};

} // namespace plumb::model
