#include "record/mpi/communicators/comms.h"

#include "platform/os/memory.h"

namespace plumb::shim::mpi {
namespace {

constexpr uint32_t kGroupsMax = 65536;
constexpr uint64_t kGuessed = 0x67756573736564; // keeps the numbering of communicators whose creation was seen

} // namespace

Comm* Comms::find(Handle handle) {
    const uint32_t place = by_handle_.find(handle);
    return place == KeyTable::kNone ? nullptr : &comms_[place];
}

// Places are used again as late as possible: operations that are still under way remember them.
Comm* Comms::free_place() {
    if (!comms_) {
        comms_ = static_cast<Comm*>(allocate_pages(kLivingMax * sizeof(Comm), true));
        freed_next_ = static_cast<uint32_t*>(allocate_pages(kLivingMax * sizeof(uint32_t), true));
        if (!comms_ || !freed_next_) {
            comms_ = nullptr;
            return nullptr;
        }
    }
    if (used_ < kLivingMax)
        return &comms_[used_++];
    if (!freed_head_)
        return nullptr;
    Comm* const comm = &comms_[freed_head_ - 1];
    freed_head_ = freed_next_[freed_head_ - 1];
    return comm;
}

uint32_t Comms::next_ordinal(uint64_t group_hash) {
    const uint32_t former = ordinals_.find(group_hash);
    const uint32_t ordinal = former == KeyTable::kNone ? 0 : former + 1;
    ordinals_.put(group_hash, ordinal, kGroupsMax);
    return ordinal;
}

Comm* Comms::add(const Guard& guard, const Making& making, const CommFacts& facts, Origin origin) {
    remove(making.handle);
    Comm* const comm = free_place();
    CommFacts own = facts;
    if (!comm || !by_handle_.put(making.handle, place_of(comm), kLivingMax)) {
        own.release();
        ++refused_;
        return nullptr;
    }
    if (origin == Origin::guessed)
        own.group_hash = mix(own.group_hash, kGuessed);
    const uint32_t kind = making.flags & (trace::kMpiCommWindow | trace::kMpiCommFile);
    if (kind)
        own.group_hash = mix(own.group_hash, kind);
    *comm = {making.handle, 0, comm->generation + 1, next_ordinal(own.group_hash), 0, own, nullptr};
    __atomic_fetch_add(&generation_, 1, __ATOMIC_RELEASE);
    if (records_ >= kRecordsMax || (kind && records_of_others_ >= kRecordsOfOthersMax)) {
        ++refused_;
        return comm;
    }
    trace::MpiComm record{};
    record.id = records_ + 1;
    record.flags = making.flags | (own.inter ? uint32_t{trace::kMpiCommInter} : 0);
    record.group_hash = own.group_hash;
    record.ordinal = comm->ordinal;
    record.rank = own.rank;
    record.size = own.local.size;
    record.remote_size = own.remote.size;
    record.parent = making.parent;
    record.path = making.path;
    record.first = own.local.world_rank(0);
    record.time_ticks = making.time_ticks;
    record.handle = making.handle;
    comm->record = append(guard, trace::RecordType::MpiComm, record);
    if (!comm->record) {
        ++refused_;
        return comm;
    }
    comm->id = ++records_;
    if (kind)
        ++records_of_others_;
    return comm;
}

void Comms::remove(Handle handle) {
    Comm* const comm = find(handle);
    if (!comm)
        return;
    by_handle_.erase(handle);
    comm->handle = 0;
    if (comm->facts.local.table || comm->facts.remote.table)
        comm->facts.release(); // whom a receive from any source hears now is not known
    __atomic_fetch_add(&generation_, 1, __ATOMIC_RELEASE);
    const uint32_t place = place_of(comm) + 1;
    freed_next_[place - 1] = 0;
    if (freed_head_)
        freed_next_[freed_tail_ - 1] = place;
    else
        freed_head_ = place;
    freed_tail_ = place;
}

} // namespace plumb::shim::mpi
