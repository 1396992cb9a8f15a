#include "record/watch/threads/awaited_threads.h"

#include <cstddef>
#include <iterator>

namespace plumb::record {

namespace {

using State = ThreadMoment::State;

// 0: of no interest here; the holders of locks have records of their own.
uint32_t relation_of(State state) {
    switch (state) {
    case State::for_peer: return trace::kWaitsForPeer;
    case State::for_child: return trace::kWaitsForChild;
    case State::for_end: return trace::kWaitsForEnd;
    case State::for_work: return trace::kWaitsForWork;
    default: return 0;
    }
}

// Where one thread is while another one waits for it in one place.
constexpr ptrdiff_t kMostPlaces = 16;

} // namespace

std::vector<LookedAtPair> AwaitedThreads::write(uint64_t now_ns, const std::vector<LookedAt>& threads) {
    std::vector<ThreadMoment> moments;
    moments.reserve(threads.size());
    bool any = false;
    for (const LookedAt& thread : threads) {
        moments.push_back(thread.moment);
        any |= relation_of(thread.moment.state) != 0;
    }
    std::vector<LookedAtPair> pairs;
    if (!any)
        return pairs;
    const WaitChain chain(moments);
    for (size_t index = 0; index < threads.size(); ++index) {
        const LookedAt& waiting = threads[index];
        if (!waiting.site || waiting.moment.idles || relation_of(waiting.moment.state) == 0)
            continue;
        const std::vector<size_t> awaited = chain.awaited_by(index);
        if (awaited.size() > kMostAwaited)
            continue;
        for (const size_t other : awaited) {
            const LookedAt& peer = threads[other];
            const trace::NodeId place = peer.path_within(waiting.waits_from_ns, waiting.waits_until_ns);
            trace::WaitedFor* record = record_of(now_ns, waiting, peer, place);
            if (!record)
                continue;
            update(record->looks, record->looks + 1);
            update(record->time_ns, record->time_ns + waiting.elapsed_ns / awaited.size());
            update(record->last_ns, now_ns);
            pairs.push_back({index, other, record});
        }
    }
    return pairs;
}

trace::WaitedFor* AwaitedThreads::record_of(uint64_t now_ns, const LookedAt& waiting, const LookedAt& peer,
                                            trace::NodeId peer_path) {
    Process& process = processes_[waiting.moment.pid];
    Key key{waiting.site, peer.moment.pid, peer.moment.tid, peer_path};
    auto known = process.records.find(key);
    if (known == process.records.end() && peer_path != 0) {
        const auto places = std::distance(process.records.lower_bound({key.site, key.peer_pid, key.peer_tid, 0}),
                                          process.records.upper_bound({key.site, key.peer_pid, key.peer_tid, UINT32_MAX}));
        if (places >= kMostPlaces || process.bytes + 2 * sizeof(trace::WaitedFor) > most_bytes_each_) {
            key.peer_path = peer_path = 0; // the rest counts without a place
            known = process.records.find(key);
        }
    }
    if (known != process.records.end())
        return known->second;
    if (process.bytes + sizeof(trace::WaitedFor) > most_bytes_each_)
        return nullptr;
    trace::WaitedFor begin{};
    begin.pid = waiting.moment.pid;
    begin.path = waiting.site->path;
    begin.system_call = waiting.site->system_call;
    begin.descriptor = waiting.site->descriptor;
    begin.object = waiting.site->object;
    begin.peer_pid = peer.moment.pid;
    begin.peer_tid = peer.moment.tid;
    begin.peer_path = peer_path;
    begin.peer_call = peer.site ? peer.site->system_call : -1;
    begin.relation = relation_of(waiting.moment.state);
    begin.first_ns = now_ns;
    trace::WaitedFor* record = file_.append(trace::RecordType::WaitedFor, waiting.moment.tid, begin);
    process.bytes += sizeof begin;
    process.records.emplace(key, record);
    return record;
}

void AwaitedThreads::forget(uint32_t pid) { processes_.erase(pid); }

void AwaitedThreads::forget_places(uint32_t pid) {
    if (const auto found = processes_.find(pid); found != processes_.end())
        found->second.records.clear();
}

} // namespace plumb::record
