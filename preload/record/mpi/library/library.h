// Which MPI library this process uses, its constants, and the few functions of it that the recording calls.
//
// No header of any MPI is used: one shim serves Open MPI (handles are pointers, the world is the address of
// ompi_mpi_comm_world), the MPICH family (handles are integers, the world is 0x44000000) and the standard ABI of
// MPI-5 (handles are pointers with small values, the world is 0x101; recognised by MPI_Abi_get_version). Anything
// else is passed through and said to be unknown.
#pragma once

#include "platform/os/hidden.h"
#include "record/mpi/mpi_call.h"

#include <atomic>

namespace plumb::shim::mpi {

struct Library {
    trace::MpiLibrary kind; // unknown: nothing may be recorded
    Handle world, self, null_comm, null_request;
    Handle byte_type;
    int32_t any_source, any_tag, no_process, root; // root: MPI_ROOT of inter-communicators
    const void* in_place;        // C's
    const void* ignored_status;  // C's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE
    size_t status_bytes;         // of one MPI_Status in C
    size_t handle_bytes;         // of one handle in C, 4 or 8
    uint32_t status_integers;    // INTEGERs of one status in Fortran (MPI_STATUS_SIZE)
    int32_t undefined;           // MPI_UNDEFINED, of indices
    Handle no_process_message;   // MPI_MESSAGE_NO_PROC
};

extern std::atomic<const Library*> known_library PLUMB_HIDDEN; // null: not looked for yet
const Library& find_library();

// Found at the first MPI call, by symbols of the libraries that are loaded; the same from then on. Thread-safe.
inline const Library& library() {
    const Library* const known = known_library.load(std::memory_order_acquire);
    return __builtin_expect(known != nullptr, 1) ? *known : find_library();
}

// Whether any MPI library is loaded, known or not.
bool library_is_loaded();

// Fortran's special places. mpif.h and `use mpi` have others than mpi_f08, and a library may set them as late as in
// Fortran's MPI_INIT, so each is asked for in turn. Cheap; false where nothing is known of them.
bool is_in_place_in_fortran(const void* buffer);
bool is_ignored_status_in_fortran(const void* status); // also of arrays of them

// The function that the program would have called without the shim: behind it in the search order (another tool's,
// or the library's own), or of a library that was opened privately (dlopen with RTLD_LOCAL). Null: there is none.
void* find_function(const char* name);

// The library's own, from the same library: "PMPI_Type_size". Null: there is none.
void* find_own_function(const char* name);

// Fortran's integers to handles and back (PMPI_*_f2c, or the identity).
enum class HandleKind { comm, type, request, window, file, group, message, session, info, op };
Handle from_fortran(HandleKind, int32_t);

// Bytes of one element of a datatype (PMPI_Type_size, remembered until type_freed()); 0 for the null type.
uint64_t type_bytes(Handle type);

// What a status says, by the library's layout; index: in an array of them.
Arrival read_status(const void* statuses, size_t index, bool fortran);

} // namespace plumb::shim::mpi
