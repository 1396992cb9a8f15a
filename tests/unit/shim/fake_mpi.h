// Stands in for an MPI library in unit tests of the recording: communicators with known members, no communication.
#pragma once

#include "record/mpi/library/library.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plumb::test {

struct FakeMpi {
    struct Group {
        std::vector<int32_t> members, remote; // ranks of the world; remote: of the other side, if there is one
    };
    static constexpr shim::mpi::Handle kWorld = 0x44000000, kSelf = 0x44000001, kNull = 0x04000000;

    int32_t rank = 1;
    std::map<shim::mpi::Handle, Group> comms;
    shim::mpi::Handle parent = kNull;
    int questions = 0; // asked of the library so far

    // A world of so many ranks, and a recording that begins anew in it.
    static FakeMpi& start(int32_t rank, int32_t size);
};

} // namespace plumb::test
