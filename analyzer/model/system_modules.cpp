// Which files came with the system's tool chain. By name, not by directory: a program in /usr/bin is the user's
// program, and an MPI library in a home directory is still not what its user wrote.
#include "model/call_paths.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace plumb::model {

namespace {

// Names before ".so", without the version that some carry there ("libc-2.31.so").
constexpr auto kRuntimeLibraries = std::to_array<std::string_view>({
    // C library and loader
    "libc", "libm", "libmvec", "libpthread", "librt", "libdl", "libutil", "libresolv", "libanl", "libcrypt",
    "libnsl", "libthread_db", "libBrokenLocale", "libSegFault", "libmemusage", "libpcprofile", "ld",
    // compilers' run-time libraries
    "libstdc++", "libsupc++", "libc++", "libc++abi", "libgcc_s", "libunwind", "libunwind-x86_64", "libatomic",
    "libgfortran", "libquadmath", "libflang", "libflangrti", "libifcore",
    "libifcoremt", "libifport", "libifportmt", "libimf", "libsvml", "libintlc", "libirc", "libirng", "libasan",
    "libubsan", "libtsan", "liblsan", "libhwasan", "libitm", "libgo", "libobjc", "libssp", "libnvc", "libnvf",
    "libnvomp", "libnvcpumath",
    // allocators put in malloc's place
    "libjemalloc", "libtcmalloc", "libtcmalloc_minimal", "libtcmalloc_debug", "libtcmalloc_and_profiler",
    "libmimalloc", "libtbbmalloc", "libtbbmalloc_proxy", "libhoard",
});

// MPI and what it travels on.
constexpr auto kMpiLibraries = std::to_array<std::string_view>({
    "libmpi", "libmpi_cxx", "libmpi_mpifh", "libmpi_usempi", "libmpi_usempif08", "libmpi_usempi_ignore_tkr",
    "libmpich", "libmpichcxx", "libmpichfort", "libmpicxx", "libmpifort", "libmpi_gnu", "libmpi_intel",
    "libpmpich", "libmpl", "libopa", "libopen-rte", "libopen-pal", "liboshmem", "libpmi", "libpmi2", "libpmix",
    "libprrte", "libucp", "libuct", "libucs", "libucm", "libfabric", "libpsm_infinipath", "libpsm2",
    "libibverbs", "librdmacm", "libmlx4", "libmlx5", "libhcoll", "libsharp", "libxpmem", "libcxi",
});

constexpr auto kOpenmpLibraries = std::to_array<std::string_view>({"libgomp", "libomp", "libiomp5"});

// "libc-2.31" of "/lib/libc-2.31.so.6"; empty: no shared library.
std::string_view library_name(const std::string& path) {
    std::string_view name = path;
    if (const size_t slash = name.rfind('/'); slash != name.npos)
        name.remove_prefix(slash + 1);
    const size_t so = name.find(".so");
    return so == name.npos ? std::string_view() : name.substr(0, so);
}

} // namespace

bool is_shim_module(const std::string& path) {
    const std::string_view name = library_name(path);
    return name == "libplumb" || name == "libplumb-strings";
}

bool is_mpi_module(const std::string& path) {
    const std::string_view name = library_name(path);
    return name.starts_with("libmca_") || name.starts_with("mca_") ||
           std::ranges::find(kMpiLibraries, name) != kMpiLibraries.end();
}

// Packages of Python carry copies whose names end in a hash: libgomp-a34b3233.so.1.
bool is_openmp_module(const std::string& path) {
    const std::string_view name = library_name(path);
    return std::ranges::find(kOpenmpLibraries, name.substr(0, name.find('-'))) != kOpenmpLibraries.end();
}

bool is_system_module(const std::string& path) {
    if (path == "[vdso]" || path == "[kernel]" || is_shim_module(path) || is_mpi_module(path) || is_openmp_module(path))
        return true;
    std::string_view name = library_name(path);
    if (name.empty())
        return false;
    for (const char* family : {"ld-linux", "ld-musl", "ld64", "libnss_", "libclang_rt."})
        if (name.starts_with(family))
            return true;
    if (const size_t dash = name.rfind('-'); dash != name.npos && dash + 1 < name.size()) {
        const std::string_view version = name.substr(dash + 1);
        if (std::all_of(version.begin(), version.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; }))
            name = name.substr(0, dash);
    }
    return std::find(kRuntimeLibraries.begin(), kRuntimeLibraries.end(), name) != kRuntimeLibraries.end();
}

bool is_program_code(const Module& module) {
    if (module.kind == Module::Kind::program || module.kind == Module::Kind::anonymous)
        return true;
    return !is_system_module(module.path) && !module.path.starts_with("/usr/lib") && !module.path.starts_with("/lib");
}

bool is_packaged_file(const std::string& path) {
    for (const char* directory : {"/usr/bin/", "/usr/sbin/", "/usr/games/", "/usr/lib", "/bin/", "/sbin/", "/lib", "/snap/"})
        if (path.starts_with(directory)) // lib32, lib64 and libexec included
            return true;
    return false;
}

bool is_system_source(const std::string& file) {
    for (const char* directory : {"/usr/include/", "/usr/lib/gcc/", "/usr/lib/llvm-", "/rustc/"})
        if (file.starts_with(directory))
            return true;
    // A compiler outside /usr keeps its C++ headers in PREFIX/include/c++, its builtins in lib/gcc or lib/clang.
    for (const char* part : {"/include/c++/", "/lib/gcc/x86_64-", "/lib/gcc/aarch64-", "/lib/clang/"})
        if (file.find(part) != std::string::npos)
            return true;
    return false;
}

} // namespace plumb::model
