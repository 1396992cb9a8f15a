// libplumb-strings.so: preloaded beside the shim when every unaligned access is counted (exact mode). The C library's own
// unaligned accesses do not count, but each of them would trap; here the calling thread's alignment flag is clear for
// the time of the call. A thread that is not armed pays for reading its flags.
#include "strings/string_wrappers.h"

#include "platform/code/alignment_flag.h"

#include <dlfcn.h>

using plumb::shim::AlignmentTrapOff;

namespace {

// Filled function by function, at the first call or by the constructor: the loader calls some before that. A lookup
// that succeeds neither allocates nor calls any of these. Two threads that look up the same find the same.
struct {
#define PLUMB_X(result, name, parameters, arguments) result(*name) parameters;
    PLUMB_STRING_FUNCTIONS(PLUMB_X)
#undef PLUMB_X
} real;

template <class Function> [[gnu::noinline, gnu::cold]] Function find(Function& place, const char* name) {
    const auto found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
    __atomic_store_n(&place, found, __ATOMIC_RELAXED);
    return found;
}

template <class Function> Function function(Function& place, const char* name) {
    const Function found = __atomic_load_n(&place, __ATOMIC_RELAXED);
    return __builtin_expect(found != nullptr, 1) ? found : find(place, name);
}

// With the flag clear: the loader's own accesses would trap in the middle of the first call.
__attribute__((constructor)) void find_all() {
    const AlignmentTrapOff off;
#define PLUMB_X(result, name, parameters, arguments) function(real.name, #name);
    PLUMB_STRING_FUNCTIONS(PLUMB_X)
#undef PLUMB_X
}

} // namespace

extern "C" {
#define PLUMB_X(result, name, parameters, arguments)                                                         \
    result wrap_##name parameters {                                                                          \
        const AlignmentTrapOff off;                                                                          \
        return function(real.name, #name) arguments;                                                         \
    }
PLUMB_STRING_FUNCTIONS(PLUMB_X)
#undef PLUMB_X
}
