// Statuses for calls whose program ignores them: only a status tells where a message of any source came from, and how
// much of a receive's room was used. The library writes into memory of ours then, and the program sees nothing of it.
#pragma once

#include "hooks/mpi/languages.h"

namespace plumb::shim::mpi {

constexpr size_t kLargestStatus = 64;

// Nothing arrives by a receive that was cancelled, whatever its count says.
inline Arrival arrival_of(Arrival status) {
    if (status.cancelled)
        status.bytes = 0;
    return status;
}

// `word` is the argument, to be replaced before the call.
template <class L> class Status {
  public:
    Status(const Call& call, Word& word) {
        if (call.outermost() && L::is_ignored_status(word) && L::status_bytes() <= sizeof own_)
            word = reinterpret_cast<Word>(own_);
        place_ = word;
    }
    Status(const Status&) = delete;
    Status& operator=(const Status&) = delete;

    // Behind a call that is recorded.
    Arrival arrival() const { return arrival_of(read_status(pointer(place_), 0, L::kFortran)); }

    // Of calls on files, which leave other fields as they were.
    uint64_t bytes() const { return read_status(pointer(place_), 0, L::kFortran).bytes; }

  private:
    Word place_;
    alignas(8) char own_[kLargestStatus]{}; // calls on files set the count alone
};

// For more statuses than fit on the stack. Thread-safe, never blocks; null: there is no memory.
struct StatusMemory {
    size_t bytes; // behind this
    size_t reserved;

    void* start() { return this + 1; }
};
constexpr size_t kMostStatusBytes = 64 << 20;
StatusMemory* borrow_status_memory(size_t bytes);
void return_status_memory(StatusMemory*);

template <class L> class Statuses {
  public:
    Statuses(const Call& call, int64_t count, Word& word) {
        if (call.outermost() && count > 0 && L::is_ignored_status(word) && call.wants_statuses()) {
            const size_t bytes = static_cast<size_t>(count) * L::status_bytes();
            if (bytes <= sizeof own_)
                word = reinterpret_cast<Word>(own_);
            else if ((borrowed_ = borrow_status_memory(bytes)))
                word = reinterpret_cast<Word>(borrowed_->start());
        }
        place_ = word;
    }
    ~Statuses() {
        if (borrowed_)
            return_status_memory(borrowed_);
    }
    Statuses(const Statuses&) = delete;
    Statuses& operator=(const Statuses&) = delete;

    // Behind a call that is recorded.
    bool known() const { return !L::is_ignored_status(place_); }
    Arrival arrival(size_t index) const { return arrival_of(read_status(pointer(place_), index, L::kFortran)); }

  private:
    Word place_;
    StatusMemory* borrowed_ = nullptr;
    alignas(8) char own_[1024];
};

} // namespace plumb::shim::mpi
