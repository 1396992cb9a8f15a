// Code that is written, run, written over and run again at the same address, and a library that is loaded and closed
// many times, all with unaligned accesses in them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
    unsigned char* code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static char bytes[64];
    uint64_t sum = 0;
    for (int version = 0; version < 40; ++version) {
        // mov DISP(%rdi), %eax; add $VERSION, %eax; mov %eax, DISP(%rdi); ret; later without the first
        unsigned char text[] = {0x8b, 0x47, (unsigned char)(1 + version % 6), 0x83, 0xc0, (unsigned char)version,
                                0x89, 0x47, (unsigned char)(1 + version % 6), 0xc3};
        unsigned char longer[] = {0x48, 0x8b, 0x47, 3, 0x48, 0xff, 0xc0, 0x48, 0x89, 0x47, 3, 0xc3};
        if (version % 3 == 2)
            memcpy(code, longer, sizeof longer);
        else
            memcpy(code, text, sizeof text);
        uint32_t (*run)(char*);
        memcpy(&run, &code, sizeof run);
        for (int i = 0; i < 100; ++i)
            sum = sum * 7 + run(bytes);
    }
    char path[PATH_MAX + 64];
    const long length = readlink("/proc/self/exe", path, PATH_MAX);
    path[length > 0 ? length : 0] = '\0';
    dirname(path);
    strcat(path, "/libunaligned_plugin.so");
    for (int round = 0; round < 30; ++round) {
        void* plugin = dlopen(path, RTLD_LAZY);
        if (!plugin)
            return 1;
        uint64_t (*run)(char*, int);
        *(void**)&run = dlsym(plugin, "run_unaligned");
        sum = sum * 5 + run(bytes, 50);
        dlclose(plugin);
    }
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}
