// run_kernels CPU_MILLISECONDS NAME..: runs each of these kernels for so much CPU time and prints, for each, its name and how many
// nanoseconds one run took. A name of a file's list (c, cpp, fortran) stands for all of its kernels.
#define _GNU_SOURCE
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct kernel kernels_cpp[] __attribute__((weak)) = {{NULL, NULL}};
const struct kernel kernels_fortran[] __attribute__((weak)) = {{NULL, NULL}};

static double cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void run(const struct kernel* kernel, double ns) {
    const double begin = cpu_ns();
    unsigned long runs = 0;
    double now = begin;
    for (unsigned long together = 1; now - begin < ns; now = cpu_ns()) {
        for (unsigned long i = 0; i < together; ++i)
            kernel->run(&all_arrays);
        runs += together;
        if (cpu_ns() - now < 1e5)
            together *= 2;
    }
    printf("%s %.1f\n", kernel->name, (now - begin) / (double)runs);
}

int main(int count, char** words) {
    const struct {
        const char* name;
        const struct kernel* kernels;
    } lists[] = {{"c", kernels_c}, {"cpp", kernels_cpp}, {"fortran", kernels_fortran}};
    if (count < 3) {
        fprintf(stderr, "usage: run_kernels CPU_MILLISECONDS NAME..\n");
        return 2;
    }
    make_arrays();
    const double ns = atof(words[1]) * 1e6;
    for (int i = 2; i < count; ++i) {
        int found = 0;
        for (size_t list = 0; list < sizeof lists / sizeof *lists; ++list)
            for (const struct kernel* each = lists[list].kernels; each->name; ++each)
                if (strcmp(words[i], each->name) == 0 || strcmp(words[i], lists[list].name) == 0) {
                    run(each, ns);
                    found = 1;
                }
        if (!found) {
            fprintf(stderr, "run_kernels: no kernel %s\n", words[i]);
            return 2;
        }
    }
    return 0;
}
