// Call sites: one function called from one call path on one communicator by one thread.
#pragma once

#include "record/mpi/mpi_call.h"
#include "record/mpi/tables/key_table.h"
#include "record/paths/call_path.h"

#include <atomic>

namespace plumb::shim::mpi {

struct Site {
    trace::MpiSite* record;
    const Function* function;
    uint32_t id;   // trace::MpiSite::id, 0: it stands for all that found no room
    uint32_t comm; // trace::MpiComm::id
    Site* next;    // an older one of the same path and thread
    uint64_t timed_ticks; // of polls: the time of those that were timed
    uint64_t between_ticks; // the time between polls of rows that waited
};

// All of the process. They stay when their threads end: operations remember by which one they were begun.
class Sites {
  public:
    static constexpr uint32_t kMax = 4096;
    static constexpr uint32_t kFine = 2048; // further sites are not split by communicator

    // Null: no room. First seen at `first_ticks`, 0: now. Thread-safe without locks.
    Site* add(const Guard&, const Function&, trace::NodeId path, uint32_t comm, uint64_t first_ticks);
    Site* at(uint32_t id) { return id ? &sites_[id - 1] : nullptr; }
    bool is_fine() const { return used_.load(std::memory_order_relaxed) < kFine; }
    uint32_t refused() const { return refused_.load(std::memory_order_relaxed); }

    // The function's name in the trace, written at its first use; 0: no room.
    trace::StringId name_of(const Guard&, const Function&);
    // 0: it is not written yet, or not where it is looked for first.
    trace::StringId known_name_of(const Function& function) const {
        const Name& name = names_[first_name(function)];
        return name.function.load(std::memory_order_acquire) == &function ? name.text.load(std::memory_order_relaxed) : 0;
    }

  private:
    static uint32_t first_name(const Function& function) {
        return static_cast<uint32_t>(reinterpret_cast<uint64_t>(&function) / sizeof(Function)) % kNames;
    }

    struct Name {
        std::atomic<const Function*> function;
        std::atomic<trace::StringId> text;
    };
    static constexpr uint32_t kNames = 2048;

    std::atomic<uint32_t> used_, refused_;
    Name names_[kNames];
    Site sites_[kMax];
};

// Those of one thread, by their paths. Zeroed memory plus begin() is valid.
class ThreadSites {
  public:
    void begin(const StackBounds& stack); // another thread takes them over

    // The same as find() where that needs nothing but a look at the stack and at what the last call found; else null. Needs no
    // guard: only calls of MPI look here.
    Site* find_again(const Function& function, const Frame& caller, uint32_t comm) {
        const uint32_t way = way_at_[way_index(caller.pc)];
        CallPathCache* const paths = paths_[way];
        if (way_pc_[way] != caller.pc || !paths || !paths->is_same(caller))
            return nullptr;
        return near(paths->mark_of_same(), function, comm);
    }

    Site* find(const Guard& guard, Sites& all, const Function& function, const Frame& caller, uint32_t comm,
               uint64_t begin_ticks) {
        uint32_t way = way_at_[way_index(caller.pc)];
        if (__builtin_expect(way_pc_[way] != caller.pc, 0))
            way = way_of(caller.pc);
        CallPathCache* const paths = paths_[way];
        if (__builtin_expect(!paths, 0))
            return &lost_site_;
        const CallPath path = paths->find(guard, caller);
        if (Site* const site = near(*path.mark, function, comm))
            return site;
        return look_up(guard, all, function, path, paths, comm, begin_ticks);
    }
    trace::NodeId path_at(const Guard&, const Frame& caller);

    // The thread was left in the middle of recording, see Collector::repair_thread.
    void repair() {
        for (CallPathCache* const paths : paths_)
            if (paths)
                paths->forget();
    }

    // Whether a call from there was looked up lately.
    bool knows(uint64_t pc) const {
        if (__builtin_expect(way_pc_[way_at_[way_index(pc)]] == pc, 1))
            return true;
        for (const uint64_t known : way_pc_)
            if (known == pc)
                return true;
        return false;
    }

  private:
    static constexpr uint32_t kWays = 8; // call sites of one function take turns: each keeps its own path
    static constexpr uint32_t kIndexBits = 8;
    static uint32_t way_index(uint64_t pc) { return static_cast<uint32_t>(pc * 0x9e3779b97f4a7c15u >> (64 - kIndexBits)); }
    static constexpr uint32_t kNear = 4; // a path leads to its latest sites; the others are looked up

    static Site* near(void* mark, const Function& function, uint32_t comm) {
        Site* site = static_cast<Site*>(mark);
        for (uint32_t looked = 0; site && looked < kNear; site = site->next, ++looked)
            if (site->function == &function && site->comm == comm)
                return site;
        return nullptr;
    }

    // Of the call at `pc`: the one it had last, else a free one, else anyone's. The index leads there from then on.
    uint32_t way_of(uint64_t pc);
    Site* look_up(const Guard&, Sites&, const Function&, const CallPath&, CallPathCache*, uint32_t comm,
                  uint64_t begin_ticks);

    CallPathCache* paths_[kWays];
    uint64_t way_pc_[kWays]; // whose it is, 0: nobody's
    uint8_t way_at_[1u << kIndexBits]; // by way_index(): where to look first
    uint32_t next_way_;      // to be taken over when all are somebody's
    KeyTable by_key_; // of path, function and communicator: the site's id
    StackBounds stack_;
    Site lost_site_;
    trace::MpiSite lost_;
};

} // namespace plumb::shim::mpi
