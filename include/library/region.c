/* Hands over to the tool if it is in the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <plumb/plumb.h>
#include <stddef.h>

/* Weak: a fully static program has no dlsym, and no tool inside. */
#pragma weak dlsym

typedef void record_region(const char *name, int begins);
typedef int is_recording(void);

static record_region *tool_region;
static is_recording *tool_is_recording;

__attribute__((constructor)) static void find_tool(void) {
    void *(*volatile look_up)(void *, const char *) = dlsym;
    if (!look_up)
        return;
    *(void **)&tool_region = look_up(RTLD_DEFAULT, "plumb_tool_region");
    *(void **)&tool_is_recording = look_up(RTLD_DEFAULT, "plumb_tool_is_recording");
}

int plumb_is_recording(void) { return tool_is_recording ? tool_is_recording() : 0; }

void plumb_region_begin(const char *name) {
    if (tool_region && name)
        tool_region(name, 1);
}

void plumb_region_end(const char *name) {
    if (tool_region && name)
        tool_region(name, 0);
}
