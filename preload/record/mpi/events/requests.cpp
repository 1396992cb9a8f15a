#include "record/mpi/events/requests.h"

#include "platform/os/memory.h"

#include <string.h>

namespace plumb::shim::mpi {
namespace {
constexpr uint32_t kFirstCapacity = 128;

} // namespace

bool Requests::grow() {
    const uint32_t capacity = capacity_ ? capacity_ * 2 : kFirstCapacity;
    if (capacity > kMax)
        return false;
    Operation* const larger = static_cast<Operation*>(allocate_pages(capacity * sizeof(Operation), true));
    if (!larger)
        return false;
    if (operations_) {
        memcpy(larger, operations_, capacity_ * sizeof(Operation));
        release_pages(operations_, capacity_ * sizeof(Operation));
    }
    operations_ = larger;
    capacity_ = capacity;
    return true;
}

uint32_t Requests::take_place() {
    if (free_head_) {
        const uint32_t place = free_head_ - 1;
        free_head_ = operations_[place].next;
        return place;
    }
    return used_ < capacity_ || grow() ? used_++ : KeyTable::kNone;
}

Operation* Requests::add(Handle handle) {
    const uint32_t place = take_place();
    if (place == KeyTable::kNone)
        return nullptr;
    Operation* const operation = &operations_[place];
    operation->next = operation->last = 0;
    const uint32_t first = by_handle_.find(handle);
    if (first != KeyTable::kNone) {
        operations_[operations_[first].last].next = place + 1;
        operations_[first].last = place;
    } else if (by_handle_.put(handle, place, kMax)) {
        operation->last = place;
    } else {
        operation->next = free_head_;
        free_head_ = place + 1;
        return nullptr;
    }
    ++in_use_;
    return operation;
}

Operation* Requests::find(Handle handle) {
    const uint32_t place = by_handle_.find(handle);
    return place == KeyTable::kNone ? nullptr : &operations_[place];
}

void Requests::remove(Handle handle) {
    const uint32_t place = by_handle_.find(handle);
    if (place == KeyTable::kNone)
        return;
    const uint32_t next = operations_[place].next;
    if (next) {
        operations_[next - 1].last = operations_[place].last;
        by_handle_.put(handle, next - 1, kMax);
    } else {
        by_handle_.erase(handle);
    }
    operations_[place].next = free_head_;
    free_head_ = place + 1;
    --in_use_;
}

trace::MpiRequest* Requests::shown_at(const Operation& operation) {
    const auto place = static_cast<uint32_t>(&operation - operations_), slab = place / kSlabPlaces;
    return slab < kSlabs && shown_[slab] ? &shown_[slab][place % kSlabPlaces] : nullptr;
}

void Requests::show(const Guard& guard, const Operation& operation, Handle handle) {
    trace::MpiRequest* shown = shown_at(operation);
    if (__builtin_expect(!shown, 0)) {
        const auto slab = static_cast<uint32_t>(&operation - operations_) / kSlabPlaces;
        if (slab >= kSlabs || shows_no_more_)
            return;
        shown_[slab] = static_cast<trace::MpiRequest*>(
            append_free_records(guard, trace::RecordType::MpiRequest, sizeof(trace::MpiRequest), kSlabPlaces));
        shows_no_more_ = !shown_[slab];
        if (!(shown = shown_at(operation)))
            return;
    }
    if (operation.kind == Operation::Kind::other)
        return;
    const bool collective = operation.kind == Operation::Kind::collective;
    shown->flags = collective ? trace::kMpiRequestCollective : operation.flags;
    shown->peer = operation.peer;
    shown->tag = operation.tag;
    shown->comm = operation.comm_id;
    shown->tid = guard.thread().tid;
    shown->handle = handle;
    if (collective)
        shown->sequence = operation.sequence;
    __atomic_store_n(&shown->site, operation.site, __ATOMIC_RELEASE);
}

void Requests::hide(const Operation& operation) {
    if (trace::MpiRequest* const shown = shown_at(operation))
        __atomic_store_n(&shown->site, 0u, __ATOMIC_RELEASE);
}

} // namespace plumb::shim::mpi
