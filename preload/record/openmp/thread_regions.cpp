#include "record/openmp/thread_regions.h"

#include "platform/os/ids_and_clocks.h"
#include "platform/os/memory.h"
#include "record/mpi/tables/counters.h"
#include "record/openmp/openmp_collector.h"
#include "record/openmp/runtime_clock.h"
#include "record/paths/call_path_tree.h"
#include "record/process/file_quota.h"

#include <string.h>

namespace plumb::shim::openmp {
namespace {

using mpi::add_to;
using mpi::set;
using mpi::ticks;

constexpr uint32_t kMostThreads = 4096; // of a team
// Reading a thread's CPU clock twice takes half a microsecond: in regions that are much longer, and the first ones.
constexpr uint64_t kClockedTicks = mpi::kTicksOfTenthSecond / 512;
constexpr uint64_t kFirstClocked = 4;
constexpr uint32_t kWatchedCalls = 256;

constexpr uint64_t kJudgementTicks = mpi::kTicksOfTenthSecond / 1024; // so much of a thread's time may be missing in its record
constexpr uint64_t kLengthUnitsOfMs = 250;     // units of 4 us
constexpr uint64_t kRoughLengthUnit = 8000;    // ticks: where the clock's rate is not known yet, as if one were half a nanosecond

// By the logarithm of four of the length in units.
uint32_t length_class(uint64_t length_ticks) {
    const uint64_t rate = ticks_of_ms();
    uint32_t at = 0;
    uint64_t limit = rate ? rate / kLengthUnitsOfMs : kRoughLengthUnit;
    for (; length_ticks >= limit && at < std::size(trace::OmpRegion{}.lengths) - 1; limit *= 4)
        ++at;
    return at;
}

void hand_down(Judgement& judgement) {
    if (judgement.part) {
        add_to(judgement.part->end_wait_ticks, judgement.end_wait_ticks);
        add_to(judgement.part->compared_work, judgement.compared_work);
        add_to(judgement.part->lasts, judgement.lasts);
    }
    judgement = {};
}

void hand_down_all(const Team& team) {
    for (uint32_t i = 0; i < team.invitation.capacity; ++i)
        hand_down(team.invitation.slots[i].judgement);
}

void judge(Slot& slot, uint64_t end_wait_ticks, uint64_t work_ticks, bool was_last) {
    Judgement& judgement = slot.judgement;
    if (judgement.part != slot.part) {
        hand_down(judgement);
        judgement.part = slot.part;
    }
    judgement.end_wait_ticks += end_wait_ticks;
    judgement.compared_work += work_ticks;
    judgement.lasts += was_last;
    if (judgement.end_wait_ticks + judgement.compared_work >= kJudgementTicks)
        hand_down(judgement);
}

// Null: no room.
template <class Record> Record* write(const Guard& guard, trace::RecordType type, const Record& record) {
    Record* const written = spend(guard, FileQuota::openmp, sizeof record) ? append(guard, type, record) : nullptr;
    if (!written)
        count_refused();
    return written;
}

} // namespace

ThreadRegions* ThreadRegions::make() {
    if (!collects())
        return nullptr;
    const Guard guard;
    if (!guard)
        return nullptr;
    ThreadRegions*& place = guard.thread().data<ThreadRegions>(ThreadSlot::openmp);
    ThreadRegions* regions = place;
    if (!regions)
        regions = static_cast<ThreadRegions*>(allocate_pages(sizeof(ThreadRegions), true));
    if (!regions)
        return nullptr;
    regions->begin(guard);
    place = regions;
    return regions;
}

void ThreadRegions::begin(const Guard& guard) {
    CallPathCache* const paths = paths_;
    Slot* slots[kMostDepth];
    uint32_t capacities[kMostDepth];
    for (uint32_t i = 0; i < kMostDepth; ++i) {
        slots[i] = teams_[i].invitation.slots;
        capacities[i] = teams_[i].invitation.capacity;
        for (uint32_t slot = 0; slot < capacities[i]; ++slot)
            slots[i][slot].judgement = {}; // a forked child has not its parent's records
    }
    const uint64_t serial = serial_; // slots of the former thread's regions are not taken for this one's
    memset(static_cast<void*>(this), 0, sizeof *this);
    serial_ = serial;
    paths_ = paths;
    for (uint32_t i = 0; i < kMostDepth; ++i) {
        teams_[i].invitation.slots = slots[i];
        teams_[i].invitation.capacity = capacities[i];
    }
    if (paths_)
        paths_->begin_thread(guard.thread().stack);
    tid_ = guard.thread().tid;
}

void ThreadRegions::hand_down_judgements() {
    if (ThreadRegions* const regions = known(); regions && regions->is_current())
        for (const Team& team : regions->teams_)
            hand_down_all(team);
}

bool ThreadRegions::give_room(Team& team, uint32_t threads) {
    Invitation& invitation = team.invitation;
    if (threads <= invitation.capacity)
        return true;
    if (threads > kMostThreads)
        return invitation.capacity != 0;
    uint32_t capacity = 16;
    while (capacity < threads)
        capacity *= 2;
    Slot* const slots = static_cast<Slot*>(allocate_pages(capacity * sizeof(Slot), true));
    if (!slots)
        return invitation.capacity != 0;
    hand_down_all(team);
    invitation.slots = slots; // the former ones stay: a thread of a team that never ended may yet write there
    invitation.capacity = capacity;
    return true;
}

RegionPlace* ThreadRegions::region_place(const RegionKind& kind, const Frame& caller, bool nested) {
    const uint64_t key = key_of(kind.call_site, kind.function, nested);
    RegionPlace* const place = regions_.find(key);
    if (!place || place->key == key) {
        if (!place)
            count_refused();
        return place && place->record ? place : nullptr;
    }
    const Guard guard;
    if (!guard || !runtime_record(guard, kind.runtime))
        return nullptr;
    trace::OmpRegion record{};
    record.call_site = kind.call_site;
    record.function = kind.function;
    record.schedule = static_cast<uint32_t>(kind.schedule);
    record.chunk = kind.chunk < UINT32_MAX ? static_cast<uint32_t>(kind.chunk) : UINT32_MAX;
    record.flags = nested ? uint32_t{trace::kOmpNested} : 0;
    record.first_ticks = record.last_ticks = ticks();
    if (!paths_ && (paths_ = static_cast<CallPathCache*>(allocate_pages(sizeof(CallPathCache), true))))
        paths_->begin_thread(guard.thread().stack);
    if (paths_) {
        paths_->find(guard, caller);
        record.path = paths_->node(guard);
    }
    if (record.path == 0)
        record.path = call_path_child(guard, kCutPath, kind.call_site);
    place->record = write(guard, trace::RecordType::OmpRegion, record);
    place->last_mean_ticks = 0;
    place->key = key;
    regions_.note_filled();
    return place->record ? place : nullptr;
}

// A region may begin while the thread waits at the end of another: in a task that it carries out there. That one's threads
// may still be on their way, so its team is not used.
bool ThreadRegions::start_region(const RegionKind& kind, const Frame& caller, uint32_t most_threads, Invitation& invitation) {
    settle(caller.sp - 16);
    uint32_t at = depth_;
    while (at < kMostDepth && teams_[at].open_frame > caller.sp)
        ++at;
    if (at >= kMostDepth)
        return false;
    RegionPlace* const place = region_place(kind, caller, at != 0);
    Team& team = teams_[at];
    if (!place || !give_room(team, most_threads > team.threads ? most_threads : team.threads))
        return false;
    region_of_[at] = place;
    team.open_frame = caller.sp;
    team.depth = depth_;
    team.call_site = kind.call_site;
    team.function = kind.function;
    team.path = place->record->path;
    team.tasks.store(0, std::memory_order_relaxed);
    team.schedules.store(0, std::memory_order_relaxed);
    // Both are written from here: one that is read back at once waits for whatever was written before it.
    const uint64_t serial = ++serial_, part_key = key_of(kind.call_site, kind.function);
    const bool clocked = place->record->ended < kFirstClocked || place->last_mean_ticks >= kClockedTicks;
    team.invitation.team = &team;
    team.invitation.serial = serial;
    team.invitation.part_key = part_key;
    team.invitation.clocked = clocked;
    invitation = {&team, team.invitation.slots, serial, part_key, team.invitation.capacity, clocked};
    add_to(place->record->begun, 1);
    return true;
}

trace::OmpPart* ThreadRegions::part_of(const Invitation& invitation) {
    const uint64_t key = invitation.part_key;
    if (__builtin_expect(last_part_ && last_part_->key == key, 1))
        return last_part_->record;
    const Team& team = *invitation.team;
    PartPlace* const place = part_places_.find(key);
    if (!place || (place->key != key && team.invitation.serial != invitation.serial)) { // no room, or that region is over
        count_refused();
        return nullptr;
    }
    if (place->key != key) {
        const Guard guard;
        if (!guard)
            return nullptr;
        trace::OmpPart record{};
        record.call_site = team.call_site;
        record.function = team.function;
        place->record = write(guard, trace::RecordType::OmpPart, record);
        place->key = key;
        part_places_.note_filled();
    }
    last_part_ = place;
    return place->record;
}

uint32_t ThreadRegions::enter_part(const Invitation& invitation, uint64_t frame, uint32_t number, uint32_t threads) {
    settle(frame);
    if (depth_ >= kMostDepth)
        return 0;
    trace::OmpPart* const record = part_of(invitation);
    if (!record)
        return 0;
    if (number == 0 && invitation.team->threads != threads)
        invitation.team->threads = threads;
    if (__atomic_load_n(&record->number, __ATOMIC_RELAXED) != number)
        set(record->number, number);
    const bool clocked = invitation.clocked;
    parts_[depth_] = {invitation.team, number < invitation.capacity ? invitation.slots + number : nullptr, record, frame, 0, 0,
                      clocked ? thread_cpu_ns() : 0, invitation.serial, clocked};
    parts_[depth_].begin_ticks = ticks();
    return ++depth_;
}

void ThreadRegions::leave_part(uint32_t depth, uint64_t serial) {
    const uint64_t end_ticks = ticks();
    if (depth == 0 || depth > kMostDepth || parts_[depth - 1].serial != serial)
        return;
    const Part& part = parts_[depth - 1];
    depth_ = depth - 1;
    const uint64_t span = end_ticks - part.begin_ticks;
    const uint64_t cpu_ns = part.clocked ? thread_cpu_ns() - part.begin_cpu_ns : 0;
    trace::OmpPart& record = *part.record;
    add_to(record.parts, 1);
    add_to(record.span_ticks, span);
    if (part.wait_ticks)
        add_to(record.wait_ticks, part.wait_ticks);
    if (part.clocked) {
        add_to(record.clocked, 1);
        add_to(record.clocked_ticks, span - part.wait_ticks);
        add_to(record.cpu_ns, cpu_ns);
    }
    if (Slot* const slot = part.slot) {
        slot->begin_ticks = part.begin_ticks;
        slot->end_ticks = end_ticks;
        slot->wait_ticks = part.wait_ticks;
        slot->cpu_ns = cpu_ns;
        slot->part = part.record;
        slot->serial = serial;
    }
}

// All threads have passed the region's barrier.
void ThreadRegions::compare(Team& team, RegionPlace& place, uint64_t wall_ticks) {
    trace::OmpRegion& region = *place.record;
    const uint32_t threads = team.threads;
    uint64_t last_end = 0, sum_of_ends = 0, longest_span = 0, most = 0, sum = 0, last_lacked = 0, last_cpu = 0, sum_cpu = 0;
    const Slot* last = nullptr;
    if (threads == 0 || threads > team.invitation.capacity) {
        count_unmatched();
        return;
    }
    bool clocked = team.invitation.clocked;
    for (uint32_t i = 0; i < threads; ++i) {
        const Slot& slot = team.invitation.slots[i];
        if (slot.serial != team.invitation.serial) {
            count_unmatched();
            return;
        }
        const uint64_t span = slot.end_ticks - slot.begin_ticks;
        const uint64_t work = span > slot.wait_ticks ? span - slot.wait_ticks : 0;
        const bool is_last = slot.end_ticks >= last_end;
        if (is_last) {
            last_end = slot.end_ticks;
            last = &slot;
        }
        longest_span = span > longest_span ? span : longest_span;
        most = work > most ? work : most;
        sum += work;
        if (clocked) {
            const uint64_t cpu_ticks = ticks_of_ns(slot.cpu_ns), cpu = cpu_ticks < work ? cpu_ticks : work;
            clocked = cpu_ticks != 0 || slot.cpu_ns == 0;
            last_lacked = is_last ? work - cpu : last_lacked;
            last_cpu = is_last ? cpu : last_cpu;
            sum_cpu += cpu;
        }
    }
    for (uint32_t i = 0; i < threads; ++i) {
        Slot& slot = team.invitation.slots[i];
        const uint64_t span = slot.end_ticks - slot.begin_ticks;
        sum_of_ends += last_end - slot.end_ticks;
        judge(slot, last_end - slot.end_ticks, span > slot.wait_ticks ? span - slot.wait_ticks : 0, &slot == last);
    }
    const uint64_t mean = sum / threads, mean_wait = sum_of_ends / threads;
    const uint64_t imbalance = most - mean < mean_wait ? most - mean : mean_wait;
    add_to(region.threads, threads);
    add_to(region.compared, 1);
    add_to(region.compared_ticks, wall_ticks);
    add_to(region.longest_spans, longest_span);
    add_to(region.most_work, most);
    add_to(region.mean_work, mean);
    add_to(region.imbalance, imbalance);
    if (clocked) {
        // Where threads take work as they finish, one that lacks a CPU takes less: then only the end counts, and whether the last
        // thread lacked a CPU for that long. Otherwise whether it needed more CPU time than the others.
        const bool takes_as_it_finishes = region.schedule != static_cast<uint32_t>(trace::OmpSchedule::none) &&
                                          region.schedule != static_cast<uint32_t>(trace::OmpSchedule::fixed);
        const uint64_t cpu_mean = sum_cpu / threads;
        const uint64_t cpu_imbalance = takes_as_it_finishes ? (imbalance > last_lacked ? imbalance - last_lacked : 0)
                                       : last_cpu > cpu_mean ? last_cpu - cpu_mean : 0;
        add_to(region.clocked, 1);
        add_to(region.clocked_imbalance, imbalance);
        add_to(region.cpu_imbalance, cpu_imbalance < imbalance ? cpu_imbalance : imbalance);
    }
}

void ThreadRegions::end_region(Team& team, uint64_t begin_ticks, uint64_t end_ticks) {
    const auto at = static_cast<uint32_t>(&team - teams_);
    RegionPlace& place = *region_of_[at];
    trace::OmpRegion& region = *place.record;
    team.open_frame = 0;
    depth_ = team.depth; // whatever was left behind further in
    const uint64_t wall = end_ticks - begin_ticks;
    for (uint32_t i = 0; i < team.threads && i < team.invitation.capacity; ++i) // they come from other cores
        __builtin_prefetch(&team.invitation.slots[i]);
    keep_clock(end_ticks);
    add_to(region.ended, 1);
    add_to(region.wall_ticks, wall);
    if (wall > region.longest_ticks)
        set(region.longest_ticks, wall);
    if (team.threads > region.most_threads)
        set(region.most_threads, team.threads);
    set(region.last_ticks, end_ticks);
    uint32_t& length = region.lengths[length_class(wall)];
    set(length, length + 1);
    place.last_mean_ticks = place.last_mean_ticks ? (place.last_mean_ticks * 7 + wall) / 8 : wall;
    const uint32_t schedules = team.schedules.load(std::memory_order_relaxed);
    if (schedules && region.schedule == 0 && (schedules & (schedules - 1)) == 0) { // loops of one kind only
        set(region.chunk, team.chunk.load(std::memory_order_relaxed));
        set(region.schedule, static_cast<uint32_t>(__builtin_ctz(schedules)));
    }
    if (team.tasks.load(std::memory_order_relaxed))
        set(region.flags, region.flags | trace::kOmpTasks);
    else
        compare(team, place, wall);
}

WaitPlace* ThreadRegions::wait_place(trace::OmpWaitKind kind, uint64_t pc, uint64_t object, trace::OmpSchedule schedule,
                                     uint64_t frame) {
    settle(frame);
    const Part* const part = depth_ ? &parts_[depth_ - 1] : nullptr;
    const uint64_t told_apart = kind == trace::OmpWaitKind::lock ? 0 : object; // there may be millions of locks
    const uint64_t key = key_of(pc, told_apart, part ? part->record->function : 0);
    WaitPlace* const place = waits_.find(key);
    if (!place) {
        count_refused();
        return nullptr;
    }
    if (place->key != key) {
        const Guard guard;
        if (!guard || !runtime_record(guard, nullptr))
            return nullptr;
        trace::OmpWait record{};
        record.call_site = pc;
        record.region = part ? part->record->function : 0;
        record.region_site = part ? part->record->call_site : 0;
        record.object = object;
        record.kind = static_cast<uint32_t>(kind);
        record.schedule = static_cast<uint32_t>(schedule);
        record.path = call_path_child(guard, part ? part->team->path : kCutPath, pc);
        place->record = write(guard, trace::RecordType::OmpWait, record);
        place->watched = kWatchedCalls;
        place->key = key;
        waits_.note_filled();
    }
    if (!place->record)
        return nullptr;
    if (place->record->object != object)
        set(place->record->object, 0);
    add_to(place->record->calls, 1);
    return place;
}

void ThreadRegions::add_wait(WaitPlace& place, uint64_t wait_ticks, uint64_t calls) {
    add_to(place.record->timed, calls);
    add_to(place.record->wait_ticks, wait_ticks * calls);
    if (wait_ticks > place.record->longest_wait)
        set(place.record->longest_wait, wait_ticks);
    if (depth_ != 0)
        parts_[depth_ - 1].wait_ticks += wait_ticks * calls;
}

} // namespace plumb::shim::openmp
