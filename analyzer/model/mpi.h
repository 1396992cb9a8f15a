// MPI as it was recorded: what each rank's own file says (MpiProcess), and what comes out when the files of a job are laid
// side by side (MpiJob, made by replay/). Events themselves (each collective, each message) are not kept in the model: they
// are read from the files as a stream, as often as needed, so that a job of thousands of ranks fits in memory.
// Ranks are those of MPI_COMM_WORLD. Times: seconds, or nanoseconds of the first host's CLOCK_MONOTONIC.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::model {

using SizeHistogram = std::array<uint64_t, 32>; // [0] no bytes, [i] 2^(i-1) <= bytes < 2^i, [31] also larger

// What collectives are called on. Windows and files have the members of the communicator that they were made on.
enum class CommKind : uint8_t { communicator, window, file };
constexpr const char* name_of(CommKind kind) {
    return kind == CommKind::window ? "window" : kind == CommKind::file ? "file" : "communicator";
}

// A communicator as one rank knows it. Equal (group_hash, ordinal): the same one.
struct MpiComm {
    uint32_t id = 0; // of the file
    uint64_t group_hash = 0;
    uint32_t ordinal = 0;
    uint32_t size = 0, remote_size = 0;
    int rank = -1;  // of the process in it
    int first = -1; // world rank of its rank 0
    bool world = false, self = false, inter = false;
    CommKind kind = CommKind::communicator;
    std::string name; // as the program named it (a file: by its path), may be empty
    uint32_t path = 0; // index into Process::paths: who made it
    uint64_t handle = 0; // of the library; one may have named several communicators in turn
};

// Calls that begin and end MPI itself; their time is not the program's.
inline bool starts_or_ends_mpi(std::string_view call) {
    return call.starts_with("MPI_Init") || call.starts_with("MPI_Finalize") || call.starts_with("MPI_Session_");
}

struct MpiSite {
    uint32_t id = 0;     // of the file
    std::string call;    // "MPI_Allreduce"
    uint32_t kind = 0;   // trace::MpiKind
    uint32_t thread = 0; // index into Process::threads
    uint32_t path = 0;   // index into Process::paths
    uint32_t comm = 0;   // MpiComm::id, 0: none
    uint64_t calls = 0, failed = 0, found_nothing = 0;
    uint64_t time_ns = 0, longest_ns = 0;
    uint64_t sent_bytes = 0, received_bytes = 0;
    uint64_t first_ns = 0, last_ns = 0;
    SizeHistogram sizes = {};
};

struct MpiPeer {
    enum class Direction { sent, received, put, got };
    int peer = -1; // world rank; -1: all others together
    Direction direction = Direction::sent;
    uint64_t messages = 0, bytes = 0;
    SizeHistogram sizes = {};
};

// The call that a thread was inside of when the record ended. Ranks are those of the communicator, negative: any source;
// which fields mean something says the kind (trace::MpiInside).
struct MpiInside {
    uint32_t thread = 0; // index into Process::threads
    std::string call;
    uint32_t kind = 0;   // trace::MpiKind
    uint32_t path = 0;   // index into Process::paths
    uint32_t comm = 0;   // MpiComm::id, 0: none or not known
    int source = -1, source_tag = -1, target = -1, target_tag = -1;
    uint32_t requests = 0;
    uint64_t request = 0; // handle of the first
    uint64_t begin_ns = 0;
};

// An operation under way that a request stands for.
struct MpiRequest {
    uint32_t site = 0;   // MpiSite::id of the call that began it
    bool sent = false, synchronous = false, collective = false; // none: a receive
    int peer = -1, tag = -1; // as in MpiInside; peer of a collective: its root
    uint32_t comm = 0;   // MpiComm::id
    uint32_t tid = 0;    // who began it
    uint64_t handle = 0, sequence = 0; // sequence: of a collective on its communicator
};

// One rank of one job: part of its model::Process.
struct MpiProcess {
    enum class Library { unknown, open_mpi, mpich, standard_abi };
    Library library = Library::unknown;
    std::string library_version, job;
    int rank = -1, size = 0, thread_level = 0;
    bool spawned = false, session = false, aborted = false, silenced = false;
    uint64_t init_begin_ns = 0, init_end_ns = 0;         // 0: did not happen
    uint64_t finalize_begin_ns = 0, finalize_end_ns = 0; // likewise
    uint64_t mpi_ns = 0; // inside MPI, all threads
    uint64_t collectives = 0, collective_stride = 1, messages = 0, message_stride = 1;
    uint64_t unmatched = 0, dropped_sites = 0;
    uint64_t timeline_calls = 0; // that were put into its timeline, those that were overwritten since included
    // ns = origin_ns + (ticks - origin_ticks) / ticks_per_ns, fitted to two moments: the origin, and the last one.
    double ticks_per_ns = 1;
    uint64_t origin_ticks = 0, origin_ns = 0;
    uint64_t last_ticks = 0, last_ns = 0;
    std::string file; // path of the trace file that holds its events
    std::vector<MpiComm> comms;
    std::vector<MpiSite> sites;
    std::vector<MpiPeer> peers;
    bool shows_calls = false; // of threads that were inside of none, too: the recording was able to say so
    std::vector<MpiInside> inside;
    std::vector<MpiRequest> requests;
};

} // namespace plumb::model
