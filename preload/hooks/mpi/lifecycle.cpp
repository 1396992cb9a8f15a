#include "hooks/mpi/lifecycle.h"

namespace plumb::shim::mpi {
namespace {

std::atomic<int> open_parts{0}; // the world and the sessions: MPI ends with the last of them
std::atomic<bool> is_ending{false};

// 0 single, 1 funneled, 2 serialized, 3 multiple.
int thread_level_provided() {
    int level = 0;
    const auto query = reinterpret_cast<int (*)(int*)>(find_own_function("PMPI_Query_thread"));
    if (!query || query(&level) != 0)
        return 0;
    if (library().kind != trace::MpiLibrary::standard_abi)
        return level;
    return level >= 4096 ? 3 : level / 1024; // 0, 1024, 2048, 4096
}

} // namespace

__thread int LifeCall::depth_ = 0;

void LifeCall::will_start() const {
    if (outermost() && open_parts.load() == 0 && library_is_loaded())
        mpi_will_start();
}

// The level is not asked for in a session, which has no MPI_Query_thread before the world is there.
void LifeCall::started(bool session) const {
    if (outermost() && open_parts.fetch_add(1) == 0)
        mpi_started(session ? 0 : thread_level_provided(), session);
}

void LifeCall::will_end() const {
    if (outermost() && open_parts.load() > 0 && open_parts.fetch_sub(1) == 1) {
        is_ending.store(true);
        mpi_will_end();
    }
}

void LifeCall::ended() const {
    if (outermost() && is_ending.exchange(false))
        mpi_ended();
}

void LifeCall::aborted() const {
    if (outermost() && library_is_loaded())
        mpi_aborted();
}

void LifeCall::controlled(int level) const {
    if (outermost() && library_is_loaded())
        mpi_control(level);
}

} // namespace plumb::shim::mpi
