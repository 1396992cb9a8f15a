// The tool's end of the public interface (include/plumb/plumb.h): exported functions that the static library looks
// up by name. No function of this kind exists in the C library, so there is no real one to call.
#include "hooks/hooks.h"
#include "record/process/process.h"
#include "record/process/region.h"

#include <errno.h>

extern "C" {

int hook_plumb_tool_is_recording(void) { return plumb::shim::recording() ? 1 : 0; }

void hook_plumb_tool_region(const char* name, int begins) {
    const int error_of_program = errno;
    if (name)
        plumb::shim::record_region(name, begins != 0);
    errno = error_of_program;
}
}
