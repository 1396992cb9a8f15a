// Fortran's integers as handles, sizes of datatypes, and statuses.
#include "record/mpi/library/library.h"
#include "record/mpi/library/library_symbols.h"

#include <atomic>
#include <string.h>

namespace plumb::shim::mpi {
namespace {

using Convert = Handle (*)(int);

struct Conversion {
    const char *name, *standard_name;
    std::atomic<Convert> function;
};

constinit Conversion conversions[] = { // in the order of HandleKind
    {"PMPI_Comm_f2c", "PMPI_Comm_fromint", nullptr},       {"PMPI_Type_f2c", "PMPI_Type_fromint", nullptr},
    {"PMPI_Request_f2c", "PMPI_Request_fromint", nullptr}, {"PMPI_Win_f2c", "PMPI_Win_fromint", nullptr},
    {"PMPI_File_f2c", "PMPI_File_fromint", nullptr},       {"PMPI_Group_f2c", "PMPI_Group_fromint", nullptr},
    {"PMPI_Message_f2c", "PMPI_Message_fromint", nullptr}, {"PMPI_Session_f2c", "PMPI_Session_fromint", nullptr},
    {"PMPI_Info_f2c", "PMPI_Info_fromint", nullptr},       {"PMPI_Op_f2c", "PMPI_Op_fromint", nullptr},
};

// Sizes of types that were asked for. A place belongs to the thread that put kBusy there until it has written both
// words; who finds it busy asks the library.
struct KnownType {
    std::atomic<Handle> type;
    std::atomic<uint64_t> bytes;
};
constexpr uint32_t kKnownTypes = 512;
constexpr Handle kBusy = 1; // no library has such a handle
constinit KnownType known_types[kKnownTypes]{};

KnownType& place_of(Handle type) { return known_types[type * 0x9e3779b97f4a7c15u >> 55]; }
static_assert(kKnownTypes == 1u << (64 - 55));

Handle null_type() {
    switch (library().kind) {
    case trace::MpiLibrary::open_mpi: {
        static std::atomic<void*> null{nullptr};
        void* found = null.load(std::memory_order_relaxed);
        if (!found) {
            found = find_variable("ompi_mpi_datatype_null");
            null.store(found, std::memory_order_relaxed);
        }
        return reinterpret_cast<Handle>(found);
    }
    case trace::MpiLibrary::mpich:
        return 0x0c000000;
    case trace::MpiLibrary::standard_abi:
        return 0x200;
    case trace::MpiLibrary::unknown:
        break;
    }
    return 0;
}

// The library answers an error with the program's error handler, so nothing wrong may be asked.
uint64_t ask_type_bytes(Handle type) {
    if (type == 0 || type == null_type() || library().kind == trace::MpiLibrary::unknown)
        return 0;
    static std::atomic<int (*)(Handle, int64_t*)> large{nullptr};
    static std::atomic<int (*)(Handle, int*)> small{nullptr};
    if (!large.load(std::memory_order_relaxed) && !small.load(std::memory_order_relaxed)) {
        large = find_function_as<int (*)(Handle, int64_t*)>(find_own_function, "PMPI_Type_size_x");
        if (!large)
            large = find_function_as<int (*)(Handle, int64_t*)>(find_own_function, "PMPI_Type_size_c");
        small = find_function_as<int (*)(Handle, int*)>(find_own_function, "PMPI_Type_size");
    }
    int64_t bytes = 0;
    int few_bytes = 0;
    if (const auto size = large.load(std::memory_order_relaxed))
        return size(type, &bytes) == 0 && bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
    const auto size = small.load(std::memory_order_relaxed);
    return size && size(type, &few_bytes) == 0 && few_bytes > 0 ? static_cast<uint64_t>(few_bytes) : 0;
}

// The standard ABI keeps the count of a status to itself.
uint64_t ask_status_bytes(const void* status) {
    static std::atomic<int (*)(const void*, Handle, int64_t*)> get{nullptr};
    auto function = get.load(std::memory_order_relaxed);
    if (!function) {
        function = find_function_as<int (*)(const void*, Handle, int64_t*)>(find_own_function, "PMPI_Get_count_c");
        get.store(function, std::memory_order_relaxed);
    }
    int64_t bytes = 0;
    return function && function(status, library().byte_type, &bytes) == 0 && bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

bool ask_status_cancelled(const void* status) {
    static std::atomic<int (*)(const void*, int*)> test{nullptr};
    auto function = test.load(std::memory_order_relaxed);
    if (!function) {
        function = find_function_as<int (*)(const void*, int*)>(find_own_function, "PMPI_Test_cancelled");
        test.store(function, std::memory_order_relaxed);
    }
    int cancelled = 0;
    return function && function(status, &cancelled) == 0 && cancelled != 0;
}

Arrival read_open_mpi_status(const void* status) {
    struct {
        int32_t source, tag, error, cancelled;
        uint64_t bytes;
    } fields;
    memcpy(&fields, status, sizeof fields);
    return {fields.source, fields.tag, fields.bytes, fields.cancelled != 0};
}

Arrival read_mpich_status(const void* status) {
    struct {
        uint32_t low, high_and_cancelled;
        int32_t source, tag, error;
    } fields;
    memcpy(&fields, status, sizeof fields);
    return {fields.source, fields.tag,
            static_cast<uint64_t>(fields.high_and_cancelled >> 1) << 32 | fields.low,
            (fields.high_and_cancelled & 1) != 0};
}

Arrival read_standard_status(const void* status) {
    int32_t fields[2];
    memcpy(fields, status, sizeof fields);
    return {fields[0], fields[1], ask_status_bytes(status), ask_status_cancelled(status)};
}

} // namespace

Handle from_fortran(HandleKind kind, int32_t number) {
    const trace::MpiLibrary family = library().kind;
    if (family == trace::MpiLibrary::unknown || (family == trace::MpiLibrary::mpich && kind != HandleKind::file))
        return static_cast<uint32_t>(number);
    Conversion& conversion = conversions[static_cast<int>(kind)];
    Convert convert = conversion.function.load(std::memory_order_relaxed);
    if (!convert) {
        convert = find_function_as<Convert>(find_own_function, conversion.name);
        if (!convert)
            convert = find_function_as<Convert>(find_own_function, conversion.standard_name);
        conversion.function.store(convert, std::memory_order_relaxed);
    }
    return convert ? convert(number) : 0;
}

uint64_t type_bytes(Handle type) {
    KnownType& place = place_of(type);
    Handle known = place.type.load(std::memory_order_acquire);
    if (__builtin_expect(known == type && type != 0 && type != kBusy, 1)) {
        const uint64_t bytes = place.bytes.load(std::memory_order_acquire);
        if (place.type.load(std::memory_order_relaxed) == type)
            return bytes;
    }
    const uint64_t bytes = ask_type_bytes(type);
    if (known != kBusy && bytes != 0 && place.type.compare_exchange_strong(known, kBusy, std::memory_order_acq_rel)) {
        place.bytes.store(bytes, std::memory_order_release);
        place.type.store(type, std::memory_order_release);
    }
    return bytes;
}

void type_freed(Handle type) { place_of(type).type.compare_exchange_strong(type, 0, std::memory_order_acq_rel); }

Arrival read_status(const void* statuses, size_t index, bool fortran) {
    const Library& facts = library();
    const size_t bytes = fortran ? facts.status_integers * sizeof(int32_t) : facts.status_bytes;
    const void* const status = static_cast<const char*>(statuses) + index * bytes;
    switch (facts.kind) {
    case trace::MpiLibrary::open_mpi:
        return read_open_mpi_status(status);
    case trace::MpiLibrary::mpich:
        return read_mpich_status(status);
    case trace::MpiLibrary::standard_abi:
        return read_standard_status(status);
    case trace::MpiLibrary::unknown:
        break;
    }
    return {0, 0, 0, false};
}

} // namespace plumb::shim::mpi
