#include "record/watch/threads/lock_holders.h"

#include <algorithm>
#include <utility>

namespace plumb::record {

namespace {

using State = ThreadMoment::State;

bool waits_for_lock(const LookedAt& thread) {
    return thread.site && thread.moment.state == State::for_thread && thread.moment.waits_for != 0;
}

} // namespace

void LockHolders::write(uint64_t now_ns, std::vector<LookedAt>& threads) {
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> held; // since when, by process and lock
    for (const LookedAt& thread : threads)
        if (waits_for_lock(thread)) {
            uint64_t& since_ns = held[{thread.moment.pid, thread.waits_at}];
            since_ns = std::max(since_ns, thread.waits_from_ns);
        }
    if (held.empty())
        return;
    std::unordered_map<uint32_t, const LookedAt*> by_tid;
    std::unordered_map<uint32_t, size_t> woken; // threads, by process
    for (const LookedAt& thread : threads) {
        by_tid[thread.moment.tid] = &thread;
        woken[thread.moment.pid] += thread.is_woken;
    }
    for (LookedAt& thread : threads) {
        if (!waits_for_lock(thread))
            continue;
        const auto found = by_tid.find(thread.moment.waits_for);
        if (found == by_tid.end())
            continue;
        const LookedAt& holder = *found->second;
        const uint64_t since_ns = std::max(held.at({thread.moment.pid, thread.waits_at}), holder.unblocked_ns);
        const bool is_sure = holder.unblocked_ns != 0 && woken.at(thread.moment.pid) == 0;
        const trace::NodeId path = holder.site || is_sure ? holder.path_within(since_ns, now_ns) : 0;
        thread.holder = record_of(now_ns, thread.moment.pid,
                                  {thread.moment.tid, thread.site->path, thread.site->object, holder.moment.tid, path,
                                   holder.site ? holder.site->system_call : -1,
                                   holder.lacks_cpu ? uint32_t{trace::kHolderLacksCpu} : 0});
        if (!thread.holder)
            continue;
        update(thread.holder->looks, thread.holder->looks + 1);
        update(thread.holder->time_ns, thread.holder->time_ns + thread.elapsed_ns);
        update(thread.holder->last_ns, now_ns);
    }
}

// Null: no room.
trace::LockHolder* LockHolders::record_of(uint64_t now_ns, uint32_t pid, const Key& key) {
    Process& process = processes_[pid];
    const auto known = process.records.find(key);
    if (known != process.records.end())
        return known->second;
    if (process.bytes + sizeof(trace::LockHolder) > most_bytes_each_)
        return nullptr;
    trace::LockHolder begin{};
    begin.pid = pid;
    begin.path = key.path;
    begin.object = key.object;
    begin.holder = key.holder;
    begin.holder_path = key.holder_path;
    begin.holder_call = key.holder_call;
    begin.flags = key.flags;
    begin.first_ns = now_ns;
    trace::LockHolder* record = file_.append(trace::RecordType::LockHolder, key.tid, begin);
    if (!record)
        return nullptr;
    process.bytes += sizeof begin;
    process.records.emplace(key, record);
    return record;
}

void LockHolders::forget_places(uint32_t pid) {
    if (const auto found = processes_.find(pid); found != processes_.end())
        found->second.records.clear();
}

} // namespace plumb::record
