// Which MPI libraries the loader finds here, asked of themselves: MPI_Get_library_version works before MPI_Init.
#include "platform/probes/probe.h"

#include <cstring>
#include <dlfcn.h>
#include <fmt/core.h>
#include <string>
#include <unistd.h>

namespace plumb::platform {

namespace {

using State = ProbeResult::State;

// By the names that programs are linked with: Open MPI 4 and 5, the MPICH family, the standard ABI of MPI-5.
constexpr const char* kLibraries[] = {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.0", "libmpi.so"};

// What the library calls itself; empty: it is not there, or does not say. In a child, because loading it runs its code.
std::string version_of(const char* library) {
    int ends[2];
    if (pipe(ends) != 0)
        return "";
    run_in_child([&] {
        void* const handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
        const auto ask = handle ? reinterpret_cast<int (*)(char*, int*)>(dlsym(handle, "MPI_Get_library_version")) : nullptr;
        static char text[64 * 1024];
        int length = 0;
        if (!ask || ask(text, &length) != 0)
            return 1;
        for (char& c : text)
            if (c == '\t')
                c = ' ';
        const size_t line = strcspn(text, "\n,");
        return write(ends[1], text, line < 200 ? line : 200) > 0 ? 0 : 1;
    });
    close(ends[1]);
    char text[256];
    const ssize_t length = read(ends[0], text, sizeof text);
    close(ends[0]);
    return std::string(text, length > 0 ? static_cast<size_t>(length) : 0);
}

ProbeResult libraries() {
    std::string found, tried;
    for (const char* library : kLibraries) {
        const std::string version = version_of(library);
        tried += (tried.empty() ? "" : ", ") + std::string(library);
        if (!version.empty() && found.find(version) == std::string::npos)
            found += (found.empty() ? "" : "; ") + fmt::format("{} ({})", version, library);
    }
    if (found.empty())
        return {State::missing, "the loader finds no MPI library (tried " + tried + ")",
                "nothing is needed: a program that loads its own MPI library is recorded"};
    return {State::ok, found, ""};
}

constexpr Probe kMpiProbes[] = {
    {"mpi", "who waits for whom among the ranks of an MPI job, and why", libraries},
};

} // namespace

std::span<const Probe> mpi_probes() { return kMpiProbes; }

} // namespace plumb::platform
