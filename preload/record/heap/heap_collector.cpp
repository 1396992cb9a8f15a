#include "record/heap/heap_collector.h"

#include "platform/elf/elf_imports.h"
#include "platform/elf/loaded_object.h"
#include "platform/os/text.h"
#include "platform/unwind/unwind_table.h"
#include "record/heap/heap_blocks.h"
#include "record/heap/heap_events.h"
#include "record/paths/call_path_tree.h"
#include "record/process/settings.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

namespace plumb::shim {
namespace {

// Whether the program's calls of malloc arrive here: a definition in the executable itself comes first. (An
// executable that only takes malloc's address also has a symbol for it, undefined but with a value.)
bool malloc_is_hooked() {
    void* const definition = dlsym(RTLD_DEFAULT, "malloc");
    if (!definition)
        return false;
    if (loaded_object(definition) == loaded_object(&heap_collector))
        return true;
    Dl_info found{};
    ElfW(Sym)* symbol = nullptr;
    return dladdr1(definition, &found, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) && symbol &&
           symbol->st_shndx == SHN_UNDEF;
}

bool is_operator_new(const char* name) { return strncmp(name, "_Znw", 4) == 0 || strncmp(name, "_Zna", 4) == 0; }

struct Images {
    const char* allocator; // its file
    bool need_operator_new;
};

int look_for_operator_new(dl_phdr_info* image, size_t, void* argument) {
    Images* const images = static_cast<Images*>(argument);
    if (strcmp(image->dlpi_name, images->allocator) == 0)
        return 0;
    // The C++ library uses it on behalf of those who import it; allocators may load that library for themselves.
    if (strncmp(base_name(image->dlpi_name), "libstdc++.so", 12) == 0 ||
        strncmp(base_name(image->dlpi_name), "libc++", 6) == 0)
        return 0;
    images->need_operator_new = imports_symbol(*image, is_operator_new);
    return images->need_operator_new;
}

// The library of the program's allocator if it defines operator new itself (tcmalloc, jemalloc, mimalloc do) and
// anything that is loaded uses it: what that allocates never passes through malloc. Null otherwise.
const char* allocator_with_used_operator_new() {
    const link_map* const allocator = loaded_object(dlsym(RTLD_NEXT, "malloc"));
    if (!allocator || loaded_object(dlsym(RTLD_DEFAULT, "_Znwm")) != allocator)
        return nullptr;
    Images images{allocator->l_name, false};
    dl_iterate_phdr(look_for_operator_new, &images);
    return images.need_operator_new ? allocator->l_name : nullptr;
}

Text<512> other_operator_new; // the library that has it; empty: none

HeapMode asked_mode() {
    const char* text = settings.text(Setting::kHeapMode);
    if (!text || strcmp(text, "sample") == 0)
        return HeapMode::sample;
    return strcmp(text, "full") == 0 ? HeapMode::full : HeapMode::off;
}

bool start(bool forked) {
    const HeapMode mode = asked_mode();
    if (mode == HeapMode::off)
        return false;
    const Guard guard;
    if (!guard)
        return false;
    if (!forked) {
        start_unwinding();
        if (!malloc_is_hooked()) {
            write_evidence(guard, "heap", trace::EvidenceState::missing,
                           "the program has its own malloc, which takes precedence over a preloaded one",
                           "link the program with the C library's malloc, or with its allocator as a shared library");
            return false;
        }
    }
    start_heap_events(mode, settings.number(Setting::kHeapSampleBytes, 0));
    learn_stack(guard);
    if (ThreadHeap* heap = thread_heap(guard))
        heap->set_stack(guard.thread().stack);
    // A forked child asks nothing of the loader: another thread of its parent may have held the loader's lock.
    if (!forked)
        if (const char* library = allocator_with_used_operator_new())
            other_operator_new << library;
    if (const char* library = other_operator_new.c_str(); *library) {
        Text<512> why;
        why << "calls of malloc are recorded, but C++ allocations are not: " << library
            << " has an operator new of its own";
        write_evidence(guard, "heap", trace::EvidenceState::limited, why.c_str(),
                       "run without that allocator to record all allocations");
        return true;
    }
    write_evidence(guard, "heap", trace::EvidenceState::ok,
                   mode == HeapMode::full ? "every allocation is attributed to its call path"
                                          : "totals are exact; call paths are sampled by bytes",
                   mode == HeapMode::full ? "" : "--heap=full attributes every allocation");
    return true;
}

void thread_start(void*) {
    const Guard guard;
    if (!guard)
        return;
    guard.thread().data<ThreadHeap>(ThreadSlot::heap_counting) = nullptr;
    // Whatever a former thread left in this state must not be counted into.
    if (ThreadHeap* heap = guard.thread().data<ThreadHeap>(ThreadSlot::heap))
        heap->begin(guard, now_ns());
    learn_stack(guard);
    if (ThreadHeap* heap = thread_heap(guard))
        heap->set_stack(guard.thread().stack);
}

void thread_end() {
    const Guard guard;
    if (!guard)
        return;
    guard.thread().data<ThreadHeap>(ThreadSlot::heap_counting) = nullptr;
    if (ThreadHeap* heap = guard.thread().data<ThreadHeap>(ThreadSlot::heap))
        heap->flush_live();
}

void process_end() {
    const Guard guard;
    if (!guard)
        return;
    const uint64_t nodes = call_path_nodes_refused(), sites = heap_sites_refused(), large = large_blocks_refused(),
                   live = live_blocks_refused();
    if (nodes == 0 && sites == 0 && large == 0 && live == 0)
        return;
    Text<512> why;
    why << "totals are exact, but there was no room for " << nodes << " call-path nodes, " << sites << " sites, "
        << large << " large blocks and the lifetimes of " << live << " others";
    write_evidence(guard, "heap-details", trace::EvidenceState::limited, why.c_str(),
                   "a larger PLUMB_FILE_LIMIT keeps more");
}

// All else that is kept of a thread is fit for use at every instruction.
void repair_thread(ThreadState& thread) {
    if (CallPathCache* const paths = thread.data<CallPathCache>(ThreadSlot::call_path))
        paths->forget();
}

} // namespace

constinit const Collector heap_collector = {"heap",     false,       start,        thread_start,
                                            thread_end, process_end, repair_thread};

} // namespace plumb::shim
