// What one thread does in OpenMP: the regions that it starts, its parts in regions, its waits.
//
// The usual path takes no Guard and no lock: it adds to counters of the thread's own records, which a jump out of it at any
// instruction leaves valid. Only a place in the code that the thread meets for the first time takes a Guard. How deep the
// thread is in regions is kept by the stack: what lies further in than the calling function was left without a return.
#pragma once

#include "record/mpi/tables/clock.h"
#include "record/openmp/places.h"
#include "record/openmp/team.h"
#include "record/paths/call_path.h"
#include "record/process/thread_state.h"

namespace plumb::shim::openmp {

struct RegionPlace {
    uint64_t key;
    trace::OmpRegion* record;
    uint64_t last_mean_ticks; // how long it lasts, roughly
};
struct PartPlace {
    uint64_t key;
    trace::OmpPart* record;
};
struct WaitPlace {
    uint64_t key;
    trace::OmpWait* record;
    uint32_t watched; // so many calls more are timed whatever the lock looks like
};

// What a call of a region says of itself.
struct RegionKind {
    uint64_t call_site, function;
    trace::OmpSchedule schedule;
    uint64_t chunk;
    const void* runtime; // a function of it
};

class ThreadRegions {
  public:
    void begin(const Guard&); // another thread takes it over

    // The calling thread's; null: it is not recorded. `of_this_thread` makes it at the first call.
    static ThreadRegions* known() { return this_thread ? this_thread->data<ThreadRegions>(ThreadSlot::openmp) : nullptr; }
    static ThreadRegions* of_this_thread() {
        ThreadRegions* const regions = known();
        return __builtin_expect(regions && regions->is_current(), 1) ? regions : make();
    }

    // Around a call that runs a region, by its caller. `most_threads`: how many may take part. False: it is not recorded,
    // and the invitation is as it was.
    bool start_region(const RegionKind&, const Frame& caller, uint32_t most_threads, Invitation&);
    void end_region(Team&, uint64_t begin_ticks, uint64_t end_ticks);
    bool owns(const Team& team) const { return &team >= teams_ && &team < teams_ + kMostDepth; }

    // Around the part of one thread; `frame`: of the function that runs it. The depth to be handed to leave_part(), 0: not recorded.
    uint32_t enter_part(const Invitation&, uint64_t frame, uint32_t number, uint32_t threads);
    void leave_part(uint32_t depth, uint64_t serial);
    void leave_part(uint32_t depth) { // whichever region it is
        if (depth != 0 && depth <= kMostDepth)
            leave_part(depth, parts_[depth - 1].serial);
    }

    // What the calling thread found out about the threads of its teams reaches their records.
    static void hand_down_judgements();

    // One wait, from `begin_ticks` to `end_ticks`. `pc`: its call. Null: no room.
    WaitPlace* wait_place(trace::OmpWaitKind kind, uint64_t pc, uint64_t object, trace::OmpSchedule schedule, uint64_t frame);
    // `calls`: how many it stands for.
    void add_wait(WaitPlace&, uint64_t wait_ticks, uint64_t calls = 1);

    // The thread waits where it may carry out tasks: its wait would count them.
    bool may_run_tasks(uint64_t frame) {
        settle(frame);
        return depth_ != 0 && parts_[depth_ - 1].team->tasks.load(std::memory_order_relaxed) != 0;
    }
    void note_task(uint64_t frame) {
        settle(frame);
        if (depth_ != 0 && parts_[depth_ - 1].team->tasks.load(std::memory_order_relaxed) == 0)
            parts_[depth_ - 1].team->tasks.store(1, std::memory_order_relaxed);
    }

    void note_loop(trace::OmpSchedule schedule, uint64_t chunk, uint64_t frame) {
        settle(frame);
        if (depth_ == 0)
            return;
        Team& team = *parts_[depth_ - 1].team;
        const uint32_t known = team.schedules.load(std::memory_order_relaxed), bit = 1u << static_cast<uint32_t>(schedule);
        if ((known & bit) == 0) {
            team.chunk.store(chunk < UINT32_MAX ? static_cast<uint32_t>(chunk) : UINT32_MAX, std::memory_order_relaxed);
            team.schedules.fetch_or(bit, std::memory_order_relaxed);
        }
    }

    // A lock or critical that the thread has waited for and now holds; null: none that is timed.
    WaitPlace* held = nullptr;
    uint64_t held_object = 0, held_since_ticks = 0;

    // What the thread waits for now, where its begin and end are reported one by one.
    WaitPlace* acquires = nullptr;
    uint64_t waits_since_ticks = 0;

  private:
    static constexpr uint32_t kMostDepth = 8;
    struct Part { // of a region that the thread is in
        Team* team;
        Slot* slot; // null: too many threads
        trace::OmpPart* record;
        uint64_t frame;
        uint64_t begin_ticks, wait_ticks, begin_cpu_ns;
        uint64_t serial;
        bool clocked;
    };

    static ThreadRegions* make();
    bool is_current() const {
        return tid_ == this_thread->tid && this_thread->live.load(std::memory_order_relaxed);
    }
    void settle(uint64_t frame) { // the stack grows downwards
        while (__builtin_expect(depth_ != 0 && parts_[depth_ - 1].frame <= frame, 0))
            --depth_;
    }
    bool give_room(Team&, uint32_t threads);
    RegionPlace* region_place(const RegionKind&, const Frame& caller, bool nested);
    trace::OmpPart* part_of(const Invitation&);
    void compare(Team&, RegionPlace&, uint64_t wall_ticks);

    uint32_t tid_;
    uint32_t depth_;
    Part parts_[kMostDepth];
    Team teams_[kMostDepth];
    RegionPlace* region_of_[kMostDepth];
    uint64_t serial_;
    PartPlace* last_part_;
    CallPathCache* paths_; // of those that start regions
    Places<RegionPlace, 256> regions_;
    Places<PartPlace, 256> part_places_;
    Places<WaitPlace, 512> waits_;
};

} // namespace plumb::shim::openmp
