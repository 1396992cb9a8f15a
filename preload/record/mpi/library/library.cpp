#include "record/mpi/library/library.h"

#include "platform/code/signals_blocked.h"
#include "platform/os/futex_lock.h"
#include "record/mpi/library/library_symbols.h"

#include <string.h>

namespace plumb::shim::mpi {

constinit std::atomic<const Library*> known_library{nullptr};

namespace {

Library known{};
constinit FutexLock filling{};
constinit const Library kNoLibrary{};

Handle address_of(const char* variable) { return reinterpret_cast<Handle>(find_variable(variable)); }

const void* constant(intptr_t value) { return reinterpret_cast<const void*>(value); }

// Handles are addresses of objects of the library, which the executable may hold copies of.
void describe_open_mpi(Library& library) {
    library.kind = trace::MpiLibrary::open_mpi;
    library.world = address_of("ompi_mpi_comm_world");
    library.self = address_of("ompi_mpi_comm_self");
    library.null_comm = address_of("ompi_mpi_comm_null");
    library.null_request = address_of("ompi_request_null");
    library.byte_type = address_of("ompi_mpi_byte");
    library.no_process_message = address_of("ompi_message_no_proc");
    library.any_source = -1;
    library.any_tag = -1;
    library.no_process = -2;
    library.root = -4;
    library.in_place = constant(1);
    library.ignored_status = constant(0);
    library.status_bytes = 24;
    library.handle_bytes = 8;
    library.status_integers = 6;
}

// The values of the ABI that MPICH 3.1 and everything derived from it keep to.
void describe_mpich(Library& library) {
    library.kind = trace::MpiLibrary::mpich;
    library.world = 0x44000000;
    library.self = 0x44000001;
    library.null_comm = 0x04000000;
    library.null_request = 0x2c000000;
    library.byte_type = 0x4c00010d;
    library.no_process_message = 0x6c000000;
    library.any_source = -2;
    library.any_tag = -1;
    library.no_process = -1;
    library.root = -3;
    library.in_place = constant(-1);
    library.ignored_status = constant(1);
    library.status_bytes = 20;
    library.handle_bytes = 4;
    library.status_integers = 5;
}

// MPI 5.0, chapter 20.
void describe_standard_abi(Library& library) {
    library.kind = trace::MpiLibrary::standard_abi;
    library.world = 0x101;
    library.self = 0x102;
    library.null_comm = 0x100;
    library.null_request = 0x180;
    library.byte_type = 0x247;
    library.no_process_message = 0x129;
    library.any_source = -1;
    library.any_tag = -2;
    library.no_process = -3;
    library.root = -4;
    library.in_place = constant(1);
    library.ignored_status = constant(0);
    library.status_bytes = 32;
    library.handle_bytes = 8;
    library.status_integers = 8;
}

// Libraries that do not follow the standard ABI have the function, too: it says -1 then.
bool follows_standard_abi() {
    const auto version = find_function_as<int (*)(int*, int*)>(find_own_function, "PMPI_Abi_get_version");
    int major = -1, minor = -1;
    return version && version(&major, &minor) == 0 && major >= 1;
}

// MPICH's mpi.h names MPIR_Dup_fn (it is MPI_COMM_DUP_FN), so that every library with its ABI exports it.
void describe(Library& library) {
    library.undefined = -32766;
    if (follows_standard_abi())
        describe_standard_abi(library);
    else if (find_variable("ompi_mpi_comm_world"))
        describe_open_mpi(library);
    else if (find_own_function("MPIR_Dup_fn"))
        describe_mpich(library);
}

} // namespace

bool library_is_loaded() { return find_own_function("PMPI_Init") != nullptr; }

const Library& find_library() {
    if (const Library* const ready = known_library.load(std::memory_order_acquire))
        return *ready;
    if (!library_is_loaded())
        return kNoLibrary;
    const SignalsBlocked blocked;
    filling.take();
    if (!known_library.load(std::memory_order_relaxed)) {
        describe(known);
        known_library.store(&known, std::memory_order_release);
    }
    filling.release();
    return known;
}

} // namespace plumb::shim::mpi
