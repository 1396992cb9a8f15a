#include "team/mpi_library.h"

#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace plumb::team {

namespace {

constexpr int kTag = 1, kFunneled = 1;

// How the launchers' daemons are reached, as PMIx and PMI name it.
constexpr const char* kPmixConnections[] = {"PMIX_SERVER_URI",  "PMIX_SERVER_URI2",  "PMIX_SERVER_URI21",
                                            "PMIX_SERVER_URI3", "PMIX_SERVER_URI4",  "PMIX_SERVER_URI41"};
constexpr const char* kPmiConnections[] = {"PMI_FD", "PMI_PORT", "PMI_CONTROL_FD"};

template <size_t Count> bool any_of(const char* const (&names)[Count], MpiLibrary::GetVariable variable) {
    for (const char* name : names)
        if (variable(name))
            return true;
    return false;
}

// By the launcher's own protocol: the family that speaks it comes first.
std::vector<const char*> names_to_try(MpiLibrary::GetVariable variable) {
    if (any_of(kPmixConnections, variable))
        return {"libmpi.so.40", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"};
    if (any_of(kPmiConnections, variable))
        return {"libmpi_abi.so.0", "libmpich.so.12", "libmpi.so.12"};
    return {};
}

template <class Function> bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

} // namespace

bool MpiLibrary::load(GetVariable variable, std::string& why_not) {
    const std::vector<const char*> names = names_to_try(variable);
    if (names.empty()) {
        why_not = "the launcher left no connection for MPI in the environment";
        return false;
    }
    void* library = nullptr;
    for (const char* name : names)
        if (!library)
            library = dlopen(name, RTLD_NOW | RTLD_GLOBAL); // plug-ins of Open MPI look for it in the global scope
    if (!library) {
        why_not = "no MPI library is found (LD_LIBRARY_PATH)";
        return false;
    }
    if (!find(library, "PMPI_Isend", send_) || !find(library, "PMPI_Wait", wait_) || !find(library, "PMPI_Recv", receive_) ||
        !find(library, "PMPI_Allgather", all_gather_) || !find(library, "PMPI_Init_thread", init_) ||
        !find(library, "PMPI_Comm_rank", rank_of_) || !find(library, "PMPI_Comm_size", size_of_) ||
        !find(library, "PMPI_Finalize", finalize_) || !find(library, "PMPI_Abort", abort_)) {
        why_not = "the MPI library lacks functions";
        return false;
    }
    // Libraries that do not follow the standard ABI may have the function, too: it says -1 then.
    int (*abi_version)(int*, int*) = nullptr;
    int major = -1, minor = -1;
    if (find(library, "PMPI_Abi_get_version", abi_version) && abi_version(&major, &minor) == 0 && major >= 1) {
        world_ = 0x101;
        byte_ = 0x247;
    } else if (void* const world = dlsym(library, "ompi_mpi_comm_world")) {
        world_ = reinterpret_cast<Handle>(world);
        byte_ = reinterpret_cast<Handle>(dlsym(library, "ompi_mpi_byte"));
    } else if (dlsym(library, "MPIR_Dup_fn")) { // in every library of MPICH's ABI
        world_ = 0x44000000;
        byte_ = 0x4c00010d;
        ignored_status_ = reinterpret_cast<void*>(1);
    } else {
        why_not = "the MPI library is of no known family";
        return false;
    }
    return true;
}

std::unique_ptr<MpiLibrary> MpiLibrary::start(GetVariable variable, std::string& why_not) {
    std::unique_ptr<MpiLibrary> mpi(new MpiLibrary);
    if (!mpi->load(variable, why_not))
        return nullptr;
    int provided = 0;
    if (mpi->init_(nullptr, nullptr, kFunneled, &provided) != 0) {
        why_not = "MPI_Init_thread failed";
        return nullptr;
    }
    mpi->started_ = true;
    mpi->rank_of_(mpi->world_, &mpi->rank_);
    mpi->size_of_(mpi->world_, &mpi->size_);
    return mpi;
}

MpiLibrary::~MpiLibrary() {
    if (started_)
        finalize_();
}

MpiLibrary::Handle MpiLibrary::begin_send(const void* bytes, size_t count, int to) const {
    Handle request = 0;
    send_(bytes, static_cast<int>(count), byte_, to, kTag, world_, &request);
    return request;
}

void MpiLibrary::wait(Handle request) const { wait_(&request, ignored_status_); }

void MpiLibrary::receive(void* bytes, size_t count, int from) const {
    receive_(bytes, static_cast<int>(count), byte_, from, kTag, world_, ignored_status_);
}

bool MpiLibrary::is_same_everywhere(uint64_t number) const {
    std::vector<uint64_t> numbers(static_cast<size_t>(size_));
    all_gather_(&number, sizeof number, byte_, numbers.data(), sizeof number, byte_, world_);
    for (const uint64_t other : numbers)
        if (other != number)
            return false;
    return true;
}

void MpiLibrary::abort_job() const {
    abort_(world_, EXIT_FAILURE);
    std::abort();
}

} // namespace plumb::team
