// A dynamic symbol without a value is none to the dynamic loader (that is how it treats undefined ones), so a name is
// taken back by clearing its value in this library's symbol table, in memory.
//
// While no MPI library is loaded nothing is known of what it will lack, and all names stay: a module that is opened
// together with its MPI library would go by unseen otherwise. Only weak references are made null then.
#include "hooks/mpi/absent_functions.h"

#include "platform/elf/dynamic_section.h"
#include "platform/os/system_call.h"
#include "record/mpi/library/library.h"

#include <atomic>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace plumb::shim::mpi {
namespace {

std::atomic<bool> is_done{false};
std::atomic<unsigned long long> seen_loads{0};

// What is read-only once the loader has relocated the image.
struct ReadOnly {
    ElfW(Addr) start = 0, end = 0;
};

ReadOnly read_only_part(const dl_phdr_info& object) {
    for (int i = 0; i < object.dlpi_phnum; ++i)
        if (const ElfW(Phdr)& header = object.dlpi_phdr[i]; header.p_type == PT_GNU_RELRO)
            return {object.dlpi_addr + header.p_vaddr, object.dlpi_addr + header.p_vaddr + header.p_memsz};
    return {};
}

// C's names: MPI_Send, not MPI_SEND. Fortran has no weak references.
bool is_mpi_name(const char* name) {
    const char* const part = strncmp(name, "MPI_", 4) == 0 ? name + 4 : strncmp(name, "MPIX_", 5) == 0 ? name + 5 : nullptr;
    return part && part[0] >= 'A' && part[0] <= 'Z' && part[1] >= 'a' && part[1] <= 'z';
}

bool protect(uintptr_t start, uintptr_t end, int protection) {
    start &= ~(static_cast<uintptr_t>(getauxval(AT_PAGESZ)) - 1);
    return !is_error(system_call(SYS_mprotect, static_cast<long>(start), static_cast<long>(end - start), protection));
}

bool contains(const dl_phdr_info& object, const void* address) {
    const auto at = reinterpret_cast<ElfW(Addr)>(address) - object.dlpi_addr;
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = object.dlpi_phdr[i];
        if (header.p_type == PT_LOAD && at >= header.p_vaddr && at < header.p_vaddr + header.p_memsz)
            return true;
    }
    return false;
}

const char here = 0; // in this library

int find_own_image(dl_phdr_info* object, size_t, void* found) {
    if (!contains(*object, &here))
        return 0;
    *static_cast<DynamicSection*>(found) = read_dynamic_section(*object);
    return 1;
}

// The number of entries of the symbol table, which only the hash table knows: its last chain ends with the last one.
uint32_t symbol_count(const DynamicSection& image) {
    const GnuHash known = read_gnu_hash(image.gnu_hash);
    uint32_t last = 0;
    for (uint32_t i = 0; i < known.bucket_count; ++i)
        last = known.buckets[i] > last ? known.buckets[i] : last;
    if (last < known.first)
        return known.first;
    while ((known.hashes[last - known.first] & 1) == 0)
        ++last;
    return last + 1;
}

void hide_names() {
    DynamicSection own;
    dl_iterate_phdr(find_own_image, &own);
    if (!own.symbols || !own.names || !own.gnu_hash)
        return;
    const uint32_t count = symbol_count(own);
    const auto start = reinterpret_cast<uintptr_t>(own.symbols), end = reinterpret_cast<uintptr_t>(own.symbols + count);
    if (!protect(start, end, PROT_READ | PROT_WRITE))
        return;
    for (uint32_t i = 0; i < count; ++i) {
        ElfW(Sym)& symbol = own.symbols[i];
        if (symbol.st_value != 0 && symbol.st_shndx != SHN_UNDEF && is_mpi_name(own.names + symbol.st_name) &&
            !find_function(own.names + symbol.st_name))
            symbol.st_value = 0;
    }
    protect(start, end, PROT_READ);
}

struct OwnRange {
    uintptr_t start, end;
};

