// Opens modules with OpenMP regions privately: their runtime is in no scope but their own. Closes them and opens them again.
//
//     opens_team PLUGIN...
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
    for (int round = 0; round < 2; round++)
        for (int i = 1; i < count; i++) {
            void* const plugin = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
            long (*const sum)(long) = plugin ? (long (*)(long))dlsym(plugin, "team_sum") : NULL;
            if (!sum) {
                fprintf(stderr, "%s\n", dlerror());
                return 1;
            }
            printf("%ld\n", sum(100));
        }
    return 0;
}
