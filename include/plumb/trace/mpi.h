// MPI. Times of these records are ticks of the processor's constant time stamp counter (of CLOCK_MONOTONIC in
// nanoseconds where there is none): MpiRank holds how they relate to CLOCK_MONOTONIC. Ranks are those of
// MPI_COMM_WORLD ("world ranks") unless a name says otherwise.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

enum class MpiLibrary : uint32_t { unknown = 0, open_mpi = 1, mpich = 2, standard_abi = 3 };

enum class MpiThreadLevel : int32_t { single = 0, funneled = 1, serialized = 2, multiple = 3 };

struct MpiRank {
    RecordHeader header;        //     header.tid: the thread that initialised MPI
    uint32_t library;           //  8  MpiLibrary
    int32_t rank;               // 12  -1: not yet known (MPI_Init did not return)
    int32_t size;               // 16
    int32_t thread_level;       // 20  MpiThreadLevel, as provided
    StringId library_version;   // 24
    StringId job;               // 28  what the launcher calls this job, 0: no launcher
    uint32_t flags;             // 32  MpiRankFlags
    uint32_t dropped_sites;     // 36  updated: sites, peers or communicators that found no room
    uint64_t first_ticks;       // 40  two moments, as far apart as possible,
    uint64_t first_ns;          // 48
    uint64_t last_ticks;        // 56  updated
    uint64_t last_ns;           // 64  updated
    uint64_t init_begin_ns;     // 72
    uint64_t init_end_ns;       // 80
    uint64_t finalize_begin_ns; // 88  updated, 0: MPI_Finalize was not called
    uint64_t finalize_end_ns;   // 96  updated
    uint64_t mpi_ticks;         // 104 updated: time inside MPI of all threads
    uint64_t collectives;       // 112 updated: how many there were; MpiCollective keeps those with
    uint64_t collective_stride; // 120 updated: sequence % collective_stride == 0, a power of two that grows
    uint64_t messages;          // 128 updated: how many ends of messages there were; MpiMessage keeps those with
    uint64_t message_stride;    // 136 updated: sequence % message_stride == 0
    uint64_t unmatched;         // 144 updated: completed operations whose request was not known, and messages not counted
    uint64_t timeline_calls;    // 152 updated: how many calls were put into the ring of MpiEvents so far; since 1.3
};
static_assert(sizeof(MpiRank) == 160);
enum MpiRankFlags : uint32_t {
    kMpiSpawned = 1u << 0, // has a parent communicator
    kMpiSession = 1u << 1, // initialised by MPI_Session_init
    kMpiAborted = 1u << 2, // called MPI_Abort
    kMpiSilenced = 1u << 3, // MPI_Pcontrol(0) was called: some calls were not recorded
};

// The same communicator has the same (group_hash, ordinal) in all its members: the hash of the world ranks of its
// members in their order, and how many communicators of this group the member had made before it.
struct MpiComm {
    RecordHeader header;
    uint32_t id;          //  8  from 1, private to the file
    uint32_t flags;       // 12  MpiCommFlags
    Opaque group_hash;    // 16
    uint32_t ordinal;     // 24
    int32_t rank;         // 28  the writer's rank in it
    uint32_t size;        // 32
    uint32_t remote_size; // 36  of an inter-communicator, else 0
    uint32_t parent;      // 40  id of the communicator that it was made from, 0: not known
    StringId name;        // 44  as the program named it, else 0
    NodeId path;          // 48  who made it; 0: MPI itself
    int32_t first;        // 52  world rank of its rank 0
    uint64_t time_ticks;  // 56
    Opaque handle;        // 64  what MpiInside::comm calls it; since 1.3
};
static_assert(sizeof(MpiComm) == 72);
enum MpiCommFlags : uint32_t {
    kMpiCommWorld = 1u << 0,
    kMpiCommSelf = 1u << 1,
    kMpiCommInter = 1u << 2,
    kMpiCommWindow = 1u << 3, // no communicator of the program: the one that a window, or a file, was made on, once more
    kMpiCommFile = 1u << 4,
};

