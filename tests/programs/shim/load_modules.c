// Loads libraries in every way whose outcome depends on who calls dlopen, and unloads them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const int here = 0;

static void try_open(const char* what, const char* name, int mode) {
    void* handle = dlopen(name, mode);
    printf("%s: %s\n", what, handle ? "opened" : "refused");
    if (!handle) {
        printf("  %s\n", dlerror());
        return;
    }
    const int* answer = dlsym(handle, "plugin_answer");
    if (answer)
        printf("  answers %d\n", *answer);
    printf("  closed: %d\n", dlclose(handle));
}

int main(void) {
    char beside[4096];
    Dl_info info;
    printf("refused when not loaded: %d\n", dlopen("libplumb_test_plugin.so", RTLD_NOW | RTLD_NOLOAD) == NULL);
    try_open("along RUNPATH", "libplumb_test_plugin.so", RTLD_NOW); // found only with this program as the caller
    try_open("by $ORIGIN", "$ORIGIN/plugins/libplumb_test_plugin.so", RTLD_NOW);
    dladdr(&here, &info);
    const char* slash = strrchr(info.dli_fname, '/');
    snprintf(beside, sizeof beside, "%.*s/plugins/libplumb_test_plugin.so", (int)(slash - info.dli_fname),
             info.dli_fname);
    try_open("by path", beside, RTLD_LAZY);
    try_open("missing", "/nonexistent/library.so", RTLD_NOW);
    try_open("the program", NULL, RTLD_NOW);
    void* own_space = dlmopen(LM_ID_NEWLM, beside, RTLD_NOW);
    printf("own namespace: %d\n", own_space != NULL);
    if (own_space)
        dlclose(own_space);
    return 0;
}
