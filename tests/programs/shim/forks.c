// Forks of a threaded program in every way; each child makes threads and allocations and ends by itself.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;

static void* churn(void* argument) {
    while (!stop)
        free(malloc(1000));
    return argument;
}

static void* worker(void* argument) {
    free(malloc(50));
    return argument;
}

static int child_work(int status) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 99;
    return status;
}

static void expect(const char* what, pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s: %s %d\n", what, WIFEXITED(status) ? "exit" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    fflush(stdout);
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i)
        pthread_create(&threads[i], NULL, churn, NULL);
    for (int i = 0; i < 20; ++i) {
        pid_t child = fork();
        if (child == 0)
            exit(child_work(10));
        expect("fork", child);
    }
    stop = 1; // a child of a raw fork may not use malloc while other threads do
    for (int i = 0; i < 3; ++i)
        pthread_join(threads[i], NULL);
    pid_t child = _Fork();
    if (child == 0)
        exit(child_work(11));
    expect("_Fork", child);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(child_work(12));
    expect("raw clone", child);
    child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(child_work(13));
        expect("grandchild", grandchild);
        exit(14);
    }
    expect("nested fork", child);
    free(malloc(10));
    return 0;
}
