// Loading and unloading of modules.
//
// dlopen looks at its return address: a library without a slash is searched along the RUNPATH of the module that
// calls, $ORIGIN is that module's folder, and the caller's namespace is the one loaded into. A wrapper that calls
// dlopen makes itself the caller and breaks all three. So the hook jumps to dlopen instead of calling it, and what
// was loaded is recorded at the next hook of this process that may scan: another dlopen, a dlclose, the creation of
// a thread, a fork, an exec, the end. Only a plain path with a slash does not depend on the caller (this library lives in
// the base namespace, as does everybody who can reach its hooks): that is called, and recorded at once.
#include "hooks/mpi/absent_functions.h"
#include "hooks/openmp/runtime_functions.h"
#include "hooks/real_functions.h"
#include "platform/code/tail_hook.h"
#include "platform/unwind/unwind_table.h"
#include "record/modules.h"
#include "record/process/process.h"
#include "record/process/trace_writer.h"

#include <errno.h>
#include <string.h>

using namespace plumb::shim;

namespace {

void scan_if_due() {
    const int error_of_program = errno;
    const Guard guard;
    if (guard)
        scan_modules_if_due(guard);
    errno = error_of_program;
}

void* open_and_scan(const char* file, int mode) {
    void* handle = real_functions()->dlopen(file, mode);
    mpi::hide_absent_functions_if_due();
    modules_will_change();
    scan_if_due();
    return handle;
}

bool depends_on_caller(const char* file) { return !strchr(file, '/') || strchr(file, '$'); }

} // namespace

extern "C" {

__attribute__((used)) void* plumb_before_dlopen(const char* file, int) {
    mpi::hide_absent_functions_if_due();
    void* (*target)(const char*, int) = real_functions()->dlopen;
    if (recording() && file) {
        scan_if_due();
        if (depends_on_caller(file))
            modules_will_change();
        else
            target = open_and_scan;
    } else if (file && !depends_on_caller(file) && !mpi::absent_functions_are_hidden()) {
        target = open_and_scan;
    }
    return reinterpret_cast<void*>(target);
}

__attribute__((used)) void* plumb_before_dlmopen(Lmid_t, const char*, int) {
    if (recording()) {
        scan_if_due();
        modules_will_change();
    }
    return reinterpret_cast<void*>(real_functions()->dlmopen);
}

int hook_dlclose(void* handle) {
    const bool watched = recording();
    if (watched)
        scan_if_due(); // what is closed must be known
    const uint64_t unloaded = watched ? modules_unloaded() : 0;
    const int result = real_functions()->dlclose(handle);
    openmp::forget_callers();
    if (watched && modules_unloaded() != unloaded) { // mostly it was one user less
        modules_will_change();
        forget_unwind_rules(); // other code may come to lie at the same addresses
        scan_if_due();
    }
    return result;
}
}

PLUMB_TAIL_HOOK(dlopen, plumb_before_dlopen);
PLUMB_TAIL_HOOK(dlmopen, plumb_before_dlmopen);
