#include "analyses/time/allocator_code.h"

#include "model/call_paths.h"

#include <string_view>
#include <unordered_set>

namespace plumb {

namespace {

// How far the code between two exported functions of a stripped C library may reach, and how finely to look for
// its end: functions are aligned to 16 bytes there.
constexpr uint64_t kGap_bytes = 16 * 1024;
constexpr uint64_t kProbe_bytes = 16;

std::string_view base_name(std::string_view function) {
    if (const size_t offset = function.find("+0x"); offset != function.npos)
        function = function.substr(0, offset);
    for (std::string_view suffix : {std::string_view("@plt"), std::string_view(" [clone")})
        if (const size_t at = function.find(suffix); at != function.npos)
            function = function.substr(0, at);
    for (std::string_view prefix : {"__GI_", "__libc_", "___libc_"})
        if (function.starts_with(prefix))
            function.remove_prefix(prefix.size());
    if (const size_t dot = function.find('.'); dot != function.npos) // malloc_consolidate.part.0
        function = function.substr(0, dot);
    return function;
}

std::string_view file_name(std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == path.npos ? path : path.substr(slash + 1);
}

bool is_libc(std::string_view module) {
    const std::string_view name = file_name(module);
    return name.starts_with("libc.so") || name.starts_with("libc-2") || name.starts_with("ld-musl");
}

} // namespace

bool is_allocator_function(const std::string& function) {
    static const std::unordered_set<std::string_view> kNames = {
        // the interface
        "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "memalign", "aligned_alloc",
        "posix_memalign", "valloc", "pvalloc", "malloc_trim", "__malloc", "__free", "__calloc", "__realloc",
        "__memalign", "__posix_memalign", "free_sized", "free_aligned_sized",
        // glibc
        "_int_malloc", "_int_free", "_int_realloc", "_int_memalign", "_mid_memalign", "_int_free_chunk",
        "_int_free_merge_chunk", "_int_free_create_chunk", "_int_free_maybe_consolidate", "malloc_consolidate",
        "unlink_chunk", "sysmalloc", "sysmalloc_mmap", "sysmalloc_mmap_fallback", "systrim", "mtrim", "heap_trim",
        "munmap_chunk", "mremap_chunk", "alloc_new_heap", "new_heap", "arena_get2", "arena_get_retry",
        "tcache_init", "tcache_thread_shutdown", "tcache_free_init", "tcache_malloc_small", "ptmalloc_init",
        "alloc_perturb", "free_perturb", "__default_morecore", "__glibc_morecore", "__malloc_arena_thread_freeres",
        "free_check", "malloc_check", "detach_arena",
        // musl
        "__libc_malloc_impl", "__libc_free", "alloc_slot", "get_meta", "nontrivial_free",
        // jemalloc, tcmalloc, mimalloc inside a program
        "je_malloc", "je_free", "je_calloc", "je_realloc", "je_mallocx", "je_dallocx", "je_sdallocx", "tc_malloc",
        "tc_free", "tc_new", "tc_delete", "tc_calloc", "tc_realloc", "mi_malloc", "mi_free", "mi_calloc",
        "mi_realloc", "mi_new",
    };
    const std::string_view name = base_name(function);
    if (kNames.count(name))
        return true;
    for (std::string_view op : {std::string_view("operator new"), std::string_view("operator delete")})
        if (name.starts_with(op) && (name.size() == op.size() || name[op.size()] == '[' || name[op.size()] == '('))
            return true;
    return false;
}

bool is_allocator_module(const std::string& module) {
    const std::string_view name = file_name(module);
    for (std::string_view family : {"libjemalloc", "libtcmalloc", "libmimalloc", "libtbbmalloc", "libhoard",
                                    "libsnmalloc", "librpmalloc"})
        if (name.starts_with(family))
            return true;
    return false;
}

bool is_allocator_wrapper(const std::string& function) {
    static const std::unordered_set<std::string_view> kNames = {
        "xmalloc", "xcalloc", "xrealloc", "xnmalloc", "xnrealloc", "xzalloc", "xpalloc", "x2realloc", "x2nrealloc",
        "xstrdup", "xmemdup", "xfree", "safe_malloc", "checked_malloc", "emalloc", "g_malloc", "g_malloc0", "g_realloc",
        "g_free", "g_try_malloc", "PyMem_Malloc", "PyMem_RawMalloc", "PyMem_Realloc", "PyMem_Free", "PyMem_RawFree",
        "CRYPTO_malloc", "CRYPTO_zalloc", "CRYPTO_free", "strdup", "__strdup", "strndup", "__strndup",
        "__gnu_cxx::new_allocator::allocate", "std::allocator_traits::allocate",
    };
    return kNames.count(base_name(function)) != 0;
}

bool passes_allocation_on(const std::string& function) {
    std::string_view name = std::string_view(function).substr(0, function.find_first_of("<(")); // not its parameters' types
    if (const size_t scope = name.rfind("::"); scope != name.npos)
        name.remove_prefix(scope + 2);
    for (std::string_view part : {"alloc", "Alloc", "ALLOC", "strdup"})
        if (name.find(part) != name.npos)
            return true;
    return is_allocator_wrapper(function);
}

bool is_private_lock_function(const std::string& function) {
    const std::string_view name = base_name(function);
    return name == "__lll_lock_wait_private" || name == "__lll_lock_wake_private";
}

bool AllocatorCode::contains(size_t process, uint32_t node) {
    const auto [entry, is_new] = known_.try_emplace(uint64_t{process} << 32 | node, false);
    if (!is_new)
        return entry->second;
    const model::PathNode& path = paths_.run().processes[process].paths[node];
    if (path.kernel)
        return false;
    bool found = false, named = false;
    for (const model::SourceFrame& frame : paths_.frames_of(process, node)) {
        found = found || is_allocator_function(frame.function) || is_allocator_module(frame.module);
        named = named || (!frame.function.empty() && frame.function.find(frame.module + "+0x") == std::string::npos);
    }
    // A return address lies behind its call, in the same function but for calls that never return.
    const uint64_t address = path.leaf || path.address == 0 ? path.address : path.address - 1;
    entry->second = found || (!named && unnamed_part_of_libc(process, address));
    return entry->second;
}

// A stripped C library names only what it exports: malloc and free, but not the functions they are made of. Those
// were compiled in one file with them, so they lie in front of the exported ones, with nothing else between.
bool AllocatorCode::unnamed_part_of_libc(size_t process, uint64_t address) {
    const model::Module* module = paths_.module_of(process, address);
    if (!module || !is_libc(module->path))
        return false;
    const std::string& file = module->build_id.empty() ? module->path : module->build_id;
    const auto [entry, is_new] = gaps_.try_emplace({file, (address - module->start + module->file_offset) / kProbe_bytes});
    if (!is_new)
        return entry->second;
    for (uint64_t at = (address / kProbe_bytes + 1) * kProbe_bytes; at < address + kGap_bytes && at < module->end;
         at += kProbe_bytes) {
        const std::vector<model::SourceFrame> frames = paths_.frames_at(process, at);
        if (frames.empty() || frames[0].function.empty() || frames[0].function.starts_with(frames[0].module + "+0x"))
            continue;
        return entry->second = is_allocator_function(frames[0].function);
    }
    return false;
}

uint32_t AllocatorCode::innermost(size_t process, uint32_t node) {
    const std::vector<model::PathNode>& paths = paths_.run().processes[process].paths;
    for (size_t depth = 0; node != 0 && node < paths.size() && depth < model::kMostFrames; depth++) {
        if (contains(process, node))
            return node;
        node = paths[node].parent;
    }
    return 0;
}

uint32_t AllocatorCode::caller(size_t process, uint32_t node) {
    const std::vector<model::PathNode>& paths = paths_.run().processes[process].paths;
    uint32_t outside = node;
    for (size_t depth = 0; node != 0 && node < paths.size() && depth < model::kMostFrames; depth++) {
        const bool kernel = paths[node].kernel;
        bool wrapper = false;
        if (!kernel && !contains(process, node)) {
            // Inlined frames: only a function that is a wrapper through and through is passed over.
            wrapper = is_allocator_wrapper(paths_.frames_of(process, node).back().function);
            if (!wrapper)
                break;
        }
        node = paths[node].parent;
        outside = node;
    }
    return outside < paths.size() ? outside : 0;
}

} // namespace plumb