// What a function does; one function may do several of these.
enum MpiKind : uint32_t {
    kMpiSend = 1u << 0,        // starts or does the sending of a message
    kMpiReceive = 1u << 1,     // starts or does the receiving of one
    kMpiCollectiveCall = 1u << 2,
    kMpiNonblocking = 1u << 3, // returns before it is complete
    kMpiWait = 1u << 4,        // completes requests, waiting for them
    kMpiPoll = 1u << 5,        // Test, Iprobe and similar: returns at once, may have found nothing
    kMpiOneSided = 1u << 6,    // RMA: access and synchronisation
    kMpiFile = 1u << 7,        // MPI-IO
    kMpiSetUp = 1u << 8,       // Init, Finalize, communicators, windows, files: opening and closing
    kMpiPersistent = 1u << 9,
    kMpiProbe = 1u << 10,
    kMpiSynchronising = 1u << 11, // no member can leave before all have entered (barrier, allreduce, alltoall, ...)
    kMpiFromRoot = 1u << 12,   // rooted: data flow from the root (bcast, scatter)
    kMpiToRoot = 1u << 13,     // to the root (reduce, gather)
    kMpiNeighbour = 1u << 14,
    kMpiPrefix = 1u << 15,     // scan, exscan
    kMpiMayPass = 1u << 16,    // synchronising, unless the library finds that nobody has to be waited for (fence, MPI-IO)
};

struct MpiSite {
    RecordHeader header;          //     header.tid: the thread
    uint32_t id;                  //  8  from 1, private to the file
    uint32_t kind;                // 12  MpiKind
    StringId call;                // 16  MPI_Allreduce, ..., whatever the language
    NodeId path;                  // 20  of the caller
    uint32_t comm;                // 24  MpiComm::id, 0: none or not known
    uint32_t padding;             // 28
    uint64_t calls;               // 32
    uint64_t timed_calls;         // 40  polls that found nothing are timed now and then only
    uint64_t ticks;               // 48  time inside, of all calls (scaled up from the timed ones), and between polls that waited
    uint64_t longest_ticks;       // 56
    uint64_t sent_bytes;          // 64
    uint64_t received_bytes;      // 72  as they arrived, by the site that started the receive
    uint64_t failed;              // 80  calls that returned an error
    uint64_t found_nothing;       // 88  polls
    uint64_t first_ticks;         // 96
    uint64_t last_ticks;          // 104 end of the last call
    uint64_t size_histogram[32];  // 112 messages by bytes: [0] none, [i] 2^(i-1) <= bytes < 2^i, [31] also larger
};
static_assert(sizeof(MpiSite) == 368);

enum class MpiDirection : uint32_t { sent = 1, received = 2, put = 3, got = 4 };

struct MpiPeer {
    RecordHeader header;
    int32_t peer;                //  8  world rank; -1: all that found no room, or are not known
    uint32_t direction;          // 12  MpiDirection
    uint64_t messages;           // 16
    uint64_t bytes;              // 24
    uint64_t size_histogram[32]; // 32  as in MpiSite
};
static_assert(sizeof(MpiPeer) == 288);

// The n-th collective operation that its members began on a communicator, n = sequence; the sequence is the same in all.
// A record whose site is 0 is free: its operation was given up to make room (MpiRank::collective_stride).
struct MpiCollective {
    RecordHeader header;
    uint32_t comm;             //  8
    uint32_t site;             // 12  MpiSite::id, written last with release; 0: free
    uint64_t sequence;         // 16  on this communicator, from 0
    uint64_t begin_ticks;      // 24  the call that began it
    uint64_t wait_ticks;       // 32  waiting for its end began: that call, or the polls just before it; blocking: begin_ticks
    uint64_t end_ticks;        // 40  it was complete
    uint64_t gap_ticks;        // 48  since this thread's last collective on any communicator was complete (since MPI_Init)
    uint64_t gap_mpi_ticks;    // 56  of them inside other MPI calls
    uint32_t root;             // 64  comm rank, UINT32_MAX: none
    uint32_t padding;          // 68
    uint64_t bytes;            // 72  this rank's contribution
};
static_assert(sizeof(MpiCollective) == 80);

