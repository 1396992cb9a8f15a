#include "record/mpi/events/channels.h"

#include "platform/os/memory.h"
#include "record/mpi/tables/counters.h"

namespace plumb::shim::mpi {

trace::MpiPeer* Peers::row(const Guard& guard, int32_t peer, trace::MpiDirection direction) {
    const auto way = static_cast<uint32_t>(direction);
    for (;;) {
        const uint64_t key = uint64_t{static_cast<uint32_t>(peer)} << 3 | way;
        const uint32_t place = table_.find(key);
        if (place != KeyTable::kNone)
            return rows_[place];
        if (used_ < (peer < 0 ? kMax + 4 : kMax)) { // four rows are kept for the others
            trace::MpiPeer record{};
            record.peer = peer;
            record.direction = way;
            trace::MpiPeer* const made = append(guard, trace::RecordType::MpiPeer, record);
            if (made && table_.put(key, used_, kMax + 4)) {
                rows_[used_++] = made;
                return made;
            }
        }
        ++refused_;
        if (peer < 0)
            return nullptr;
        peer = -1;
    }
}

void Peers::count(const Guard& guard, int32_t peer, trace::MpiDirection direction, uint64_t bytes) {
    trace::MpiPeer* const counts = row(guard, peer, direction);
    if (!counts)
        return;
    add_to(counts->messages, 1);
    add_to(counts->bytes, bytes);
    add_to(counts->size_histogram[size_class(bytes)], 1);
}

uint64_t Channels::key_of(const Comm& comm, int32_t sender, int32_t receiver, int32_t tag, bool sent) {
    const uint64_t ends = uint64_t{static_cast<uint32_t>(sender)} << 32 | static_cast<uint32_t>(receiver);
    const uint64_t kind = uint64_t{comm.id} << 33 | uint64_t{sent} << 32 | static_cast<uint32_t>(tag);
    // Two products side by side: this is on the way of every message. Channels that share a key are no concern below
    // some hundreds of millions of them.
    return kind * 0x9e3779b97f4a7c15u ^ ((ends ^ ends >> 29) * 0xbf58476d1ce4e5b9u >> 3 | ends << 61);
}

Channels::Number Channels::next(const Comm& comm, int32_t sender, int32_t receiver, int32_t tag, bool sent) {
    if (!comm.id || sender < 0 || receiver < 0)
        return {false, 0};
    const uint64_t key = key_of(comm, sender, receiver, tag, sent);
    uint32_t place = table_.find(key);
    if (place == KeyTable::kNone) {
        if (!next_ && !(next_ = static_cast<uint64_t*>(allocate_pages(kMax * sizeof *next_, true))))
            return {false, 0};
        if (!table_.put(key, used_, kMax))
            return {false, 0};
        place = used_++;
        const uint64_t ends = uint64_t{static_cast<uint32_t>(sender)} << 32 | static_cast<uint32_t>(receiver);
        next_[place] = mix(mix(comm.identity(), ends), static_cast<uint32_t>(tag)) & UINT32_MAX;
    }
    return {true, next_[place]++};
}

void Channels::take_back(const Comm& comm, int32_t sender, int32_t receiver, int32_t tag, uint64_t sequence) {
    const uint32_t place = table_.find(key_of(comm, sender, receiver, tag, false));
    if (place != KeyTable::kNone && next_[place] == sequence + 1)
        --next_[place];
}

} // namespace plumb::shim::mpi
