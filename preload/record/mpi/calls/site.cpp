#include "record/mpi/calls/site.h"

#include "platform/os/memory.h"
#include "record/mpi/tables/clock.h"
#include "record/mpi/tables/mix.h"

#include <string.h>

namespace plumb::shim::mpi {

// The functions' table is the program's own: their addresses are unique.
trace::StringId Sites::name_of(const Guard& guard, const Function& function) {
    for (uint32_t at = first_name(function), tries = 0; tries < kNames; at = (at + 1) % kNames, ++tries) {
        Name& name = names_[at];
        const Function* found = name.function.load(std::memory_order_acquire);
        if (!found && name.function.compare_exchange_strong(found, &function))
            found = &function;
        if (found != &function)
            continue;
        trace::StringId text = name.text.load(std::memory_order_relaxed);
        if (!text) { // two threads may both write it: readers do not mind
            text = write_string(guard, function.name, strlen(function.name));
            name.text.store(text, std::memory_order_relaxed);
        }
        return text;
    }
    return 0;
}

Site* Sites::add(const Guard& guard, const Function& function, trace::NodeId path, uint32_t comm,
                 uint64_t first_ticks) {
    const uint32_t place = used_.load(std::memory_order_relaxed) < kMax ? used_.fetch_add(1) : kMax;
    if (place >= kMax) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    trace::MpiSite record{};
    record.id = place + 1;
    record.kind = function.kind;
    record.call = name_of(guard, function);
    record.path = path;
    record.comm = comm;
    record.first_ticks = record.last_ticks = first_ticks ? first_ticks : ticks();
    trace::MpiSite* const kept = append(guard, trace::RecordType::MpiSite, record);
    if (!kept) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    sites_[place] = {kept, &function, place + 1, comm, nullptr, 0, 0};
    return &sites_[place];
}

void ThreadSites::begin(const StackBounds& stack) {
    stack_ = stack;
    for (CallPathCache* paths : paths_)
        if (paths)
            paths->begin_thread(stack);
    by_key_.clear();
    lost_ = {};
    lost_site_ = {&lost_, nullptr, 0, 0, nullptr, 0, 0};
}

uint32_t ThreadSites::way_of(uint64_t pc) {
    uint32_t way = 0;
    while (way < kWays && way_pc_[way] != pc)
        ++way;
    if (way == kWays) {
        for (way = 0; way < kWays && way_pc_[way];)
            ++way;
        if (way == kWays)
            way = next_way_++ % kWays;
        way_pc_[way] = pc;
        if (!paths_[way] && (paths_[way] = static_cast<CallPathCache*>(allocate_pages(sizeof(CallPathCache), true))))
            paths_[way]->begin_thread(stack_);
    }
    way_at_[way_index(pc)] = static_cast<uint8_t>(way);
    return way;
}

trace::NodeId ThreadSites::path_at(const Guard& guard, const Frame& caller) {
    CallPathCache* const paths = paths_[way_of(caller.pc)];
    if (!paths)
        return 0;
    paths->find(guard, caller);
    return paths->node(guard);
}

Site* ThreadSites::look_up(const Guard& guard, Sites& all, const Function& function, const CallPath& path,
                           CallPathCache* paths, uint32_t comm, uint64_t begin_ticks) {
    if (!all.is_fine())
        comm = 0;
    const uint64_t key = mix(mix(path.key, comm), reinterpret_cast<uint64_t>(&function));
    Site* site = nullptr;
    if (const uint32_t id = by_key_.find(key); id != KeyTable::kNone) {
        site = all.at(id);
    } else {
        site = all.add(guard, function, paths->node(guard), comm, begin_ticks);
        if (!site || !by_key_.put(key, site->id, Sites::kMax))
            return site ? site : &lost_site_;
        site->next = static_cast<Site*>(*path.mark);
    }
    *path.mark = site;
    return site;
}

} // namespace plumb::shim::mpi