int find_own_range(dl_phdr_info* object, size_t, void* found) {
    if (!contains(*object, &here))
        return 0;
    auto& range = *static_cast<OwnRange*>(found);
    range = {UINTPTR_MAX, 0};
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = object->dlpi_phdr[i];
        const uintptr_t start = object->dlpi_addr + header.p_vaddr;
        if (header.p_type != PT_LOAD)
            continue;
        range.start = start < range.start ? start : range.start;
        range.end = start + header.p_memsz > range.end ? start + header.p_memsz : range.end;
    }
    return 1;
}

#if defined(__x86_64__)
bool is_address_of_symbol(uint64_t info) {
    return ELF64_R_TYPE(info) == R_X86_64_GLOB_DAT || ELF64_R_TYPE(info) == R_X86_64_64;
}
#elif defined(__aarch64__)
bool is_address_of_symbol(uint64_t info) {
    return ELF64_R_TYPE(info) == R_AARCH64_GLOB_DAT || ELF64_R_TYPE(info) == R_AARCH64_ABS64;
}
#endif

// Weak references of one object that lead to a hook without anything behind it.
int clear_weak_references(dl_phdr_info* object, size_t, void* data) {
    const OwnRange& own = *static_cast<const OwnRange*>(data);
    const DynamicSection image = read_dynamic_section(*object);
    if (!image.symbols || !image.names || !image.data.first || contains(*object, &here))
        return 0;
    const ReadOnly read_only = read_only_part(*object);
    for (size_t i = 0; i < image.data.count; ++i) {
        const ElfW(Rela)& relocation = image.data.first[i];
        const uint64_t number = ELF64_R_SYM(relocation.r_info);
        if (number == 0 || !is_address_of_symbol(relocation.r_info))
            continue;
        const ElfW(Sym)& symbol = image.symbols[number];
        const char* const name = image.names + symbol.st_name;
        if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) != STB_WEAK || !is_mpi_name(name))
            continue;
        auto* const place = reinterpret_cast<uintptr_t*>(object->dlpi_addr + relocation.r_offset);
        if (*place < own.start || *place >= own.end || find_function(name))
            continue;
        const auto at = reinterpret_cast<uintptr_t>(place);
        const bool is_read_only = at >= read_only.start && at < read_only.end;
        if (is_read_only && !protect(at, at + sizeof *place, PROT_READ | PROT_WRITE))
            continue;
        *place = 0;
        if (is_read_only)
            protect(at, at + sizeof *place, PROT_READ);
    }
    return 0;
}

void clear_all_weak_references() {
    OwnRange own{};
    dl_iterate_phdr(find_own_range, &own);
    dl_iterate_phdr(clear_weak_references, &own);
}

struct Loaded {
    unsigned long long loads;
    bool may_be_mpi;
};

int look_for_mpi(dl_phdr_info* object, size_t, void* data) {
    auto& loaded = *static_cast<Loaded*>(data);
    loaded.loads = object->dlpi_adds;
    const char* const slash = object->dlpi_name ? strrchr(object->dlpi_name, '/') : nullptr;
    loaded.may_be_mpi = loaded.may_be_mpi || (slash && strstr(slash, "mpi"));
    return 0;
}

} // namespace

void hide_absent_functions_at_start() {
    const int error_of_program = errno;
    clear_all_weak_references();
    hide_absent_functions_if_due();
    errno = error_of_program;
}

bool absent_functions_are_hidden() { return is_done.load(std::memory_order_relaxed); }

void hide_absent_functions_if_due() {
    if (is_done.load(std::memory_order_relaxed))
        return;
    const int error_of_program = errno;
    Loaded loaded{};
    dl_iterate_phdr(look_for_mpi, &loaded);
    if (loaded.loads != seen_loads.exchange(loaded.loads) && loaded.may_be_mpi && library_is_loaded() &&
        !is_done.exchange(true)) {
        hide_names();
        clear_all_weak_references(); // of a module that came together with its library
    }
    errno = error_of_program;
}

} // namespace plumb::shim::mpi
