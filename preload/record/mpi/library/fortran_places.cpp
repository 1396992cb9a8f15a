// What stands for MPI_IN_PLACE and MPI_STATUS(ES)_IGNORE in Fortran: variables, known by their addresses.
//
//  - Open MPI: common blocks of fixed names in the spelling of the Fortran compiler, the same for mpi_f08.
//  - MPICH: common blocks whose addresses the library writes into variables of its own when Fortran first calls it;
//    mpi_f08 has variables of fixed names.
//  - Everywhere: MPI_F_STATUS_IGNORE and MPI_F_STATUSES_IGNORE are pointers to the places of mpif.h.
#include "record/mpi/library/library.h"
#include "record/mpi/library/library_symbols.h"

#include <atomic>

namespace plumb::shim::mpi {
namespace {

// A place is at an address, or wherever a pointer of the library points at that moment.
struct Place {
    const char* name;
    bool is_pointer;
    std::atomic<const void*> found;
};

template <size_t count> struct Places {
    Place places[count];
    std::atomic<bool> looked_up;

    void look_up() {
        for (Place& place : places)
            place.found.store(find_variable(place.name), std::memory_order_relaxed);
        looked_up.store(true, std::memory_order_release);
    }

    bool contain(const void* address) {
        if (!looked_up.load(std::memory_order_acquire))
            look_up();
        for (const Place& place : places) {
            const void* at = place.found.load(std::memory_order_relaxed);
            if (at && place.is_pointer)
                at = *static_cast<const void* const*>(at);
            if (at && at == address)
                return true;
        }
        return false;
    }
};

constinit Places<6> in_place{{{"mpi_fortran_in_place_", false, nullptr},
                              {"mpi_fortran_in_place", false, nullptr},
                              {"mpi_fortran_in_place__", false, nullptr},
                              {"MPI_FORTRAN_IN_PLACE", false, nullptr},
                              {"MPIR_F_MPI_IN_PLACE", true, nullptr},
                              {"MPIR_F08_MPI_IN_PLACE", false, nullptr}},
                             false};

constinit Places<12> ignored_status{{{"MPI_F_STATUS_IGNORE", true, nullptr},
                                     {"MPI_F_STATUSES_IGNORE", true, nullptr},
                                     {"mpi_fortran_status_ignore_", false, nullptr},
                                     {"mpi_fortran_status_ignore", false, nullptr},
                                     {"mpi_fortran_status_ignore__", false, nullptr},
                                     {"MPI_FORTRAN_STATUS_IGNORE", false, nullptr},
                                     {"mpi_fortran_statuses_ignore_", false, nullptr},
                                     {"mpi_fortran_statuses_ignore", false, nullptr},
                                     {"mpi_fortran_statuses_ignore__", false, nullptr},
                                     {"MPI_FORTRAN_STATUSES_IGNORE", false, nullptr},
                                     {"MPI_F08_STATUS_IGNORE", true, nullptr},
                                     {"MPI_F08_STATUSES_IGNORE", true, nullptr}},
                                    false};

} // namespace

bool is_in_place_in_fortran(const void* buffer) { return buffer && in_place.contain(buffer); }
bool is_ignored_status_in_fortran(const void* status) { return status && ignored_status.contain(status); }

} // namespace plumb::shim::mpi