// The n-th message from one rank to another on a communicator with a tag, n = sequence: both ends count alike, because
// MPI keeps such messages in order. (A receive from any source or with any tag is counted when it is complete.)
// Counting starts at a number that both ends derive from the communicator, the ranks and the tag, so that thinning
// (MpiRank::message_stride) takes its share of channels that carry a single message, too.
struct MpiMessage {
    RecordHeader header;
    uint32_t comm;        //  8
    uint32_t site;        // 12  MpiSite::id of the call that began it, written last with release; 0: free
    int32_t peer;         // 16  world rank of the other end
    int32_t tag;          // 20
    uint32_t flags;       // 24  MpiMessageFlags
    uint32_t wait_site;   // 28  of the call in which it was waited for: that completed it, or probed for it before
    uint64_t sequence;    // 32  see above
    uint64_t begin_ticks; // 40  the call that began it; of a blocking receive, or the probes and polls just before it
    uint64_t wait_ticks;  // 48  waiting for its end began: that call, or the polls just before it; blocking: begin_ticks
    uint64_t end_ticks;   // 56  that call returned
    uint64_t bytes;       // 64
};
static_assert(sizeof(MpiMessage) == 72);
enum MpiMessageFlags : uint32_t {
    kMpiMessageSent = 1u << 0, // else received
    kMpiMessageSynchronous = 1u << 1, // Ssend and similar: complete only when the receive has begun
    kMpiMessageWildcard = 1u << 2, // received from any source or with any tag
};

// What a request stands for from the call that began it to the one that completed it; so many as have room are shown.
// Ranks are those of the communicator (of its remote group, if it has one), negative: any source.
struct MpiRequest {
    RecordHeader header;
    uint32_t site;        //  8  MpiSite::id of the call that began it, written last with release; 0: free
    uint32_t flags;       // 12  MpiMessageFlags; of a collective kMpiRequestCollective
    int32_t peer;         // 16  of a collective: its root, -1: none
    int32_t tag;          // 20  negative: any
    uint32_t comm;        // 24  MpiComm::id, 0: not known
    uint32_t tid;         // 28  the thread that began it
    Opaque handle;        // 32  not unique: requests that are complete at once share one
    uint64_t sequence;    // 40  of a collective: as in MpiCollective
};
static_assert(sizeof(MpiRequest) == 48);
inline constexpr uint32_t kMpiRequestCollective = 1u << 31;

// The latest calls of a process that keeps a timeline: places of a ring, in any order. Of calls that only look whether
// something has come, those are here that found it.
struct MpiEvent {
    RecordHeader header;  //     header.tid: the thread, updated
    uint64_t begin_ticks; //  8
    uint64_t end_ticks;   // 16
    uint32_t site;        // 24  MpiSite::id; written last; 0: the place is free
    int32_t peer;         // 28  world rank that was sent to or received from, or the root; -1: none or not known
    uint64_t bytes;       // 32  of that message, or what this rank gave to the collective
};
static_assert(sizeof(MpiEvent) == 40);

// One for each thread that calls MPI. Of the fields behind begin_ticks those mean something that the function's kind has:
// others are left from earlier calls. Ranks as in MpiRequest.
struct MpiInside {
    RecordHeader header;     //     header.tid: the thread, updated
    uint64_t begin_ticks;    //  8  written last; 0: it is not inside
    StringId call;           // 16
    uint32_t kind;           // 20  MpiKind
    Address return_address;  // 24  where in the program it was called
    Opaque comm;             // 32  MpiComm::handle, 0: none
    int32_t source;          // 40  kMpiReceive, kMpiProbe: from whom
    int32_t source_tag;      // 44
    int32_t target;          // 48  kMpiSend: to whom; kMpiCollectiveCall: the root, -1: none
    int32_t target_tag;      // 52
    NodeId path;             // 56  by whom, if this is where the path's innermost frame is; else the site has it
    uint32_t requests;       // 60  kMpiWait: how many it was given
    Opaque request;          // 64  kMpiWait: MpiRequest::handle of the first
};
static_assert(sizeof(MpiInside) == 72);

} // namespace plumb::trace
