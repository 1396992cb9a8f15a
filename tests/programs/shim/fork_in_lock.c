// Forks while another thread holds the loader's lock (inside dl_iterate_phdr): the child needs nothing of it and must end.
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int held[2], go_on[2];

static int hold(struct dl_phdr_info* info, size_t size, void* unused) {
    char byte = 0;
    (void)info, (void)size, (void)unused;
    return write(held[1], &byte, 1) != 1 || read(go_on[0], &byte, 1) != 1 || 1;
}

static void* holder(void* unused) {
    dl_iterate_phdr(hold, unused);
    return unused;
}

static void expect(const char* how, pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s: %d\n", how, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

int main(void) {
    pthread_t thread;
    char byte;
    if (pipe(held) || pipe(go_on) || pthread_create(&thread, NULL, holder, NULL) || read(held[0], &byte, 1) != 1)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        free(malloc(100));
        _exit(10);
    }
    expect("fork", child);
    child = _Fork();
    if (child == 0) {
        alarm(20);
        _exit(11);
    }
    expect("_Fork", child);
    if (write(go_on[1], &byte, 1) != 1)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
