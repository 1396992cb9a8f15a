// usage: align_forks N. N unaligned loads in the parent, then 2 N in a forked child, then N again in the parent.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static _Alignas(64) char area[64];

__attribute__((noinline, noclone)) int32_t load_4(const volatile int32_t* at) { return *at; }

static void loads(long n) {
    for (long i = 0; i < n; ++i)
        load_4((int32_t*)(area + 1));
}

int main(int count, char** arguments) {
    const long n = count > 1 ? atol(arguments[1]) : 10;
    loads(n);
    const pid_t child = fork();
    if (child == 0) {
        loads(2 * n);
        return 7;
    }
    int status = 0;
    waitpid(child, &status, 0);
    loads(n);
    printf("child ended with %d\n", WEXITSTATUS(status));
    return 0;
}
