// What the hooks of MPI functions (hooks/mpi, generated) tell the recording of one call.
//
// A hook makes a Call on its stack, calls the library's function, then says what the call was about in the terms
// below, whatever the language it came from. All of it is for the outermost call of a thread only: what the
// library's own Fortran layer, or one function inside another, calls in turn is the same call and is not counted
// again. Nothing here calls a function that is hooked (PMPI only), and nothing communicates.
//
//     Word hook_MPI_Send(Word buffer, Word count, Word type, Word to, Word tag, Word comm) {
//         Call call(kFunctions[kMPI_Send], PLUMB_CALLER_FRAME());
//         const Word result = real(buffer, count, type, to, tag, comm);
//         if (call.returned(result))
//             call.message({comm, rank(to), tag(tag), bytes(count, type), kMpiMessageSent});
//         return result;
//     }
#pragma once

#include "platform/unwind/unwind_step.h"
#include "record/mpi/tables/clock.h"
#include "record/process/trace_writer.h"

#include <plumb/trace_format.h>
#include <stddef.h>
#include <stdint.h>

namespace plumb::shim::mpi {

// A handle of the library as C sees it: a pointer (Open MPI, standard ABI) or 32 bits, zero-extended (MPICH).
// Fortran's integers are converted by the hooks (library.h).
using Handle = uint64_t;

struct Function {
    const char* name; // "MPI_Send", whatever the language
    uint32_t kind;    // trace::MpiKind
};

// Windows and files are communicators of their own, known by keys that no communicator has: pointers of user space and
// numbers leave the upper bits free.
constexpr Handle kWindowKey = Handle{1} << 62, kFileKey = Handle{1} << 63;
constexpr Handle window_key(Handle window) { return window | kWindowKey; }
constexpr Handle file_key(Handle file) { return file | kFileKey; }
constexpr bool is_comm(Handle key) { return !(key & (kWindowKey | kFileKey)); }

class Rank;
class ThreadCalls; // of the calling thread
struct Comm;
struct Operation;
struct Site;

// A message that the call sent, or received, or started. Ranks are those of the communicator (of its remote group, if it
// has one); any source, any tag and "no process" are as the library's constants say (library.h).
struct Message {
    Handle comm;
    int32_t peer;
    int32_t tag;
    uint64_t bytes;  // of a receive: room for so many
    uint32_t flags;  // trace::MpiMessageFlags
};

struct Collective {
    Handle comm;
    int32_t root; // comm rank, -1: none
    uint64_t sent_bytes, received_bytes; // this rank's contribution, and what it gets
};

// What became of a receive or probe, from its status.
struct Arrival {
    int32_t source, tag; // comm ranks
    uint64_t bytes;
    bool cancelled;
};

class Call {
  public:
    // Before the library's function. `caller`: the frame of the program's call. Reads the clock unless the function
    // is a poll that is not to be timed this time.
    // Inline, so that the frame's words go from registers to their places: copied in pairs behind the single stores of its
    // making, they would wait for these to reach the cache.
    __attribute__((always_inline)) Call(const Function& function, const Frame& caller) : function_(function), caller_(caller) {
        begin();
    }
    ~Call() {
        if (thread_)
            end();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Not for calls inside calls, nor while recording is off (MPI_Pcontrol(0), full, not recorded process).
    bool outermost() const { return thread_ != nullptr; }

    // Before the library's function: what a call that may not return for long is about, shown in the trace while it
    // lasts (inside.h). Handles and ranks as the program passes them. enters() comes last, and all of it if shows().
    bool shows() const { return inside_ != nullptr; }
    void receives(Handle comm, int32_t source, int32_t tag) const {
        __atomic_store_n(&inside_->comm, comm, __ATOMIC_RELAXED);
        __atomic_store_n(&inside_->source, source, __ATOMIC_RELAXED);
        __atomic_store_n(&inside_->source_tag, tag, __ATOMIC_RELAXED);
    }
    void sends(Handle comm, int32_t target, int32_t tag) const {
        __atomic_store_n(&inside_->comm, comm, __ATOMIC_RELAXED);
        __atomic_store_n(&inside_->target, target, __ATOMIC_RELAXED);
        __atomic_store_n(&inside_->target_tag, tag, __ATOMIC_RELAXED);
    }
    void takes_part(Handle comm, int32_t root) const { // root: -1: none
        __atomic_store_n(&inside_->comm, comm, __ATOMIC_RELAXED);
        __atomic_store_n(&inside_->target, root, __ATOMIC_RELAXED);
    }
    void enters() const { __atomic_store_n(&inside_->begin_ticks, begin_ticks_, __ATOMIC_RELEASE); }

    // Behind the library's function, first of all: takes the end of the call. True when the rest is to be recorded: the
    // call is recorded and the library's result was MPI_SUCCESS.
    bool returned(int64_t result) {
        if (!thread_)
            return false;
        if (begin_ticks_)
            end_ticks_ = ticks();
        if (inside_)
            __atomic_store_n(&inside_->begin_ticks, 0, __ATOMIC_RELAXED);
        returned_ = true;
        failed_ = static_cast<int32_t>(result) != 0;
        return !failed_;
    }

    // At most one of each kind a call, but message() (Sendrecv has two).
    void message(const Message&, const Arrival* arrival = nullptr); // complete: blocking
    void collective(const Collective&);                            // likewise
    void one_sided(Handle window_key, int32_t target, uint64_t bytes, trace::MpiDirection);
    void file(uint64_t read_bytes, uint64_t written_bytes);
    void takes_apart(Handle key); // before the library's function: it frees this window or file, collectively
    void took_apart();
    void on(Handle comm) { about_ = comm; } // a call about a communicator, window or file that is none of these (Probe, ...)
    void found_nothing(); // a poll with flag = 0; the last that is said of it

    // Requests. Persistent ones are remembered until request_freed(); each start begins the operation anew.
    void started(Handle request, const Message&);
    void started(Handle request, const Collective&);
    void made_persistent(Handle request, const Message&);
    void made_persistent(Handle request, const Collective&);
    void made_other(Handle request); // RMA, files, generalised: waiting for it is timed, no more
    void restarted(Handle request);  // MPI_Start
    void freed(Handle request);      // MPI_Request_free: nobody will see it complete

    // Completion. Before a Wait, Test and their kin: remembers handles that the library is about to overwrite, up to the
    // call's end. Behind it: which of them completed.
    void will_complete(Handle request) {
        request_ = request;
        requests_ = &request_;
        request_count_ = 1;
        if (inside_)
            show_requests();
    }
    void will_complete(const void* requests, size_t count, bool fortran);
    void completed(size_t index, const Arrival* arrival); // of those remembered; null: status not at hand

    // Whether one of those remembered is a receive, so that only its status tells what arrived: a program that
    // ignores statuses is then to be given ones of the hook's own.
    bool wants_statuses() const;

  private:
    void begin();
    void end();
    void show_requests() const;
    bool counts_again();
    Site* find_site(const Guard& guard, const Comm* comm) { return site_ ? site_ : look_up_site(guard, comm); } // of this call: one
    Site* look_up_site(const Guard&, const Comm*);
    uint64_t end_ticks();                       // also of a poll that was not timed
    void start(const Guard&, Operation&);       // the operation begins with this call
    void collective_on(const Guard&, Rank&, Comm*, const Collective&, bool is_last);
    void count(const Guard&);
    uint64_t end_waiting(Rank&); // ticks between its polls that are MPI's time, too
    void count_at_once(const Guard&, const Rank&);
    void keep(const Guard&, Rank&);                             // in the timeline
    void note(const Rank&, const Comm*, const Message&, const Arrival*); // for it
    void note(const Rank&, const Comm*, int32_t peer, uint64_t bytes);
    void note_begun(const Rank&, const Comm*, const Message&);
    void note_begun(const Rank&, const Comm*, const Collective&);
    template <class What> void begins_request(Handle request, const What&, bool persistent); // Message or Collective

    const Function& function_;
    const Frame caller_;
    ThreadCalls* thread_ = nullptr; // null: not recorded
    trace::MpiInside* inside_ = nullptr; // of calls that are no polls
    Site* site_ = nullptr;
    uint64_t begin_ticks_ = 0, end_ticks_ = 0; // 0: not taken
    Handle about_ = 0; // by on(): 0: nothing said
    Handle request_ = 0;
    const Handle* requests_ = nullptr; // by will_complete(): request_, or copies in the thread's memory
    size_t request_count_ = 0;
    uint64_t noted_bytes_ = 0;
    // From here to the flags at a multiple of 8: clang clears them as one word (preload/meson.build).
    uint32_t stands_for_ = 0; // calls, where polls are timed now and then; 0: it is not timed
    bool keeps_ = false; // false: MPI_Pcontrol(0), only what later calls depend on is followed
    bool returned_ = false, failed_ = false, found_nothing_ = false, counted_ = false;
    int32_t noted_peer_ = -1; // world rank
};

// Communicators and datatypes come and go: the same handle may name another one later.
void comm_made(Handle comm, Handle parent, const Frame& caller); // in all its members; also of MPI_Comm_idup, at the call
void comm_named(Handle key, const char* name, size_t length);
void comm_freed(Handle comm); // before the library's function
void made_on(Handle comm, Handle key, const Frame& caller); // a window or file, collectively
void type_freed(Handle type); // in library.cpp, which remembers sizes

// The life of MPI in this process: MPI_Init and similar calls, MPI_Finalize, MPI_Abort, MPI_Pcontrol(level).
void mpi_will_start();
void mpi_started(int thread_level, bool session);
void mpi_will_end(); // writes what must be in the file before the library may never return
void mpi_ended();
void mpi_aborted();
void mpi_control(int level);

} // namespace plumb::shim::mpi
