// What calls say of requests that complete: MPI_Wait*, MPI_Test*.
#pragma once

#include "hooks/mpi/fortran_indices.h"
#include "hooks/mpi/languages.h"
#include "hooks/mpi/statuses.h"

namespace plumb::shim::mpi {

template <class L> void will_complete(Call& call, Word request) {
    if (call.outermost() && request != 0)
        call.will_complete(request_at<L>(request));
}

template <class L> void will_complete(Call& call, Word requests, int64_t count) {
    if (call.outermost() && count > 0)
        call.will_complete(pointer(requests), static_cast<size_t>(count), L::kFortran);
}

template <class L> void one_completed(Call& call, const Status<L>& status) {
    const Arrival arrival = status.arrival();
    call.completed(0, &arrival);
}

template <class L> void all_completed(Call& call, int64_t count, const Statuses<L>& statuses) {
    for (int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<size_t>(i);
        if (statuses.known()) {
            const Arrival arrival = statuses.arrival(index);
            call.completed(index, &arrival);
        } else {
            call.completed(index, nullptr);
        }
    }
}

// False: there was no active request (MPI_UNDEFINED).
template <class L>
bool any_completed(Call& call, Word index, const typename IndicesOf<L>::Type& indices, int64_t count,
                   const Status<L>& status) {
    const int64_t position = L::integer_at(index) - indices.first(index, 1);
    if (position < 0 || position >= count)
        return false;
    const Arrival arrival = status.arrival();
    call.completed(static_cast<size_t>(position), &arrival);
    return true;
}

// False: none has, or there was no active request.
template <class L>
bool some_completed(Call& call, int64_t count, Word found, Word indices, const typename IndicesOf<L>::Type& meaning,
                    const Statuses<L>& statuses) {
    const int32_t completed = L::integer_at(found);
    const int64_t first = meaning.first(indices, completed);
    for (int32_t i = 0; i < completed && i < count; ++i) {
        const auto at = static_cast<size_t>(i);
        const int64_t position = L::integer_at(indices, at) - first;
        if (position < 0 || position >= count)
            continue;
        if (statuses.known()) {
            const Arrival arrival = statuses.arrival(at);
            call.completed(static_cast<size_t>(position), &arrival);
        } else {
            call.completed(static_cast<size_t>(position), nullptr);
        }
    }
    return completed > 0;
}

} // namespace plumb::shim::mpi
