// From MPI_Init to MPI_Finalize, and the communicators, windows, files and settings that come and go in between.
#include "platform/os/memory.h"
#include "platform/os/text.h"
#include "record/mpi/calls/thread_calls.h"
#include "record/mpi/mpi_collector.h"
#include "record/mpi/rank.h"
#include "record/mpi/tables/counters.h"
#include "record/process/settings.h"

#include <string.h>

namespace plumb::shim::mpi {
namespace {

constexpr const char* kSource = "mpi";
constexpr uint32_t kNamesMax = 1024;

// Fields of MpiRank that are not counters change together, here and nowhere else.
trace::MpiRank* own_record(const Guard& guard) {
    if (!guard || !rank_of_process)
        return nullptr;
    if (!rank_of_process->begun())
        rank_of_process->begin(guard);
    return rank_of_process->record.load(std::memory_order_relaxed);
}

// What the library calls itself, its first line only: some go on for pages.
trace::StringId write_version(const Guard& guard, Text<256>* version) {
    constexpr size_t kRoom = 64 * 1024; // MPI_MAX_LIBRARY_VERSION_STRING is 8,192 at most in those that are known
    const auto ask = reinterpret_cast<int (*)(char*, int*)>(find_own_function("PMPI_Get_library_version"));
    char* const text = ask ? static_cast<char*>(allocate_pages(kRoom, true)) : nullptr;
    if (!text)
        return 0;
    int length = 0;
    trace::StringId id = 0;
    if (ask(text, &length) == 0) {
        for (const char* c = text; *c && *c != '\n' && *c != ','; ++c)
            version->append(*c == '\t' ? " " : c, 1);
        id = write_string(guard, version->c_str(), version->length());
    }
    release_pages(text, kRoom);
    return id;
}

void set_clock(trace::MpiRank& record) {
    set(record.last_ticks, ticks());
    set(record.last_ns, now_ns());
}

void add_comm(const Guard& guard, Rank& rank, Handle handle, uint32_t flags, const CommFacts& facts) {
    const Locked locked(rank.lock);
    if (locked)
        rank.comms.add(guard, {handle, 0, flags, 0, ticks()}, facts, Comms::Origin::known);
}

// The world and the process itself need no question; the parent of spawned processes is another world.
void add_first_comms(const Guard& guard, Rank& rank, trace::MpiRank& record) {
    CommFacts world{}, self{}, parents{};
    world.rank = rank.questions.world_rank();
    world.local = RankMap::regular(static_cast<uint32_t>(rank.questions.world_size()), 0, 1);
    world.group_hash = hash_of_ranks(world.local);
    add_comm(guard, rank, rank.library->world, trace::kMpiCommWorld, world);
    self.local = RankMap::regular(1, world.rank, 1);
    self.group_hash = mix(hash_of_ranks(self.local), trace::kMpiCommSelf); // apart from a world of one
    add_comm(guard, rank, rank.library->self, trace::kMpiCommSelf, self);
    Handle parent = 0;
    if (rank.questions.parent(&parent)) {
        record.flags |= trace::kMpiSpawned;
        if (rank.questions.ask(parent, &parents))
            add_comm(guard, rank, parent, 0, parents);
    }
}

// `like`: the library may be asked about it, and it has the same group.
void add_made(Handle key, Handle parent, Handle like, uint32_t flags, const Frame& caller) {
    const Guard guard;
    if (!own_record(guard))
        return;
    Rank& rank = *rank_of_process;
    CommFacts facts;
    if (!rank.questions.ask(like, &facts))
        return;
    ThreadCalls* const thread = guard.thread().data<ThreadCalls>(ThreadSlot::mpi);
    const trace::NodeId path = thread ? thread->sites.path_at(guard, caller) : 0;
    const Locked locked(rank.lock);
    if (!locked) {
        facts.release();
        return;
    }
    const Comm* const from = parent ? rank.comms.find(parent) : nullptr;
    rank.comms.add(guard, {key, from ? from->id : 0, flags, path, ticks()}, facts, Comms::Origin::known);
}

} // namespace

void mpi_will_start() {
    const Guard guard;
    if (guard && rank_of_process && library().kind == trace::MpiLibrary::unknown) {
        write_evidence(guard, kSource, trace::EvidenceState::limited,
                       "the MPI library is neither Open MPI nor of the MPICH family, and does not follow the standard ABI of "
                       "MPI-5: its calls are not recorded",
                       "");
        rank_of_process = nullptr;
        return;
    }
    if (trace::MpiRank* const record = own_record(guard); record && !record->init_begin_ns) {
        set(record->init_begin_ns, now_ns());
        // Who takes the lock first owns it, and for that the kernel makes a process of several threads wait for 10 ms. Most have
        // one as long as the library has not started its own.
        const Locked claimed(rank_of_process->lock);
    }
    note_mpi_started();
}

void mpi_started(int thread_level, bool session) {
    const Guard guard;
    trace::MpiRank* const record = own_record(guard);
    if (!record || record->init_end_ns)
        return; // a second session
    Rank& rank = *rank_of_process;
    Text<256> version;
    record->library_version = write_version(guard, &version);
    record->thread_level = thread_level;
    if (!rank.questions.start(session ? 0 : rank.library->world, launched_job.rank, launched_job.rank_count)) {
        write_evidence(guard, kSource, trace::EvidenceState::limited,
                       "the MPI library lacks MPI-2 functions that distinguish communicators: calls are recorded without "
                       "ranks", "");
    } else {
        record->size = rank.questions.world_size();
        if (session)
            record->flags |= trace::kMpiSession;
        if (!session)
            add_first_comms(guard, rank, *record);
        record->rank = rank.questions.world_rank();
        Text<512> why;
        why << "every call is recorded by call path and communicator"
            << (version.length() ? " (" : "") << version.c_str() << (version.length() ? ")" : "");
        write_evidence(guard, kSource, trace::EvidenceState::ok, why.c_str(), "");
    }
    set(record->init_end_ns, now_ns());
    set_clock(*record);
    if (ThreadCalls* const thread = guard.thread().data<ThreadCalls>(ThreadSlot::mpi))
        thread->collective_ended(ticks());
}

void mpi_will_end() {
    const Guard guard;
    trace::MpiRank* const record = own_record(guard);
    if (!record)
        return;
    set(record->finalize_begin_ns, now_ns());
    rank_of_process->questions.end();
    set_clock(*record);
}

void mpi_ended() {
    const Guard guard;
    if (trace::MpiRank* const record = own_record(guard)) {
        set(record->finalize_end_ns, now_ns());
        set_clock(*record);
    }
}

void mpi_aborted() {
    const Guard guard;
    if (trace::MpiRank* const record = own_record(guard)) {
        set(record->flags, record->flags | trace::kMpiAborted);
        set_clock(*record);
    }
}

void mpi_control(int level) {
    const Guard guard;
    trace::MpiRank* const record = own_record(guard);
    if (!record)
        return;
    rank_of_process->silent.store(level == 0, std::memory_order_relaxed);
    if (level == 0)
        set(record->flags, record->flags | trace::kMpiSilenced);
}

void comm_made(Handle comm, Handle parent, const Frame& caller) {
    if (!rank_of_process || comm == rank_of_process->library->null_comm)
        return;
    ThreadState* const state = this_thread;
    const ThreadCalls* const thread = state ? state->data<ThreadCalls>(ThreadSlot::mpi) : nullptr;
    // MPI_Comm_idup: nothing may be asked of the new one yet, but it has its parent's group.
    const bool is_incomplete = thread && thread->is_inside(trace::kMpiNonblocking);
    add_made(comm, parent, is_incomplete ? parent : comm, 0, caller);
}

void comm_named(Handle key, const char* name, size_t length) {
    static std::atomic<uint32_t> names{0};
    const Guard guard;
    if (!own_record(guard) || !name || length == 0 || names.fetch_add(1, std::memory_order_relaxed) >= kNamesMax)
        return;
    const void* slash = settings.text(Setting::kRedact) ? memrchr(name, '/', length) : nullptr;
    if (slash) { // a file is named by its path
        const char* const behind = static_cast<const char*>(slash) + 1;
        length -= static_cast<size_t>(behind - name);
        name = behind;
    }
    const trace::StringId text = write_string(guard, name, length < 256 ? length : 256);
    const Locked locked(rank_of_process->lock);
    const Comm* const named = locked ? rank_of_process->comms.find(key) : nullptr;
    if (named && named->record)
        set(named->record->name, text);
}

void comm_freed(Handle comm) {
    const Guard guard;
    if (!own_record(guard))
        return;
    const Locked locked(rank_of_process->lock);
    if (locked)
        rank_of_process->comms.remove(comm);
}

void made_on(Handle comm, Handle key, const Frame& caller) {
    add_made(key, comm, comm, key & kWindowKey ? trace::kMpiCommWindow : trace::kMpiCommFile, caller);
}

} // namespace plumb::shim::mpi
