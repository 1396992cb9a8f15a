// Which element of Fortran's array of requests an index means.
//
// Fortran counts from 1. MPICH 4.0's mpi_f08 module does not: its MPI_Waitany, MPI_Waitsome, MPI_Testany and
// MPI_Testsome hand out C's indices, from 0. Nothing but the array itself tells: a request that completes becomes
// null. Persistent ones do not; for them, what was seen last holds.
#pragma once

#include "hooks/mpi/languages.h"

#include <atomic>

namespace plumb::shim::mpi {

class FortranIndices {
  public:
    // Before the call. Arrays larger than this remembers are taken to be counted from 1.
    FortranIndices(bool wanted, Word requests, int64_t count) : requests_(requests), count_(0) {
        if (!wanted || library().kind != trace::MpiLibrary::mpich || count <= 0 || count > kMost)
            return;
        count_ = count;
        for (int64_t i = 0; i < count; ++i)
            active_[i / 64] |= uint64_t{!is_null(i)} << (i % 64);
    }

    // Behind it: what the first element's index is, 0 or 1.
    int64_t first(Word indices, int32_t found) const {
        if (count_ == 0 || found <= 0)
            return 1;
        const int64_t last = last_first.load(std::memory_order_relaxed);
        for (const int64_t first : {last, 1 - last})
            if (all_completed(indices, found, first)) {
                last_first.store(first, std::memory_order_relaxed);
                return first;
            }
        return last;
    }

  private:
    static constexpr int64_t kMost = 512;
    static inline constinit std::atomic<int64_t> last_first{1};

    bool is_null(int64_t element) const {
        return Fortran::handle_at(HandleKind::request, requests_, static_cast<size_t>(element)) == library().null_request;
    }
    bool all_completed(Word indices, int32_t found, int64_t first) const {
        for (int32_t i = 0; i < found; ++i) {
            const int64_t element = Fortran::integer_at(indices, static_cast<size_t>(i)) - first;
            if (element < 0 || element >= count_ || !(active_[element / 64] >> (element % 64) & 1) || !is_null(element))
                return false;
        }
        return true;
    }

    Word requests_;
    int64_t count_;
    uint64_t active_[kMost / 64]{};
};

// C counts from 0.
struct CIndices {
    CIndices(bool, Word, int64_t) {}
    int64_t first(Word, int32_t) const { return 0; }
};

template <class L> struct IndicesOf { using Type = CIndices; };
template <class Count, bool descriptors> struct IndicesOf<InFortran<Count, descriptors>> { using Type = FortranIndices; };

} // namespace plumb::shim::mpi
