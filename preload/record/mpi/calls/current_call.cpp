#include "record/mpi/calls/current_call.h"

namespace plumb::shim::mpi {

void CurrentCall::begin(const Guard& guard) {
    if (record_) {
        __atomic_store_n(&record_->begin_ticks, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&record_->header.tid, guard.thread().tid, __ATOMIC_RELEASE);
    }
    if (record_ && record_ != &lost_)
        return;
    record_ = append(guard, trace::RecordType::MpiInside, trace::MpiInside{});
    if (!record_)
        record_ = &lost_;
}

} // namespace plumb::shim::mpi
