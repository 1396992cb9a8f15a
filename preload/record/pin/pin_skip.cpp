#include "record/pin/pin_skip.h"

#include "platform/elf/loaded_object.h"
#include "platform/os/text.h"
#include "record/process/process_filter.h"

namespace plumb::shim {
namespace {

// MPI's and its transports' progress engines, PMIx and event loops, accelerator run times, profilers' own threads.
constexpr const char* kHelperLibraries[] = {
    "libmpi.so*", "libmpi_*.so*", "libmpich*.so*", "libmpifort*.so*", "libopen-pal.so*", "libopen-rte.so*",
    "libpmix.so*", "libprrte.so*", "libevent*.so*", "libhwloc.so*", "libpsm2.so*", "libpsm_infinipath.so*",
    "libfabric.so*", "libucs.so*", "libuct*.so*", "libucp.so*", "libucm.so*", "libibverbs.so*", "librdmacm.so*",
    "libcuda.so*", "libcudart.so*", "libnccl.so*", "librccl.so*", "libhsa-runtime64.so*", "libamdhip64.so*",
    "libze_*.so*", "libigdrcl.so*", "libcupti.so*", "libittnotify*.so*",
};
constexpr const char* kHelperNames[] = {"cuda-EvtHandlr", "ucx_async*", "OMPI*", "async_progress*", "*helper_thread*"};

bool matches_more(const char* globs, const char* text) {
    while (globs && *globs) {
        const char* end = strchrnul(globs, ':');
        if (end > globs && matches_glob(globs, end, text))
            return true;
        globs = *end ? end + 1 : end;
    }
    return false;
}

template <size_t N> bool matches_any(const char* const (&globs)[N], const char* text) {
    for (const char* glob : globs)
        if (matches_glob(glob, glob + strlen(glob), text))
            return true;
    return false;
}

} // namespace

bool is_helper_library(const void* address, const char* more) {
    // Another thread may hold the loader's lock while it waits for the very thread that is about to be created.
    const link_map* library = loaded_object_without_lock(address);
    if (!library || !library->l_name || !library->l_name[0]) // the program itself
        return false;
    const char* name = base_name(library->l_name);
    return matches_any(kHelperLibraries, name) || matches_more(more, name);
}

bool is_helper_name(const char* name, const char* more) {
    return matches_any(kHelperNames, name) || matches_more(more, name);
}

} // namespace plumb::shim
